package window

import (
	"fmt"
	"time"

	"github.com/hotcount/hotcount/hll"
)

// UniquesOptions says what a window over unique elements keeps. Zero fields
// have defaults: 60 buckets of a minute, of sketches with the default options.
type UniquesOptions struct {
	// Resolution is the width of a bucket.
	Resolution time.Duration
	// Buckets is how many closed buckets are kept besides the live one, with
	// one sketch each. Empty buckets take no memory.
	Buckets int
	// Sketch are the options of the sketches.
	Sketch hll.Options
	// Sampler drives the window, as in Options.
	Sampler *Sampler
}

// DefaultUniquesResolution is the bucket width of Uniques where options give
// none: with DefaultBuckets, one hour of minutes.
const DefaultUniquesResolution = time.Minute

// Uniques counts the distinct elements of the last stretches of time, with one
// sketch for each bucket. What is added reaches the bucket that is live at that
// moment; only a writer that is held up inside Add while a tick passes reaches
// the one before.
//
// All methods may be called from any goroutine. An Add synchronizes before any
// read that counts its element.
type Uniques struct {
	r      rotor[hll.Sketch]
	sketch hll.Options
}

// UniquesSpan is the number of distinct elements of a span.
type UniquesSpan struct {
	hll.Estimate
	// Covered and Gap are those of a Span.
	Covered, Gap time.Duration
}

// NewUniques returns an empty window. The error wraps ErrOptions of this
// package or of package hll.
func NewUniques(o UniquesOptions) (*Uniques, error) {
	if o.Resolution == 0 {
		o.Resolution = DefaultUniquesResolution
	}
	g := Rung{o.Resolution, o.Buckets}.withDefaults()
	if err := g.check(); err != nil {
		return nil, err
	}
	if _, err := hll.New(o.Sketch); err != nil {
		return nil, err
	}
	u := &Uniques{sketch: o.Sketch}
	u.r.init(g, o.Sampler, u.fresh, emptySketch)
	return u, nil
}

func (u *Uniques) fresh() *hll.Sketch {
	s, err := hll.New(u.sketch)
	if err != nil {
		panic(fmt.Sprintf("hotcount/window: options that NewUniques accepted: %v", err)) // cannot happen
	}
	return s
}

func emptySketch(s *hll.Sketch) bool { return s.Estimate().Count == 0 }

// Add counts b in the live bucket. It costs one atomic load more than adding to
// the sketch, and reads no clock.
func (u *Uniques) Add(b []byte) { u.r.cur.Load().Add(b) }

// AddString is Add for a string.
func (u *Uniques) AddString(s string) { u.r.cur.Load().AddString(s) }

// AddHash is Add for an element hashed by the caller, as hll.Sketch's AddHash.
func (u *Uniques) AddHash(h uint64) { u.r.cur.Load().AddHash(h) }

// Last returns how many distinct elements were added in the last d, from the
// beginning of the bucket that d ago was in. It merges the buckets, which takes
// time and memory of one sketch for the result.
func (u *Uniques) Last(d time.Duration) UniquesSpan {
	merged, from := u.merge(d)
	e := merged.Estimate()
	s := u.r.span(from)
	return UniquesSpan{e, s.Covered, s.Gap}
}

// Sketch returns a sketch of the elements that Last counts. It is the caller's.
func (u *Uniques) Sketch(d time.Duration) *hll.Sketch {
	merged, _ := u.merge(d)
	return merged
}

func (u *Uniques) merge(d time.Duration) (merged *hll.Sketch, from int64) {
	parts, from := u.r.last(d)
	merged = u.fresh()
	for _, p := range parts {
		u.mustMerge(merged, p)
	}
	return merged, from
}

// mustMerge merges sketches of this window, which have the same options.
func (u *Uniques) mustMerge(into, from *hll.Sketch) {
	if err := into.Merge(from); err != nil {
		panic(fmt.Sprintf("hotcount/window: sketches of one window: %v", err)) // cannot happen
	}
}

// Size returns the bytes of memory that the sketches of all buckets take.
func (u *Uniques) Size() (bytes int) {
	u.r.all(func(_ stretch, _ int64, s *hll.Sketch) {
		if s != nil {
			bytes += s.Size()
		}
	})
	return bytes
}

// A SketchRow is some of a Uniques window as plain data, for a snapshot, as a
// Row is of a Ring. A row without a Sketch is watched time in which nothing was
// added.
type SketchRow struct {
	Start  int64 // Unix nanoseconds
	Width  time.Duration
	Scheme hll.Scheme
	Sketch []byte // in the format of hll.Sketch's AppendBinary
}

// AppendRows appends the window's rows to dst, oldest first, for Restore in a
// later run. It copies every sketch.
func (u *Uniques) AppendRows(dst []SketchRow) []SketchRow {
	u.r.all(func(at stretch, start int64, s *hll.Sketch) {
		row := SketchRow{Start: start, Width: time.Duration(at.to - at.from)}
		if s != nil && !emptySketch(s) {
			row.Scheme = s.Scheme()
			row.Sketch, _ = s.AppendBinary(nil) // the error is always nil
		}
		dst = append(dst, row)
	})
	return dst
}

// Restore puts the rows of an earlier run into the window, in place of all
// closed buckets. The live bucket stays. The time since the last row is marked
// as a gap.
//
// Sketches that are finer than the window's are folded. The error wraps ErrRows,
// hll.ErrFormat, hll.ErrScheme or hll.ErrPrecision, or is ErrClosed; the window
// is then as it was.
func (u *Uniques) Restore(rows []SketchRow) error {
	at := make([]stretch, len(rows))
	sketches := make([]*hll.Sketch, len(rows))
	for i, r := range rows {
		at[i] = stretch{r.Start, r.Start + int64(r.Width)}
		if len(r.Sketch) == 0 {
			continue
		}
		s, err := u.decode(r)
		if err != nil {
			return fmt.Errorf("hotcount/window: row %d of %d: %w", i, len(rows), err)
		}
		sketches[i] = s
	}
	now, wall := u.r.sampler.moment()
	outages, err := lay(at, wall, now)
	if err != nil {
		return err
	}
	return u.r.restore(at, sketches, outages, now)
}

// decode returns the row's sketch with the options of the window.
func (u *Uniques) decode(r SketchRow) (*hll.Sketch, error) {
	s := u.fresh()
	if r.Scheme != s.Scheme() {
		return nil, fmt.Errorf("%w: %v in a window of %v", hll.ErrScheme, r.Scheme, s.Scheme())
	}
	if err := s.UnmarshalBinary(r.Sketch); err != nil {
		return nil, err
	}
	same := u.fresh()
	return same, same.Merge(s)
}

// Close takes the window off its sampler. It may be called more than once.
func (u *Uniques) Close() { u.r.close() }
