package size

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

const (
	// seriesBytes is one of a million labelled counters of an engine, of two
	// labels, all told (bench/peers, BenchmarkCreate).
	seriesBytes = 105
	// knotBytes is a bucket of a window over a busy counter (package window).
	knotBytes = 16
	// cheap is the share of a processor that reads may take before a cached
	// total is worth its age.
	cheap = 0.01
)

// A Plan is how to count what was asked for, with numbers.
type Plan struct {
	Ask   Ask   `json:"ask"`
	Costs Costs `json:"costs"`

	// Stripes is N, as few as take the peak.
	Stripes int `json:"stripes"`
	// OneAtomic says that N is 1: no stripes are needed.
	OneAtomic bool `json:"one_atomic_is_enough"`
	// Load is the share of N stripes' ceiling that the peak takes.
	Load float64 `json:"load"`
	// Made is how many stripes a hotcount counter has once it is hot: one for
	// each processor. It is 0 if the counter stays cold.
	Made int `json:"stripes_made"`

	Memory    Memory     `json:"memory"`
	Read      Read       `json:"read"`
	Sketch    *Sketch    `json:"sketch,omitempty"`
	Buckets   *Buckets   `json:"buckets,omitempty"`
	Decisions []Decision `json:"decisions"`
}

// Memory is in bytes.
type Memory struct {
	Series float64 `json:"per_series"` // while cold, or of a sketch
	Hot    float64 `json:"per_hot_series_more"`
	All    float64 `json:"all"`        // with the busiest series hot
	AllHot float64 `json:"all_if_hot"` // with every series hot
}

// Read is what reading the busiest series costs.
type Read struct {
	Lines int     `json:"lines"`
	Nanos float64 `json:"ns"`
	// Share is what all reads take of one processor if each adds up the lines.
	Share float64 `json:"processor_share"`
	// Cached says that a stripe.Total is worth it, and CachedShare what then
	// is left.
	Cached      bool    `json:"cached"`
	CachedShare float64 `json:"cached_processor_share"`
}

// A Sketch is how distinct elements are counted.
type Sketch struct {
	Precision int     `json:"precision"`
	Error     float64 `json:"standard_error"`
}

// Buckets are those of a window.
type Buckets struct {
	Resolution time.Duration `json:"resolution_ns"`
	Number     int           `json:"number"`
	// Sweep is what the ticks take of one processor.
	Sweep float64 `json:"sweep_processor_share"`
}

// A Decision is a row of the table.
type Decision struct {
	Decision string `json:"decision"`
	Solves   string `json:"solves"`
	Worsens  string `json:"worsens"`
	Change   string `json:"change_when"`
}

// New returns the plan for a on a machine of costs c. The error wraps ErrAsk, or
// stripe.ErrRate if no number of stripes is enough.
func New(a Ask, c Costs) (*Plan, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Plan{Ask: a, Costs: c}
	var err error
	switch a.Kind {
	case Uniques:
		err = p.uniques()
	case Windows:
		if err = p.total(); err == nil {
			err = p.windows()
		}
	default:
		err = p.total()
	}
	if err != nil {
		return nil, err
	}
	p.decide()
	return p, nil
}

// total lays out a counter.
func (p *Plan) total() error {
	n, err := stripe.Recommend(p.Ask.Peak, p.Costs.Ceiling)
	if err != nil {
		return err
	}
	p.Stripes, p.OneAtomic = n, n == 1
	p.Load = p.Ask.Peak / p.Costs.Ceiling / float64(n)
	stripes := p.perProcessor()
	if !p.OneAtomic {
		p.Made = stripes
	}
	// A hot counter has a line that says where its stripes are, and they.
	hot := float64(p.Costs.LineBytes) * float64(1+stripes)
	p.remember(seriesBytes, hot)
	p.Read = p.read(1+p.Made, p.Costs.Line)
	return nil
}

// perProcessor is how many stripes a counter makes when it goes hot.
func (p *Plan) perProcessor() int { return 1 << bits.Len(uint(p.Costs.Processors-1)) }

// enough says whether there are processors for the stripes that the peak needs.
func (p *Plan) enough() bool { return p.Stripes <= p.perProcessor() }

// remember fills in the memory of series that take each bytes and more if hot.
func (p *Plan) remember(each, more float64) {
	series := float64(p.Ask.Series)
	p.Memory = Memory{Series: each, Hot: more, All: series * each, AllHot: series * (each + more)}
	if !p.OneAtomic {
		p.Memory.All += more
	}
}

// read returns what reads of so many lines cost.
func (p *Plan) read(lines int, perLine float64) Read {
	r := Read{Lines: lines, Nanos: float64(lines) * perLine}
	r.Share = p.Ask.Reads * r.Nanos / 1e9
	r.CachedShare = r.Share
	if p.Ask.Fresh > 0 {
		refreshes := min(p.Ask.Reads, 1/p.Ask.Fresh.Seconds())
		r.CachedShare = refreshes * r.Nanos / 1e9
		r.Cached = r.Share > cheap && r.CachedShare < r.Share
	}
	return r
}

// uniques chooses a sketch. It needs no stripes: once it is large an add that
// changes nothing, which nearly all do, only loads.
func (p *Plan) uniques() error {
	precision := hll.DefaultPrecision
	if p.Ask.Error > 0 {
		precision = max(hll.MinPrecision, int(math.Ceil(2*math.Log2(sketchError(0)/p.Ask.Error))))
	}
	if precision > hll.MaxPrecision {
		return fmt.Errorf("%w: no sketch errs by less than %s; keep a set of the elements",
			ErrAsk, percent(sketchError(hll.MaxPrecision)))
	}
	p.Stripes, p.OneAtomic = 1, true
	p.Sketch = &Sketch{Precision: precision, Error: sketchError(precision)}
	registers := math.Ldexp(1, precision)
	p.remember(registers, 0)
	lines := int(max(1, registers/float64(p.Costs.LineBytes)))
	p.Read = p.read(lines, p.Costs.Line)
	return nil
}

func sketchError(precision int) float64 { return hll.UltraLogLog.StandardError(precision) }

// windows lays out a ring over each counter.
func (p *Plan) windows() error {
	resolution := window.DefaultResolution
	if p.Ask.Error > 0 {
		resolution = time.Duration(p.Ask.Error * float64(p.Ask.Window))
	}
	resolution = min(max(resolution, window.MinResolution), p.Ask.Window)
	n := (p.Ask.Window + resolution - 1) / resolution
	if n > window.MaxBuckets {
		return fmt.Errorf("%w: %v in steps of %v are %d buckets, more than %d; allow an error",
			ErrAsk, p.Ask.Window, resolution, n, window.MaxBuckets)
	}
	reads := float64(p.Ask.Series) * p.Costs.Line // one line each, and the hot one's
	reads += float64(p.Made) * p.Costs.Line
	p.Buckets = &Buckets{Resolution: resolution, Number: int(n), Sweep: reads / float64(resolution)}
	ring := knotBytes * float64(n+1) // a bucket has two edges
	p.Memory.Series += ring
	p.Memory.All += ring * float64(p.Ask.Series)
	p.Memory.AllHot += ring * float64(p.Ask.Series)
	return nil
}
