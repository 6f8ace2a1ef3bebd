package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrFormat is wrapped by the errors for what is no report, or not a valid one.
var ErrFormat = errors.New("hotcount/bench: not a valid report")

// format names the encoding. It changes when a field changes its meaning or
// goes, or one comes that readers cannot do without.
const format = "hotcount-bench/1"

// maxReport bounds what Decode reads. A full run on 192 cores takes 10 MB.
const maxReport = 64 << 20

// file is a report with the name of the encoding before it.
type file struct {
	Format string `json:"format"`
	*Report
}

// WriteJSON writes the report for Decode. The error wraps ErrFormat if the
// report is one that Decode would refuse.
func (r *Report) WriteJSON(w io.Writer) error {
	if err := r.validate(); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(file{format, r})
}

// Decode reads a report that WriteJSON wrote. It takes nothing else: the error
// wraps ErrFormat if the format is another, a field is unknown or has a value
// that no run can give, or if anything follows.
func Decode(r io.Reader) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("hotcount/bench: read report: %w", err)
	case len(data) > maxReport:
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrFormat, maxReport)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("%w: the format is %.40q, not %q", ErrFormat, head.Format, format)
	}
	var report Report
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&file{Report: &report}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := report.validate(); err != nil {
		return nil, err
	}
	return &report, nil
}
