package sinks

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/lifetime"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

const dirScheme = "file:"

func openDir(_ context.Context, address string) (Sink, error) {
	return filesink.Open(filesink.Options{Dir: dirOf(address)})
}

// dirOf returns the directory of file:DIR and, since people will write it,
// file://DIR.
func dirOf(address string) string {
	return strings.TrimPrefix(strings.TrimPrefix(address, dirScheme), "//")
}

// readDir takes no lock, so that a directory in use can be read.
func readDir(_ context.Context, address string) (Reader, error) {
	return &dirReader{dir: dirOf(address)}, nil
}

// A dirReader reads a directory anew for each answer, save for the pages that
// follow a first one.
type dirReader struct {
	dir string

	mu     sync.Mutex
	totals *lifetime.Totals
}

func (r *dirReader) load(q export.Query) (*lifetime.Totals, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.totals == nil || q.After.IsZero() {
		t, err := lifetime.Load(r.dir)
		if err != nil {
			return nil, err
		}
		r.totals = t
	}
	return r.totals, nil
}

func (r *dirReader) Totals(_ context.Context, q export.Query) ([]export.CounterTotal, error) {
	t, err := r.load(q)
	if err != nil {
		return nil, err
	}
	var page []export.CounterTotal
	for _, c := range t.Counters {
		if len(page) < limitOf(q) && selected(q, c.Text) {
			page = append(page, export.CounterTotal{Key: c.Key, Value: c.Value, Writers: c.Writers})
		}
	}
	return page, nil
}

func (r *dirReader) Uniques(_ context.Context, q export.Query) ([]export.UniquesTotal, error) {
	t, err := r.load(q)
	if err != nil {
		return nil, err
	}
	var page []export.UniquesTotal
	for _, u := range t.Uniques {
		if len(page) < limitOf(q) && selected(q, u.Text) {
			page = append(page, export.UniquesTotal{Key: u.Key, Sketch: u.Sketch})
		}
	}
	return page, nil
}

// Window cuts the newest window of the series, which has the rows of earlier runs,
// into buckets.
func (r *dirReader) Window(_ context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	t, err := r.load(export.Query{})
	if err != nil {
		return nil, err
	}
	counts := map[int64]int64{}
	for _, w := range t.Windows {
		if w.Key != key {
			continue
		}
		for _, row := range w.Rows {
			if row.Resolution == resolution && row.Count != 0 {
				counts[row.Bucket()] += row.Count
			}
		}
	}
	var buckets []export.BucketTotal
	for _, start := range slices.Sorted(maps.Keys(counts)) {
		if start := time.Unix(0, start); !start.Before(from) && start.Before(to) {
			buckets = append(buckets, export.BucketTotal{Start: start, Count: counts[start.UnixNano()]})
		}
	}
	return buckets, nil
}

func (r *dirReader) Close() error { return nil }

func limitOf(q export.Query) int {
	if q.Limit == 0 {
		return export.DefaultLimit
	}
	return q.Limit
}

func selected(q export.Query, text string) bool {
	return strings.HasPrefix(text, q.Prefix) && text > q.After.String()
}
