// Package kafkasink publishes the counts of a fleet to a compacted Kafka topic and
// reads them back: an export.Sink, an export.Reader, and rows that stream
// processors fold to totals with package rowstream.
//
//	sink, err := kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []export.Sink{sink}})
//
// It has been tested against kfake, franz-go's broker for tests, and not yet tried
// on a live one.
//
// # Topic
//
// A record holds one row, or the standing of one writer, in the encoding of package
// rowstream. Its key is their ID: kind, writer, Created and series. The topic must
// be compacted, must not delete by age or size, and has its records dated by the
// broker, by which Compact tells who is gone:
//
//	kafka-topics.sh --create --topic counts --config cleanup.policy=compact
//	    --config message.timestamp.type=LogAppendTime
//
// With Options.Windows, buckets of windows go to another topic, which forgets them
// by age:
//
//	kafka-topics.sh --create --topic windows --config cleanup.policy=compact,delete
//	    --config retention.ms=604800000
//
// Rows of one series lie in as many partitions as it has writers, so who sums with
// several consumers groups by series first. Consumers set isolation.level to
// read_committed, and pass over records without a value.
//
// # What is exact
//
// A total is the sum of what each process counted, each add once, whatever has been
// sent twice or late. A flush is one transaction. What a process had not exported
// when it died comes with its next start, from its directory, under its old id.
//
// Two processes with one writer id, such as a virtual machine that was cloned, are
// told apart from the first flush that ended: the transactional id is made of the
// writer's, so the broker fences all but the last that asked for it, and the
// committed offset of a consumer group of the same name says whose flush was the
// last. The other one fails once and goes on under a new id. Copies made before the
// first export ended cannot be told apart. A topic that went back to an older state
// gets rows only as they change, unless the writer's offset went back with it.
//
// A flush has to end within the engine's Options.Timeout, 10 s unless set: one that does
// not is undone by the next Write. Readers and Compact wait for transactions that
// are open, that of a process that was killed too: the broker ends it after the
// client's transaction timeout, which is 40 s unless set.
//
// # Writers that are gone
//
// Compact adds up the rows of writers that have not flushed for a lease and removes
// them. Let one process call it every few minutes. A process that was only late
// goes on under a new id. Brokers keep the offset by which it finds out for
// offsets.retention.minutes, seven days unless set.
//
// # What it needs
//
// A broker of version 2.5 or later, and a client that produces idempotently, which
// is franz-go's default, and consumes nothing. A sink needs WRITE and DESCRIBE on
// the topics, and on the transactional ids and READ on the groups that begin with
// hotcount.TOPIC.; a reader READ on the topics; one that calls Compact all of these
// and DESCRIBE_CONFIGS on the topic.
//
// # Errors
//
// Errors wrap those of package export, beside the client's. ErrSchema: there is no
// such topic, or its settings are not those above. The client's own retries do no
// harm.
package kafkasink
