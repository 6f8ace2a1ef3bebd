package hotcount

import (
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// health is what a sweep learns about the engine itself.
type health struct {
	busiest *series // whose count changed most since the last sweep
	change  int64
}

func (h *health) begin() { *h = health{} }

func (h *health) saw(s *series, change int64) {
	if change > h.change {
		h.busiest, h.change = s, change
	}
}

// The engine's own series. Counters go on for as long as the engine runs;
// gauges are readings of the sweep that made the snapshot.
var (
	healthCreated   = healthKey("hotcount_series_created_total")
	healthEvicted   = healthKey("hotcount_series_evicted_total")
	healthRefused   = healthKey("hotcount_overflow_lookups_total")
	healthSnapshots = healthKey("hotcount_snapshots_total")

	healthLive    = healthKey("hotcount_series")
	healthDormant = healthKey("hotcount_series_dormant")
	healthSweep   = healthKey("hotcount_sweep_seconds")
	healthBusiest = healthKey("hotcount_busiest_adds_per_second")
	healthSkew    = healthKey("hotcount_busiest_skew_ratio")
)

func healthKey(name string) snapshot.Key {
	d, err := snapshot.NewDesc(name)
	if err != nil {
		panic(err)
	}
	return d.Key()
}

// appendHealth appends the engine's own series.
func (e *Engine) appendHealth(s *snapshot.Snapshot) {
	var refused int64
	for f := range e.families.All {
		refused += f.refused.Load()
	}
	for _, c := range []struct {
		key   snapshot.Key
		value int64
	}{
		{healthCreated, e.created.Load()},
		{healthEvicted, e.sweep.evicted},
		{healthRefused, refused},
		{healthSnapshots, int64(s.Seq)},
	} {
		s.Counters = append(s.Counters, snapshot.Counter{Key: c.key, Created: e.started.UnixNano(), Value: c.value})
	}

	h := &e.sweep.health
	s.Gauges = append(s.Gauges,
		snapshot.Gauge{Key: healthLive, Value: float64(e.live.Load())},
		snapshot.Gauge{Key: healthDormant, Value: float64(len(e.sweep.finals))},
		snapshot.Gauge{Key: healthSweep, Value: time.Since(s.Taken).Seconds()},
	)
	if h.busiest != nil && !e.sweep.last.IsZero() {
		rate := float64(h.change) / s.Taken.Sub(e.sweep.last).Seconds()
		s.Gauges = append(s.Gauges,
			snapshot.Gauge{Key: healthBusiest, Value: rate},
			snapshot.Gauge{Key: healthSkew, Value: h.busiest.count.Stats().Skew},
		)
	}
}
