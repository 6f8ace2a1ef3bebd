package export

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// A Reader reads back what all the writers of a fleet have exported to one
// store. Its methods are safe for concurrent use.
type Reader interface {
	// Totals returns the totals over all writers of the series that q
	// selects, in the order of their text form. If the store cannot give all
	// of them by the end of ctx, the error is a *PartialError and the totals
	// are those it gave.
	Totals(ctx context.Context, q Query) ([]CounterTotal, error)

	// Uniques does the same for distinct counts: each is the union of the
	// writers' sketches.
	Uniques(ctx context.Context, q Query) ([]UniquesTotal, error)

	// Window returns what all writers have added to a series, in buckets of
	// one resolution: those that begin at from or later and before to, oldest
	// first, without those in which nothing was added. A store keeps them for
	// a while, and may refuse a span of more than 100,000. By the end of ctx
	// the error is a *PartialError, as with Totals.
	//
	// Writers place what they count by their own wall clocks. What one
	// counted between its last snapshot and its end is missing.
	Window(ctx context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]BucketTotal, error)
}

// A Query selects a page of series, in the order of the text form of their keys,
// as Key.String writes it. The zero Query selects the first DefaultLimit series.
type Query struct {
	Prefix string     // with which the text form begins
	After  series.Key // only those after this: the last of the page before; zero for the first page
	Limit  int        // how many at most; 0 means DefaultLimit
}

// DefaultLimit is the length of a page of series that a Query gets if it does
// not say.
const DefaultLimit = 1000

// A CounterTotal is a counter's sum over its writers.
type CounterTotal struct {
	Key     series.Key
	Value   int64
	Writers int // whose rows are in it one by one; those that are dead are added up
}

// A UniquesTotal is a distinct count over those of its writers that hash elements
// in the same way.
type UniquesTotal struct {
	Key    series.Key
	Scheme hll.Scheme

	// Sketch has no seed, whatever Scheme says: a store keeps only a print of
	// one. It is for estimates and for merging with others of its Scheme.
	Sketch *hll.Sketch
}

// A BucketTotal is what all writers have added to a series in the resolution that
// begins at Start.
type BucketTotal struct {
	Start time.Time
	Count int64
}

// A PartialError says which parts of an answer are missing.
type PartialError struct {
	Missing []string // what the store names them, such as a node or a key
	Err     error    // why
}

func (p *PartialError) Error() string {
	return fmt.Sprintf("hotcount/export: the answer lacks %s: %v", strings.Join(p.Missing, ", "), p.Err)
}

// Unwrap returns Err.
func (p *PartialError) Unwrap() error { return p.Err }
