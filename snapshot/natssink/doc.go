// Package natssink publishes the counts of a fleet to a NATS JetStream stream and
// reads them back: an export.Sink, an export.Reader, and the road to stream
// processors, which fold the rows with package rowstream.
//
//	_, err := js.CreateOrUpdateStream(ctx, natssink.StreamConfig("COUNTS"))
//	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []export.Sink{sink}})
//
// # Subjects
//
//	COUNTS.counter.NAME.WRITER.SLOT    counters' rows, up to 32 of them
//	COUNTS.uniques.NAME.WRITER.SLOT    a sketch of distinct elements
//	COUNTS.writer.WRITER               how far a writer has got
//
// NAME is the metric's name, so that a consumer can pick its own. WRITER is 32 zeros
// for sums over writers that are gone. The stream keeps the last message of each
// subject, so it is as large as the fleet's state, not its history, and a consumer
// that starts today gets all of it.
//
// With Options.Windows, buckets of windows go to a second stream, which the server
// empties by age:
//
//	WINDOWS.NAME.RESOLUTION.START.WRITER.SLOT    buckets that begin at START
//
// # What is exact
//
// A total is the sum of what each process counted, each add once, whatever happens
// on the way: messages and acknowledgements that are lost, repeated or late,
// processes and servers that are killed, a stream that falls back to an older
// state, a copied process. What a process had not exported when it died comes with
// its next start, from its directory, under its old id, no matter when.
//
// A flush is many messages, and counts all at once, when its last one is there. One
// that does not end within the exporter's Timeout goes on in the next: what has
// been acknowledged is not sent again.
//
// That holds for what the server still has once it has acknowledged it. NATS 2.9 does
// not keep all of that when it is killed: once a stream has filled some blocks of
// 8 MB, it may come back with older messages in place of the newest of a subject
// (seen with 2.9.10 and 2.9.25, not with 2.10.29). A single
// server may lose its last seconds in a power cut, and if that falls into one
// Write, which goes on afterwards, the sink cannot tell: use three replicas, or
// sync_interval: always. Two processes that were copied from one before its first
// export ended cannot be told apart, nor can what a server lost under a writer that
// never comes back. Who follows a stream that falls back behind a roll-up starts
// over with a new Fold.
//
// # Writers that are gone
//
// Compact adds up the rows of writers that have not flushed for a lease and removes
// them. Let one process, or several, call it every few minutes. The stream then
// has a row for each series, and series and writer that lives, and for 30 days a
// message of 60 bytes for each writer that is gone, by which one that was only late
// finds out; it goes on under a new id, without losing or doubling. Without Compact
// rows stay.
//
// # What it needs
//
// NATS 2.9 or later with JetStream, 2.10.29 or later for what is said above about
// servers that are killed. A user for a sink publishes to COUNTS.> and
// $JS.API.STREAM.INFO.COUNTS, and $JS.API.STREAM.MSG.GET.COUNTS, or for a stream
// with AllowDirect $JS.API.DIRECT.GET.COUNTS.>; a reader to
// the same but COUNTS.>, and to $JS.API.CONSUMER.*.COUNTS.> and
// $JS.API.CONSUMER.MSG.NEXT.COUNTS.*; one that calls Compact to all of these and to
// $JS.API.STREAM.PURGE.COUNTS. All subscribe to _INBOX.>. A stream of windows needs
// the same.
//
// A Sink takes about 200 bytes for each series of a process, beside the 150 to 190
// of its sinkkit.Mirror.
//
// # Errors
//
// Errors wrap those of package export, beside the client's. ErrSchema: there is no
// such stream, or it would lose rows. ErrDenied also if no acknowledgement came and
// the connection has been refused a subject, if not surely this one. A client's own
// retries do no harm.
package natssink
