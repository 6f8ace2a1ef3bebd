package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Report is what one run of the benchmark found, and where. WriteJSON keeps
// it and Decode reads it back; WriteBench is for benchstat, WriteCSV for
// spreadsheets.
type Report struct {
	Machine Machine   `json:"machine"`
	Command string    `json:"command"`          // that was run
	Commit  string    `json:"commit,omitempty"` // of the source, with "+" if it was changed since
	Date    time.Time `json:"date"`             // when the run began
	Samples int       `json:"samples"`          // rounds that were asked for
	Noise   Noise     `json:"noise"`
	Results []Result  `json:"results"` // in the order of the plan
}

// A Machine is what a run had to run on.
type Machine struct {
	CPU   string `json:"cpu"`   // as the system calls the model
	Cores int    `json:"cores"` // logical processors that the process may use
	Procs int    `json:"procs"` // GOMAXPROCS during the run
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
}

// Noise says how much the machine was doing besides. Shares that could not be
// measured on this system are negative.
type Noise struct {
	// Disturbed is the share of all rounds in which the process got less than
	// 95 % of the processor time that its goroutines could have used.
	Disturbed float64 `json:"disturbed"`
	// Busy is the processor time that the process got in all rounds, divided
	// by what its goroutines could have used.
	Busy float64 `json:"busy"`
	// Steal is the share of the machine's time that a hypervisor gave to
	// others.
	Steal float64 `json:"steal"`
}

// A Result is what one case measured: one implementation doing one kind of work
// in one way.
type Result struct {
	Workload string `json:"workload"` // "add", "lookup", …; see Workloads
	Impl     string `json:"impl"`

	// Stripes and Pick are the layout of the counter, 0 and "" where the
	// implementation chooses for itself.
	Stripes int    `json:"stripes,omitempty"`
	Pick    string `json:"pick,omitempty"`

	Goroutines  int    `json:"goroutines"`
	ReadPercent int    `json:"read_percent"` // of the operations; the others are adds
	Keys        string `json:"keys"`         // "one", "zipf" or "uniform"; see Keys

	// OpsPerSecond has an entry for each round: operations of all goroutines
	// together.
	OpsPerSecond []float64 `json:"ops_per_second"`
	// Disturbed is how many of them are of a disturbed round. Undisturbed
	// rounds take precedence; it is 0 if there were enough.
	Disturbed int `json:"disturbed,omitempty"`

	Latency *Percentiles `json:"latency,omitempty"` // nil if it was not measured

	// BytesPerCounter is what a counter takes in memory after the work, its
	// stripes included, and 0 if it was not measured.
	BytesPerCounter float64 `json:"bytes_per_counter,omitempty"`

	// StripeShares is the part of the adds that each stripe took in the last
	// round. It is empty where there are no stripes to look at.
	StripeShares []float64 `json:"stripe_shares,omitempty"`
}

// Percentiles are how long single operations took, in nanoseconds, while all
// goroutines worked at full speed: one in many is timed, in a pass of its own.
type Percentiles struct {
	Samples int `json:"samples"`
	// Clock is what reading the clock twice costs. It has been subtracted.
	Clock float64 `json:"clock_ns"`
	P50   float64 `json:"p50_ns"`
	P90   float64 `json:"p90_ns"`
	P99   float64 `json:"p99_ns"`
	P999  float64 `json:"p999_ns"`
	Max   float64 `json:"max_ns"`
}

// Name returns the case as key=value parts with slashes between them, which is
// how benchstat wants it:
//
//	add/impl=hotcount/stripes=8/pick=PerP/goroutines=2/reads=0/keys=one
func (r *Result) Name() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/impl=%s", r.Workload, r.Impl)
	if r.Stripes > 0 {
		b.WriteString("/stripes=" + strconv.Itoa(r.Stripes))
	}
	if r.Pick != "" {
		b.WriteString("/pick=" + r.Pick)
	}
	fmt.Fprintf(&b, "/goroutines=%d/reads=%d/keys=%s", r.Goroutines, r.ReadPercent, r.Keys)
	return b.String()
}

// Speed summarizes OpsPerSecond.
func (r *Result) Speed() Summary { return Summarize(r.OpsPerSecond) }

// Cost summarizes the nanoseconds of wall time for each operation of all
// goroutines together, as "go test -bench" states those of RunParallel. Its Low
// is the cost at the high quartile of the speed.
func (r *Result) Cost() Summary {
	s := r.Speed()
	return Summary{Median: nanoseconds(s.Median), Low: nanoseconds(s.High), High: nanoseconds(s.Low)}
}

func nanoseconds(perSecond float64) float64 {
	if perSecond == 0 {
		return 0
	}
	return float64(time.Second) / perSecond
}

// Skew is the largest of StripeShares divided by their mean: 1 when all stripes
// took the same, their number when one took all. It is 0 without stripes.
func (r *Result) Skew() float64 {
	var sum, top float64
	for _, share := range r.StripeShares {
		sum += share
		top = max(top, share)
	}
	if sum == 0 {
		return 0
	}
	return top / (sum / float64(len(r.StripeShares)))
}

// Caveats says in sentences what the figures of the report do not show.
func (r *Report) Caveats() []string {
	m, n := r.Machine, r.Noise
	out := []string{fmt.Sprintf("This machine has %s: nothing here says what more of them would do.", count(m.Cores, "core"))}
	if m.Procs != m.Cores {
		out = append(out, fmt.Sprintf("GOMAXPROCS was %d, not %d.", m.Procs, m.Cores))
	}
	switch {
	case n.Disturbed < 0:
		out = append(out, "Whether the machine did other work meanwhile could not be measured.")
	case n.Disturbed > 0:
		out = append(out, fmt.Sprintf("The machine did other work, too: %.0f %% of all rounds were disturbed, and count only where there were too few others.", 100*n.Disturbed))
	}
	if n.Busy > 0 && n.Busy < 0.75 {
		out = append(out, fmt.Sprintf("The process got %.0f %% of the processor time that its goroutines could have used: they took turns more than they worked at once, so contention shows less than it is.", 100*n.Busy))
	}
	if n.Steal > 0 {
		out = append(out, fmt.Sprintf("The hypervisor gave %.1f %% of the machine's time to others.", 100*n.Steal))
	}
	for i := range r.Results {
		if got := len(r.Results[i].OpsPerSecond); got < r.Samples {
			return append(out, fmt.Sprintf("Some results have fewer than %s.", count(r.Samples, "sample")))
		}
	}
	return out
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
