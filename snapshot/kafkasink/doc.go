// Package kafkasink publishes the counts of a fleet to a compacted Kafka topic: a
// snapshot.Sink whose rows stream processors fold to totals with package
// rowstream.
//
//	sink, err := kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []snapshot.Sink{sink}})
//
// It has been tested against kfake, franz-go's broker for tests, and not yet tried
// on a live one.
//
// # Topic
//
// A record holds one row in the encoding of package rowstream. Its key is
// rowstream.Row's ID: kind, writer, Created and series. The topic must be
// compacted and must not delete by age or size:
//
//	kafka-topics.sh --create --topic counts --config cleanup.policy=compact
//
// Rows of one series lie in as many partitions as it has writers, so who sums
// with several consumers groups by series first.
//
// # What is exact
//
// A consumer that folds all records from the start of the topic has each add of
// each process once, whatever has been sent twice or late. What a process had not
// exported when it died comes with its next start, from its directory, under its
// old id.
//
// A topic cannot compare and set, so three things that other sinks do are not done
// here. Processes that were copied while running, such as a virtual machine that
// was cloned, are not told apart: the newer snapshot of either counts. A topic
// that went back to an older state gets rows only as they change. Rows of writers
// that are gone stay, one for each series, writer and Created.
//
// # What it needs
//
// A client that produces idempotently, which is franz-go's default, with the right
// to write to the topic. Before Kafka 3.0 also IDEMPOTENT_WRITE on the cluster.
//
// # Errors
//
// Write returns errors that snapshot.IsTerminal tells from those that pass: see
// the Err variables. All else is taken for something that passes. The client's own
// retries do no harm.
package kafkasink
