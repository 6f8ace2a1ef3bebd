// Package otel shows the counts of a hotcount engine to OpenTelemetry. A
// Producer gives them to a reader of the SDK, with start times and with metrics
// that come up later; that is the way to take where the program has the reader
// at hand:
//
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(otel.New(engine, otel.Options{})))
//	provider := metric.NewMeterProvider(metric.WithReader(reader))
//
// Register is for code that has only a Meter, with less:
//
//	registration, err := otel.Register(provider.Meter("shop"), engine, otel.Options{})
//
// # What is shown
//
// For the metrics of an engine as named here, with label names as attribute
// keys:
//
//	counter jobs_total             jobs_total                         Sum, int64, cumulative, monotonic
//	counter in Options.UpDown      its name                           Sum, int64, cumulative, not monotonic
//	window over jobs_total         jobs_total.window                  Gauge, int64: added in the last while
//	                               jobs_total.window.seconds          Gauge, float64: the time that is really about
//	uniques visitors               visitors, visitors.low, .high      Gauges, int64: the estimate and its bounds of two standard errors
//	events orders                  orders, orders.seconds             Gauges
//	uniques window recent          recent, recent.low, .high, .seconds
//	the engine's own health        hotcount_…                         Sums and Gauges, as package hotcount lists them
//
// Every window has a series for each of its rungs, with the attribute
// hotcount.window, such as "1h". No name or label in an engine holds a dot, so
// nothing collides.
//
// # Counts of this run
//
// A sum is what was counted since its start time, which is in this run of the
// program, and not the lifetime total of Counter.Value: after a crash a total
// may step back by what no snapshot held, which a backend takes for a restart
// from zero and counts all of it again. A series that was retired and came back
// starts from zero with a later start time.
//
// A counter that is ever added a negative number to belongs into
// Options.UpDown.
//
// # Attributes
//
// A value that is not valid UTF-8, for which a whole OTLP export would fail, is
// shown as series.ToValidUTF8 writes it: different values stay different
// series. The overflow series of a full family has the one attribute
// hotcount_overflow = "true".
//
// # What a Meter cannot do
//
// The SDK gives the start time of an instrument's creation to all its series. A
// series that is retired and comes back between two collections falls without a
// sign, which a cumulative backend can tell and a reader of deltas cannot: it
// gets a negative one. Metrics that are new since the last collection are in
// the next but one, as an instrument cannot be made during a collection. The
// SDK's cardinality limit and views apply, and a name that OpenTelemetry does
// not allow, such as one with a colon, is left out and reported to the global
// error handler.
//
// A Producer has none of that: its data pass by views and limits. It is always
// cumulative, whatever temporality the reader prefers.
//
// # Cost
//
// A collection retires nothing and takes no snapshot's number, and adds wait
// for none. It allocates the data that it returns, as the reader may keep them.
// An estimate of a large Uniques takes about 8 µs, and one over a window of
// Uniques merges all its sketches.
package otel
