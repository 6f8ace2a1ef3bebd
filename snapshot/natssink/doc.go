// Package natssink publishes the counts of a fleet to a NATS JetStream stream and
// reads them back: a snapshot.Sink, a snapshot.Reader, and the road to stream
// processors, which fold the rows with package rowstream.
//
//	_, err := js.CreateOrUpdateStream(ctx, natssink.StreamConfig("COUNTS"))
//	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []snapshot.Sink{sink}})
//
// # Subjects
//
//	COUNTS.counter.NAME.SERIES.WRITER.CREATED    a counter's row
//	COUNTS.uniques.NAME.SERIES.WRITER.CREATED    a sketch of distinct elements
//	COUNTS.writer.WRITER                         how far a writer has got
//
// NAME is the metric's name, so that a consumer can pick its own. SERIES is a hash
// of the whole key, in 22 characters; the key itself is in the row. The stream
// keeps the last message of each subject, so it is as large as the fleet's state,
// not its history, and a consumer that starts today gets all of it.
//
// # What is exact
//
// A total is the sum of what each process counted, each add once, whatever happens
// on the way: messages and acknowledgements that are lost, repeated or late,
// processes and servers that are killed, a stream that falls back to an older
// state, a copied process. What a process had not exported when it died comes with
// its next start, from its directory, under its old id, no matter when.
//
// That holds for what the server still has once it has acknowledged it. A single
// server may lose its last seconds in a power cut, and if that falls into a flush,
// which goes on afterwards, the sink cannot tell: use three replicas, or
// sync_interval: always.
//
// A flush is many messages, so who reads meanwhile may find some counters newer
// than others. Two processes that were copied from one before its first export
// ended cannot be told apart, nor can what a server lost under a writer that never
// comes back.
//
// # Writers that are gone
//
// Rows of dead writers stay. Adding them up needs a change of two subjects in one
// step, which JetStream has not got. The stream grows by one message of about 200
// bytes for each series and process ever started, and for each time that an idle
// series comes back. Fleets that start many processes have ways out: keep totals
// in Redis or PostgreSQL, whose sinks add up the dead, and use the stream as a
// second sink for live processing; or start a new stream now and then, such as
// one a month, whose totals then are the month's plus what live writers bring
// along.
//
// # What it needs
//
// NATS 2.9 or later with JetStream. A user for a sink publishes to COUNTS.> and
// $JS.API.STREAM.INFO.COUNTS, and $JS.API.STREAM.MSG.GET.COUNTS, or for a stream
// with AllowDirect $JS.API.DIRECT.GET.COUNTS.>; a reader to
// $JS.API.CONSUMER.*.COUNTS.> and $JS.API.CONSUMER.MSG.NEXT.COUNTS.*. Both
// subscribe to _INBOX.>.
//
// # Errors
//
// Write returns errors that snapshot.IsTerminal tells from those that pass: see
// the Err variables. All else is taken for something that passes, a stream at its
// limit of size too: what it refuses comes again. A client's own retries do no
// harm.
package natssink
