package bench

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hotcount/hotcount/stripe"
)

// name is what workloads, implementations and key choices are called: what
// benchstat, CSV and file names need no quotes for.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// maxText bounds the free text of a report, in bytes.
const maxText = 4096

// validate returns an error that wraps ErrFormat if no run can give this
// report. What it lets through can be printed on a terminal as it is.
func (r *Report) validate() error {
	m := r.Machine
	for field, text := range map[string]string{
		"machine.cpu": m.CPU, "machine.go": m.Go, "machine.os": m.OS, "machine.arch": m.Arch,
		"command": r.Command, "commit": r.Commit,
	} {
		if len(text) > maxText || !printable(text) {
			return invalid(field, "is too long or not printable")
		}
	}
	switch {
	case m.Cores < 1 || m.Procs < 1:
		return invalid("machine", "has less than one processor")
	case r.Samples < 1:
		return invalid("samples", "is %d", r.Samples)
	}
	for _, share := range []float64{r.Noise.Disturbed, r.Noise.Busy, r.Noise.Steal} {
		if !finite(share) {
			return invalid("noise", "is no number")
		}
	}
	for i := range r.Results {
		if err := r.Results[i].validate(); err != nil {
			return fmt.Errorf("%w in results[%d]", err, i)
		}
	}
	return nil
}

func (r *Result) validate() error {
	for field, s := range map[string]string{"workload": r.Workload, "impl": r.Impl, "keys": r.Keys} {
		if !name.MatchString(s) {
			return invalid(field, "%.70q is not a name", s)
		}
	}
	switch {
	case r.Pick != "" && !slices.Contains(pickNames, r.Pick):
		return invalid("pick", "%.40q is unknown", r.Pick)
	case r.Stripes < 0 || r.Stripes > stripe.MaxStripes:
		return invalid("stripes", "is %d", r.Stripes)
	case len(r.StripeShares) > stripe.MaxStripes:
		return invalid("stripe_shares", "is too long")
	case r.Goroutines < 1:
		return invalid("goroutines", "is %d", r.Goroutines)
	case r.ReadPercent < 0 || r.ReadPercent > 100:
		return invalid("read_percent", "is %d", r.ReadPercent)
	case len(r.OpsPerSecond) == 0:
		return invalid("ops_per_second", "is empty")
	case r.Disturbed < 0 || r.Disturbed > len(r.OpsPerSecond):
		return invalid("disturbed", "is %d of %d", r.Disturbed, len(r.OpsPerSecond))
	case !notNegative(r.BytesPerCounter):
		return invalid("bytes_per_counter", "is %v", r.BytesPerCounter)
	}
	for _, v := range r.OpsPerSecond {
		if !finite(v) || v <= 0 {
			return invalid("ops_per_second", "has a %v", v)
		}
	}
	for _, v := range r.StripeShares {
		if !notNegative(v) || v > 1 {
			return invalid("stripe_shares", "has a %v", v)
		}
	}
	return r.Latency.validate()
}

func (p *Percentiles) validate() error {
	if p == nil {
		return nil
	}
	if p.Samples < 1 || !notNegative(p.Clock) {
		return invalid("latency", "has %d samples, and a clock of %v ns", p.Samples, p.Clock)
	}
	last := 0.0
	for _, v := range []float64{p.P50, p.P90, p.P99, p.P999, p.Max} {
		if !finite(v) || v < last {
			return invalid("latency", "has percentiles that are out of order")
		}
		last = v
	}
	return nil
}

// pickNames are the names of the picks of package stripe.
var pickNames = []string{stripe.Auto.String(), stripe.PerP.String(), stripe.PerGoroutine.String(), stripe.Random.String()}

func invalid(field, reason string, args ...any) error {
	return fmt.Errorf("%w: %s "+reason, append([]any{ErrFormat, field}, args...)...)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func notNegative(v float64) bool { return finite(v) && v >= 0 }

func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
