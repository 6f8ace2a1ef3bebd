package hotcount

import (
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// health makes the engine's own series, which the package comment lists. It
// belongs to the sweep.
type health struct {
	keys healthKeys

	busiest *entry // that got most adds since the last sweep, nil for none
	rise    int64

	// What the last sweep found.
	took  time.Duration
	shown []snapshot.GaugeRow // of the busiest
}

// saw tells by how much the count of a series has risen. The rise of an amount is
// not a number of adds: a sum of durations gains millions with each.
func (h *health) saw(s *entry, rise int64) {
	if rise > h.rise && !s.fam.amount {
		h.busiest, h.rise = s, rise
	}
}

type healthKeys struct {
	created, evicted, snapshots series.Key
	live, dormant, parked       series.Key
	sweep, rate, skew, sum      series.Key

	refused                        series.Desc // by metric
	adjusted                       series.Desc // by series
	writes, failures, lag, blocked series.Desc // by sink

	windows, ticks, missed, jumps, tickLag, busy series.Key // of the sampler
	late, future                                 series.Key // of Events

	sinks []sinkKeys // made when there is an exporter
}

type sinkKeys struct{ writes, failures, lag, blocked series.Key }

func newHealthKeys() healthKeys {
	return healthKeys{
		created:   healthDesc("series_created_total").Key(),
		evicted:   healthDesc("series_evicted_total").Key(),
		snapshots: healthDesc("snapshots_total").Key(),
		live:      healthDesc("series").Key(),
		dormant:   healthDesc("series_dormant").Key(),
		parked:    healthDesc("series_parked").Key(),
		sweep:     healthDesc("sweep_seconds").Key(),
		rate:      healthDesc("busiest_adds_per_second").Key(),
		skew:      healthDesc("busiest_skew_ratio").Key(),
		sum:       healthDesc("busiest_sum_seconds").Key(),
		refused:   healthDesc("overflow_lookups_total", "metric"),
		adjusted:  healthDesc("adjustments", "series"),
		writes:    healthDesc("sink_writes_total", "sink"),
		failures:  healthDesc("sink_failures_total", "sink"),
		lag:       healthDesc("export_lag_seconds", "sink"),
		blocked:   healthDesc("sink_blocked", "sink"),
		windows:   healthDesc("windows").Key(),
		ticks:     healthDesc("sampler_ticks_total").Key(),
		missed:    healthDesc("sampler_missed_ticks_total").Key(),
		jumps:     healthDesc("sampler_clock_jumps_total").Key(),
		tickLag:   healthDesc("sampler_lag_seconds").Key(),
		busy:      healthDesc("sampler_busy_seconds").Key(),
		late:      healthDesc("events_late_total").Key(),
		future:    healthDesc("events_future_total").Key(),
	}
}

func healthDesc(name string, labels ...string) series.Desc {
	d, err := series.NewDesc(reservedPrefix+name, labels...)
	if err != nil {
		panic(err) // the names are those above
	}
	return d
}

// appendHealth appends the engine's own series.
func (e *Engine) appendHealth(s *snapshot.Snapshot) {
	k := &e.sweep.health.keys
	e.healthCounter(s, k.created, e.created.Load())
	e.healthCounter(s, k.evicted, e.sweep.evicted)
	e.healthCounter(s, k.snapshots, int64(s.Seq))
	for f := range e.families.All {
		if n := f.refused.Value(); n > 0 {
			e.healthCounter(s, k.refused.Key(f.desc.Name()), n)
		}
	}
	s.Counters = append(s.Counters, e.adjustments.rows...)
	e.appendSinks(s)
	e.appendSampler(s)
	s.Gauges = append(s.Gauges, e.sweep.health.shown...)
	s.Gauges = append(s.Gauges,
		snapshot.GaugeRow{Key: k.live, Value: float64(e.live.Load())},
		snapshot.GaugeRow{Key: k.dormant, Value: float64(len(e.sweep.finals))},
		snapshot.GaugeRow{Key: k.parked, Value: float64(e.parked.len())},
		snapshot.GaugeRow{Key: k.sweep, Value: e.sweep.health.took.Seconds()},
	)
}

func (e *Engine) healthCounter(s *snapshot.Snapshot, k series.Key, n int64) {
	s.Counters = append(s.Counters, snapshot.CounterRow{Key: k, Created: e.started.UnixNano(), Value: n})
}

// sumUp ends a sweep: it looks closer at the series that rose most since the
// last one.
func (h *health) sumUp(taken, last time.Time) {
	h.shown = h.shown[:0]
	if h.busiest != nil && !last.IsZero() {
		began := time.Now()
		h.busiest.count.Value()
		sum := time.Since(began)
		h.shown = append(h.shown,
			snapshot.GaugeRow{Key: h.keys.rate, Value: float64(h.rise) / taken.Sub(last).Seconds()},
			snapshot.GaugeRow{Key: h.keys.skew, Value: h.busiest.count.Stats().Skew},
			snapshot.GaugeRow{Key: h.keys.sum, Value: sum.Seconds()},
		)
	}
	h.busiest, h.rise = nil, 0
	h.took = time.Since(taken)
}

// appendSampler says how the windows are doing, if there are any.
func (e *Engine) appendSampler(s *snapshot.Snapshot) {
	if st, ok := e.windows.eventsStats(); ok {
		e.healthCounter(s, e.sweep.health.keys.late, st.Late)
		e.healthCounter(s, e.sweep.health.keys.future, st.Future)
	}
	st, ok := e.windows.stats()
	if !ok {
		return
	}
	k := &e.sweep.health.keys
	e.healthCounter(s, k.ticks, int64(st.Ticks))
	e.healthCounter(s, k.missed, int64(st.Missed))
	e.healthCounter(s, k.jumps, int64(st.Jumps))
	s.Gauges = append(s.Gauges,
		snapshot.GaugeRow{Key: k.windows, Value: float64(st.Windows)},
		snapshot.GaugeRow{Key: k.tickLag, Value: st.Lag.Seconds()},
		snapshot.GaugeRow{Key: k.busy, Value: st.Busy.Seconds()},
	)
}

// appendSinks says how export is doing. A sink's lag counts from when it last
// took a snapshot, or from the engine's start if it has not taken one yet.
func (e *Engine) appendSinks(s *snapshot.Snapshot) {
	if e.exporter == nil {
		return
	}
	k := &e.sweep.health.keys
	for i, sink := range e.exporter.Stats().Sinks {
		if i == len(k.sinks) { // the first time
			k.sinks = append(k.sinks, sinkKeys{k.writes.Key(sink.Name), k.failures.Key(sink.Name), k.lag.Key(sink.Name), k.blocked.Key(sink.Name)})
		}
		since := e.started
		if !sink.AckedAt.IsZero() {
			since = sink.AckedAt
		}
		e.healthCounter(s, k.sinks[i].writes, int64(sink.Writes))
		e.healthCounter(s, k.sinks[i].failures, int64(sink.Failures))
		s.Gauges = append(s.Gauges, snapshot.GaugeRow{Key: k.sinks[i].lag, Value: s.Taken.Sub(since).Seconds()})
		blocked := snapshot.GaugeRow{Key: k.sinks[i].blocked}
		if sink.Blocked || sink.Stopped {
			blocked.Value = 1
		}
		s.Gauges = append(s.Gauges, blocked)
	}
}
