// Package rowstream is what a fleet's counts look like on a stream: an encoding of
// one row to a message, and a Fold that turns messages back into totals. Package
// natssink publishes such rows to NATS JetStream, kafkasink to Kafka.
//
//	var totals rowstream.Fold
//	for message := range messages {
//		row, err := rowstream.Decode(message)
//		…
//		err = totals.Apply(row)
//	}
//
// # Rows
//
// A row holds the value of one series since Created as one writer counted it, in
// the writer's snapshot Seq. Values are absolute. A newer row of the same series,
// writer and Created replaces an older one; all others are added up. So messages
// may come twice, late and in any order, and only the last of each series, writer
// and Created has to be kept.
//
// # Encoding
//
// Numbers are big-endian. It is version 1; later ones will be refused by Decode,
// never misread.
//
//	offset  bytes
//	0       2      "hr"
//	2       1      version, 1
//	3       1      kind: 'c' a counter, 'u' a sketch of distinct elements
//	4       16     writer id
//	20      8      Created, Unix nanoseconds, signed
//	28      8      Seq
//	36      4      n
//	40      n      series, as snapshot.Key.String writes it
//	40+n    8      kind 'c': value, signed
//	40+n    1      kind 'u': hash of the elements, 0 for XXH64, 1 for Redis' own
//	41+n    8      kind 'u': print of the hash's seed, see hll.Scheme
//	49+n    …      kind 'u': sketch, as hll.Sketch.AppendBinary writes it
//	end-4   4      CRC-32C of all before
package rowstream
