// Package rowstream is what a fleet's counts look like on a stream: an encoding of
// messages, and a Fold that turns them back into totals. Package natssink publishes
// such messages to NATS JetStream, kafkasink to Kafka.
//
//	var totals rowstream.Fold
//	for data := range messages {
//		m, err := rowstream.Decode(data)
//		…
//		err = totals.Apply(m)
//	}
//
// # Messages
//
// A message holds rows of one writer, or the standing of one. A row holds the
// value of one series since Created as one writer counted it, in the writer's
// snapshot Seq. Values are absolute. A newer row of the same series, writer and
// Created replaces an older one; all others are added up. So messages may come
// twice, late and in any order.
//
// A writer's snapshot is many rows. It counts as a whole: a row whose Seq is later
// than the Seq of its writer's standing is of a flush that has not ended, and what
// counts of it is Prior. Without a standing Value counts. On Kafka, where a
// transaction holds back what is not whole, there may be none.
//
// When a writer is gone for good, its rows are added to those of the zero writer,
// and removed. The zero writer's standing names those whose rows are in the sums
// from then on, so that none counts twice while they are being removed; a standing
// that is Gone says the same of one writer for as long as a message may be late.
// Buckets of windows are not added up: streams forget them by age.
//
// # Encoding
//
// It is version 2, the first to be released; others are refused by Decode, never
// misread. Fixed-width numbers are big-endian. A uvarint has 7 bits a byte, the low
// ones first, and the high bit in all bytes but the last. A varint is a uvarint of
// zigzag, so of 2n for n ≥ 0 and of -2n-1 for n < 0.
//
//	offset  bytes
//	0       2      "hr"
//	2       1      version, 2
//	3       1      kind: 'c' counters, 'u' sketches of distinct elements,
//	               'b' buckets of windows, 's' a standing
//	4       16     writer id, zero for sums over writers that are gone
//	20      …      rows, one after the other up to the end, or a standing
//	end-4   4      CRC-32C of all before
//
//	row:
//	uvarint n      bytes of the series
//	n              series, as series.Key.String writes it
//	varint         Created, Unix nanoseconds; of a bucket, when it begins
//	uvarint        Seq
//	uvarint        kind 'b': resolution in nanoseconds
//	varint         kinds 'c' and 'b': Value
//	varint         kinds 'c' and 'b': Prior
//	1              kind 'u': hash of the elements, 0 for XXH64, 1 for Redis' own
//	8              kind 'u': print of the hash's seed, see hll.Scheme
//	uvarint n      kind 'u': bytes of the sketch
//	n              kind 'u': sketch, as hll.Sketch.AppendBinary writes it
//
//	standing:
//	uvarint        Seq
//	16             Mark
//	16             Pending
//	1              flags: 1 Dead, 2 Gone
//	16 each        Folded, up to the end
package rowstream
