// Package hotcount counts things on the hottest paths of a server, and keeps
// the counts.
//
// An [Engine] is a registry of named series. A [Counter] counts how often, a
// [Uniques] counts how many different; both may come in families that differ in
// label values:
//
//	e, err := hotcount.New(hotcount.Options{Dir: "data"})
//	…
//	hits := e.Counter("http_requests_total", "method", "GET", "code", "200")
//	hits.Inc()
//
//	views := e.CounterVec("views_total", "post")
//	views.With(id).Inc()
//
//	visitors := e.Uniques("visitors")
//	visitors.AddString(user)
//
//	recent, err := e.Window(hits, window.Options{})
//	…
//	recent.Last(time.Hour).Count
//	…
//	err = e.Close(ctx) // saves the last counts
//
// # What an engine promises
//
// Every add is counted exactly once, at the latest in the first snapshot that
// begins after it returned. Adds to one series by many cores do not slow each
// other down, and adds to different series never do.
//
// With a Dir, or Sinks, the engine exports a snapshot at intervals, and a last
// one on Close. Rows are absolute, never differences, so that a retry changes
// nothing. What was exported is counted exactly once; a crash loses at most the
// increments since the last snapshot that was. After a restart with the same
// Dir the counts go on. They belong to a name and its label names: a metric that
// has other labels than in earlier runs begins anew, and what it had counted
// stays in Totals under the old ones.
//
// Series cost memory, and label values may come from strangers. [Limits] bound
// how many series there are and how long their label values; what finds no room
// is counted in its family's overflow series, so that totals stay exact. Label
// values may be any bytes, and their hash is keyed.
//
// # Choosing
//
//   - [Batch] collects increments and applies them together or not at all,
//     beside a database transaction.
//   - [Once] counts each event id at most once, against retries.
//   - [Engine.Reconcile] compares the counts with a source of truth, and
//     [Engine.Adjust] books the difference where all can see it.
//   - Package stripe has the counter alone, without names; package hll the
//     sketch.
//   - An atomic.Int64 is the better choice for a few counters that need neither
//     names nor durability and that few cores add to.
//
// # Health
//
// Each snapshot also holds the engine's own series. They start anew with each
// run. The busiest series is the one whose count rose most since the snapshot
// before; those three are left out if none rose. A metric whose name ends in a
// unit, such as request_bytes_total, adds up amounts and is never the busiest.
//
//	hotcount_series                           gauge    series in memory that count against the limits
//	hotcount_series_dormant                   gauge    final rows that wait to be acknowledged
//	hotcount_series_parked                    gauge    evicted series that a handle keeps alive
//	hotcount_series_created_total             counter
//	hotcount_series_evicted_total             counter
//	hotcount_overflow_lookups_total{metric}   counter  look-ups that got an overflow series; left out if 0
//	hotcount_adjustments{series}              counter  what Adjust has booked; left out if nothing
//	hotcount_snapshots_total                  counter
//	hotcount_sweep_seconds                    gauge    time to visit every series for this snapshot
//	hotcount_busiest_adds_per_second          gauge    rise of the busiest series; compare with stripe.Ceiling
//	hotcount_busiest_skew_ratio               gauge    its stripe.Stats.Skew: 1 is even, 0 has no stripes
//	hotcount_busiest_sum_seconds              gauge    time to read it once
//	hotcount_export_lag_seconds{sink}         gauge    since the sink last took a snapshot
//	hotcount_sink_writes_total{sink}          counter
//	hotcount_sink_failures_total{sink}        counter  writes that failed, panics among them
//	hotcount_sink_blocked{sink}               gauge    1 if it takes nothing until somebody mends what its error says
//	hotcount_windows                          gauge    driven now; these six are left out before the first
//	hotcount_sampler_ticks_total              counter
//	hotcount_sampler_missed_ticks_total       counter  ticks that did not happen since one was late
//	hotcount_sampler_clock_jumps_total        counter  steps of the wall clock, and suspends
//	hotcount_sampler_lag_seconds              gauge    how late the last tick was
//	hotcount_sampler_busy_seconds             gauge    time spent in ticks so far
//	hotcount_events_late_total                counter  events that came too late; these two are left out without Events
//	hotcount_events_future_total              counter  events ahead of the clock
package hotcount
