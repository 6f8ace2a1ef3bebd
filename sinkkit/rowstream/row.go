package rowstream

import (
	"errors"
	"strconv"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// ErrFormat is wrapped by the errors about bytes that are not a message.
var ErrFormat = errors.New("hotcount/rowstream: malformed message")

// A Row is the count of one series since Created, by one writer, as it was in the
// writer's snapshot Seq. It is a count of distinct elements if Sketch is not nil, a
// window's bucket if Resolution is not 0, and else a counter. A row of the zero
// Writer is a sum over writers that are gone.
type Row struct {
	Key     series.Key
	Writer  snapshot.WriterID
	Created int64 // Unix nanoseconds; of a bucket, when it begins
	Seq     uint64

	Value int64 // of a counter or a bucket
	Prior int64 // what Value was in the writer's last whole snapshot before Seq

	Resolution time.Duration // of a bucket

	Scheme hll.Scheme // of a sketch
	Sketch []byte     // as hll.Sketch.AppendBinary writes it
}

// A Standing says how far a writer has got. Rows of a later Seq belong to a flush
// that has not ended: of those Prior counts.
type Standing struct {
	sinkkit.Standing
	Writer snapshot.WriterID

	// Gone says that what the writer counted is in the rows of the zero
	// writer now. Its own do not count any more.
	Gone bool

	// Folded, in the standing of the zero writer, are the writers whose rows
	// went into the rows with this Seq, or, while Pending is set, will go into
	// those with the next.
	Folded []snapshot.WriterID
}

// A Message is what one message on a stream holds.
type Message struct {
	Rows     []Row
	Standing *Standing // nil if there are rows
}

func (r *Row) kind() byte {
	switch {
	case r.Sketch != nil:
		return kindUniques
	case r.Resolution != 0:
		return kindBuckets
	}
	return kindCounters
}

// Whole returns the value that r had in the writer's snapshot seq, if that was the
// last that was whole.
func (r *Row) Whole(seq uint64) int64 {
	if r.Seq > seq {
		return r.Prior
	}
	return r.Value
}

// AppendID appends what all rows have in common that replace each other: kind,
// writer, Created, Resolution of a bucket and series, as text with spaces between.
// A compacted topic has it as the key.
func (r *Row) AppendID(dst []byte) []byte {
	dst = append(dst, r.kind(), ' ')
	dst = append(dst, r.Writer.String()...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, r.Created, 10)
	if r.kind() == kindBuckets {
		dst = strconv.AppendInt(append(dst, ' '), int64(r.Resolution), 10)
	}
	dst = append(dst, ' ')
	return r.Key.AppendText(dst)
}

// AppendID does the same for standings: kind and writer.
func (s *Standing) AppendID(dst []byte) []byte {
	return append(append(dst, kindStanding, ' '), s.Writer.String()...)
}
