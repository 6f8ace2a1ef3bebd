// Package prom shows the counts of a hotcount engine to Prometheus: a
// prometheus.Collector over an Engine.
//
//	registry.MustRegister(prom.New(engine, prom.Options{}))
//	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
//		ErrorHandling:     promhttp.ContinueOnError,
//		EnableOpenMetrics: true,
//	})
//
// # What a scrape shows
//
// For the metrics of an engine as named here:
//
//	counter jobs_total             jobs_total                            counter, with its created timestamp
//	counter jobs                   jobs_total                            the same
//	counter in Options.UpDown      its name without _total               gauge
//	window over counter jobs_total jobs_window{window="1h"}              gauge: added in the last hour
//	                               jobs_window_seconds{window="1h"}      gauge: the time that is really about
//	uniques visitors               visitors                              gauge: the estimate
//	                               visitors_low, visitors_high           gauges: its bounds of two standard errors
//	events orders                  orders{window="24h"}                  gauge
//	                               orders_seconds{window="24h"}          gauge
//	uniques window recent          recent, recent_low, recent_high, recent_seconds, each {window="1h"}
//	the engine's own health        hotcount_…                            as package hotcount lists them
//
// So a counter ends in _total and nothing else does, as Prometheus' linter
// wants it. A window has one series for each of its rungs, and the label window
// says how far back that reaches. A window younger than that is about less
// time, which …_seconds says, so that
//
//	jobs_window / jobs_window_seconds
//
// is its rate per second at any age. Bounds are metrics of their own and no
// label, so that a sum over a metric never adds bounds to counts.
//
// # Counts of this run
//
// A counter is what was counted since its created timestamp, which is in this
// run of the program: Prometheus adds up runs itself. The lifetime total, which
// Counter.Value and Totals return, must not be shown as a counter: after a
// crash it may step back by what no snapshot held, and Prometheus takes any
// step back for a restart from zero and counts the whole total again. A series
// that was retired and came back starts from zero with a later created
// timestamp, too.
//
// A counter that is ever added a negative number to belongs into
// Options.UpDown: Prometheus would take each fall for a reset.
// hotcount_adjustments is a gauge for that reason. Prometheus' numbers are
// floats, exact up to 2^53.
//
// Created timestamps are always in the protobuf format. In the OpenMetrics text
// they are …_created samples, which promhttp.HandlerOpts leaves out unless
// EnableOpenMetricsTextCreatedSamples is set.
//
// # Labels
//
// A value that is not valid UTF-8, which Prometheus' formats cannot hold, is
// shown as series.ToValidUTF8 writes it: different values stay different
// series. A label of a series with a window that is itself named window is
// shown as exported_window.
//
// The overflow series of a full family has the label hotcount_overflow="true"
// and lacks the family's own, which to Prometheus is the same as their being
// empty. A sum over the metric includes it.
//
// # What can go wrong
//
// The names of a program may collide only here: counters jobs and jobs_total,
// or uniques visitors beside a counter visitors_low in UpDown. One of the two
// is then left out, the same one for as long as the process runs, and
// hotcount_prom_hidden{metric,name} says which. A name that is unchanged goes
// first. In OpenMetrics text a counter jobs_total is the family jobs, which
// uniques jobs are, too: Prometheus reads both, stricter readers may not.
//
// A registry cannot see what a collector of changing metrics is going to bring.
// So it accepts the same collector twice, or another one with the same names,
// and each scrape then reports duplicates, for which promhttp sends status 500
// unless told to go on. Use promhttp.ContinueOnError: whatever is wrong with
// one series, also those of others, the rest is served. It also matters for
// safety: a registry tells series apart by an unkeyed 64-bit hash, so strangers
// who choose label values can make two that collide.
//
// Several engines fit into one registry by a label: register each through
// prometheus.WrapRegistererWith, whose label names must differ from those of
// all series. A collector cannot be unregistered, as any whose metrics change.
//
// # Cost
//
// A scrape retires nothing and takes no snapshot's number, and adds wait for
// none. Most of its time goes into the registry, which checks and sorts all
// series, and into the text; the collector's own share is small, see the
// README. An estimate of a large Uniques takes about 8 µs, and one over a
// window of Uniques merges all its sketches.
package prom
