package size

import (
	"fmt"
	"math"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/stripe"
)

// decide fills the table: what was chosen, and when that stops being right.
func (p *Plan) decide() {
	switch {
	case p.Sketch != nil:
		p.add(p.sketchRow())
	case p.OneAtomic:
		p.add(p.atomicRow())
	default:
		p.add(p.stripesRow())
	}
	if p.Sketch == nil && p.Ask.Error > 0 && p.Buckets == nil {
		p.add(p.localRow())
	}
	if p.Buckets != nil {
		p.add(p.windowRow())
	}
	p.add(p.readRow())
	if p.Ask.Series > 1 {
		p.add(p.seriesRow())
	}
}

func (p *Plan) add(d Decision) { p.Decisions = append(p.Decisions, d) }

func (p *Plan) atomicRow() Decision {
	return Decision{
		"one atomic is enough",
		"one word, exact at any instant, one line to read",
		fmt.Sprintf("every processor writes one line, which takes %s", rate(p.Costs.Ceiling)),
		fmt.Sprintf("the peak goes above %s; it is %s of that now", rate(p.Costs.Ceiling), percent(p.Load)),
	}
}

func (p *Plan) stripesRow() Decision {
	d := Decision{
		fmt.Sprintf("%s stripes, PerP; a hot counter makes %s", count(p.Stripes), count(p.Made)),
		fmt.Sprintf("one atomic takes %s, the peak is %s times that", rate(p.Costs.Ceiling),
			number(p.Ask.Peak/p.Costs.Ceiling)),
		fmt.Sprintf("%s more for a hot series; a sum is no instant", size(p.Memory.Hot)),
		fmt.Sprintf("the peak falls to %s: one atomic", rate(p.Costs.Ceiling)),
	}
	if !p.enough() {
		d.Change = fmt.Sprintf("now: %s processors write no more than %s stripes at once; add in batches or to a Local",
			count(p.Costs.Processors), count(p.perProcessor()))
	}
	return d
}

// localRow uses what an error allows: handles that hold adds back.
func (p *Plan) localRow() Decision {
	limit := math.Floor(p.Ask.Error * p.Ask.Peak / float64(p.Costs.Processors))
	if limit < 2 {
		return Decision{
			"no Local handles",
			"every add is in the next read",
			"each add is a locked instruction",
			fmt.Sprintf("each processor may hold back 2 adds: an error of %s", percent(2*float64(p.Costs.Processors)/p.Ask.Peak)),
		}
	}
	shared := p.Ask.Peak / limit
	needs := "one atomic then takes them"
	if n, err := stripe.Recommend(shared, p.Costs.Ceiling); err != nil || n > 1 {
		needs = fmt.Sprintf("%d stripes then take them", n)
	}
	return Decision{
		fmt.Sprintf("a Local of limit %s for each writing goroutine", number(limit)),
		fmt.Sprintf("shared adds fall to %s; %s", rate(shared), needs),
		fmt.Sprintf("a read misses up to %s of a second's adds; handles must be flushed", percent(p.Ask.Error)),
		fmt.Sprintf("more than %s goroutines write, or a crash may lose none", count(p.Costs.Processors)),
	}
}

func (p *Plan) sketchRow() Decision {
	finer := "no finer sketch is to be had; keep a set"
	if p.Sketch.Precision < hll.MaxPrecision {
		next := p.Sketch.Precision + 1
		finer = fmt.Sprintf("the error must be %s: precision %d, %s a series", percent(sketchError(next)), next, size(2*p.Memory.Series))
	}
	if p.Ask.Error == 0 {
		finer = "answers must be exact: keep a set of the elements; " + finer
	}
	return Decision{
		fmt.Sprintf("one sketch of precision %d, no stripes", p.Sketch.Precision),
		fmt.Sprintf("%s whatever the number of elements; a repeated element is a load", size(p.Memory.Series)),
		fmt.Sprintf("a standard error of %s", percent(p.Sketch.Error)),
		finer,
	}
}

func (p *Plan) windowRow() Decision {
	b := p.Buckets
	return Decision{
		fmt.Sprintf("%s buckets of %v", count(b.Number), b.Resolution),
		fmt.Sprintf("the last %v, known to %s of itself; adds cost nothing more", p.Ask.Window,
			percent(float64(b.Resolution)/float64(p.Ask.Window))),
		fmt.Sprintf("%s a series; ticks take %s of a processor", size(knotBytes*float64(b.Number+1)), percent(b.Sweep)),
		fmt.Sprintf("%s series: ticks take %s; a coarser rung reaches farther back", number(float64(p.Ask.Series)*sweepLimit/b.Sweep), percent(sweepLimit)),
	}
}

// sweepLimit is the share of a processor at which ticks are worth a thought.
const sweepLimit = 0.1

func (p *Plan) readRow() Decision {
	r := p.Read
	lines := text.Count(int64(r.Lines), "line")
	cache := "a Total"
	if p.Sketch != nil {
		cache = "an Estimate that is kept"
	}
	if r.Cached {
		return Decision{
			fmt.Sprintf("%s, refreshed after %v", cache, p.Ask.Fresh),
			fmt.Sprintf("%s reads/s take %s of a processor, not %s", number(p.Ask.Reads), percent(r.CachedShare), percent(r.Share)),
			fmt.Sprintf("answers are up to %v old", p.Ask.Fresh),
			fmt.Sprintf("a reader must see an add that has returned: each read then costs %s", nanos(r.Nanos)),
		}
	}
	d := Decision{
		"each read adds up " + lines,
		"every add that has returned is in it",
		fmt.Sprintf("a read takes %s, %s reads/s %s of a processor", nanos(r.Nanos), number(p.Ask.Reads), percent(r.Share)),
		fmt.Sprintf("more than %s reads/s: %s, if answers may be old", number(cheap*1e9/r.Nanos), cache),
	}
	if r.Share > cheap {
		d.Change = "now: allow an age and use " + cache
	}
	return d
}

func (p *Plan) seriesRow() Decision {
	if p.Sketch != nil {
		return Decision{
			count64(p.Ask.Series) + " sketches",
			"each series answers for itself",
			size(p.Memory.All) + " once all are large",
			"most series are small: they take what their elements do, not " + size(p.Memory.Series),
		}
	}
	return Decision{
		count64(p.Ask.Series) + " series, cold until contended",
		fmt.Sprintf("%s in all, not %s", size(p.Memory.All), size(p.Memory.AllHot)),
		"the first contended adds of a series are slow",
		fmt.Sprintf("every series is hot: each takes %s more", size(p.Memory.Hot)),
	}
}
