package rowstream

import (
	"context"
	"slices"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

type bucketID struct {
	resolution time.Duration
	start      int64
}

// fill takes a bucket into account. Those of writers that are gone stay: a stream
// forgets buckets by age.
func (f *Fold) fill(r *Row) {
	series := r.Key.String()
	buckets := f.windows[series]
	if buckets == nil {
		if f.windows == nil {
			f.windows = make(map[string]map[bucketID]map[snapshot.WriterID]newest)
		}
		buckets = make(map[bucketID]map[snapshot.WriterID]newest)
		f.windows[series] = buckets
	}
	id, row := bucketID{r.Resolution, r.Created}, newest{r.Seq, r.Value, r.Prior}
	if buckets[id] == nil {
		buckets[id] = make(map[snapshot.WriterID]newest)
	}
	if there, ok := buckets[id][r.Writer]; !ok || row.newer(there) {
		buckets[id][r.Writer] = row
	}
}

// Window implements export.Reader. It does not look at ctx.
func (f *Fold) Window(_ context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var buckets []export.BucketTotal
	for id, writers := range f.windows[key.String()] {
		start := time.Unix(0, id.start)
		if id.resolution != resolution || start.Before(from) || !start.Before(to) {
			continue
		}
		b := export.BucketTotal{Start: start}
		for w, row := range writers {
			b.Count += f.settled(w, row)
		}
		if b.Count != 0 {
			buckets = append(buckets, b)
		}
	}
	slices.SortFunc(buckets, func(a, b export.BucketTotal) int { return a.Start.Compare(b.Start) })
	return buckets, nil
}

// Forget lets go of all buckets that began before t, which a Fold that follows a
// stream does not do by itself.
func (f *Fold) Forget(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for series, buckets := range f.windows {
		for id := range buckets {
			if time.Unix(0, id.start).Before(t) {
				delete(buckets, id)
			}
		}
		if len(buckets) == 0 {
			delete(f.windows, series)
		}
	}
}
