// Package size says how a count should be laid out: how many stripes, how much
// memory, what a read costs, and when to decide otherwise.
package size

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hotcount/hotcount/window"
)

// ErrAsk is wrapped by every error about an Ask or about Costs.
var ErrAsk = errors.New("cannot size that")

// The kinds of counts.
const (
	Total   = "total"
	Uniques = "uniques"
	Windows = "windows"
)

// An Ask is what is to be counted and read.
type Ask struct {
	Kind string `json:"kind"`
	// Peak is the adds per second to the busiest series.
	Peak float64 `json:"peak_adds_per_second"`
	// Reads is how often per second somebody reads that series, and Fresh how
	// old the answer may be.
	Reads float64       `json:"reads_per_second"`
	Fresh time.Duration `json:"fresh_ns"`
	// Error is by what share an answer may be wrong; 0 is exact.
	Error float64 `json:"error"`
	// Series is how many series there are.
	Series int64 `json:"series"`
	// Window is how far back a window reaches.
	Window time.Duration `json:"window_ns,omitempty"`
}

const (
	// maxSeries and maxReads are far beyond any process.
	maxSeries = 1_000_000_000
	maxReads  = 1e12
	// leastLine is far less than any processor takes to read a word, in
	// nanoseconds.
	leastLine = 0.01
	// maxLine is far more, in nanoseconds, and maxProcessors more than any machine
	// has that Go runs on.
	maxLine       = 1e6
	maxProcessors = 4096
	// maxLineBytes is the longest cache line of any machine that Go runs on.
	maxLineBytes = 256
)

// Check returns an error that wraps ErrAsk if there is no such count.
func (a Ask) Check() error {
	switch {
	case a.Kind != Total && a.Kind != Uniques && a.Kind != Windows:
		return fmt.Errorf("%w: the kind %q is not total, uniques or windows", ErrAsk, a.Kind)
	case !positive(a.Peak):
		return fmt.Errorf("%w: a peak of %v adds per second", ErrAsk, a.Peak)
	case !(a.Reads >= 0 && a.Reads <= maxReads):
		return fmt.Errorf("%w: %v reads per second", ErrAsk, a.Reads)
	case a.Fresh < 0:
		return fmt.Errorf("%w: answers %v old", ErrAsk, a.Fresh)
	case !(a.Error >= 0 && a.Error < 1):
		return fmt.Errorf("%w: an error of %v is not in 0 to below 1", ErrAsk, a.Error)
	case a.Series < 1 || a.Series > maxSeries:
		return fmt.Errorf("%w: %d series, not 1 to %d", ErrAsk, a.Series, maxSeries)
	case a.Kind == Windows && a.Window < window.MinResolution:
		return fmt.Errorf("%w: a window of %v, not %v or more", ErrAsk, a.Window, window.MinResolution)
	}
	return nil
}

// Costs are what a machine takes for the parts of a count. [Measure] measures
// them.
type Costs struct {
	// Ceiling is how many adds per second one stripe takes.
	Ceiling float64 `json:"ceiling_adds_per_second"`
	// Line is how many nanoseconds a read takes for each line that others
	// write to.
	Line float64 `json:"read_ns_per_line"`
	// Processors is what GOMAXPROCS will be.
	Processors int `json:"processors"`
	// LineBytes is how much memory a stripe takes.
	LineBytes int `json:"line_bytes"`
}

func (c Costs) check() error {
	switch {
	case !positive(c.Ceiling):
		return fmt.Errorf("%w: a ceiling of %v adds per second", ErrAsk, c.Ceiling)
	case !(c.Line >= leastLine && c.Line <= maxLine):
		return fmt.Errorf("%w: %v ns to read a line", ErrAsk, c.Line)
	case c.Processors < 1 || c.Processors > maxProcessors:
		return fmt.Errorf("%w: %d processors, not 1 to %d", ErrAsk, c.Processors, maxProcessors)
	case c.LineBytes < 1 || c.LineBytes > maxLineBytes:
		return fmt.Errorf("%w: lines of %d bytes", ErrAsk, c.LineBytes)
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
