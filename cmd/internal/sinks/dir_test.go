package sinks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// However long the pages, together they are all series in order, each once.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	const series, runs = 20, 3
	for range runs {
		e, err := hotcount.New(hotcount.Options{Dir: dir})
		require.NoError(t, err)
		for i := range series {
			e.Counter("views_total", "post", fmt.Sprint(i)).Inc()
			e.Uniques("readers", "post", fmt.Sprint(i)).AddString("me")
		}
		require.NoError(t, e.Close(t.Context()))
	}
	r, err := Dir(dir).Reader(t.Context())
	require.NoError(t, err)
	for limit := 1; limit <= series+1; limit++ {
		var texts []string
		q := export.Query{Prefix: "views_total{", Limit: limit}
		for more := true; more; {
			page, err := r.Totals(t.Context(), q)
			require.NoError(t, err)
			for _, total := range page {
				q.After = total.Key
				texts = append(texts, total.Key.String())
				assert.EqualValues(t, runs, total.Value)
			}
			more = len(page) == limit
		}
		assert.Len(t, texts, series)
		assert.IsIncreasing(t, texts)
	}
	uniques, err := r.Uniques(t.Context(), export.Query{Prefix: "readers"})
	require.NoError(t, err)
	assert.Len(t, uniques, series)
	for _, u := range uniques {
		assert.EqualValues(t, 1, u.Sketch.Estimate().Count)
	}
	_, err = Dir("absent").Reader(t.Context())
	require.NoError(t, err, "only reading fails")
}

// The buckets of a directory hold what each run counted, whichever of them were
// going on when a run ended.
func TestBucketsOfADirectory(t *testing.T) {
	dir := t.TempDir()
	const runs = 3
	begin := time.Now().Truncate(time.Minute)
	var key series.Key
	for i := range runs {
		e, err := hotcount.New(hotcount.Options{Dir: dir})
		require.NoError(t, err)
		c := e.Counter("views_total")
		key = c.Key()
		_, err = e.Window(c, window.Options{Resolution: time.Minute, Buckets: 60})
		require.NoError(t, err)
		c.Add(int64(i + 1))
		require.NoError(t, e.Close(t.Context()))
	}
	r, err := Dir(dir).Reader(t.Context())
	require.NoError(t, err)
	sum := func(resolution time.Duration, from, to time.Time) (n int64) {
		buckets, err := r.Window(t.Context(), key, resolution, from, to)
		require.NoError(t, err)
		for _, b := range buckets {
			assert.Equal(t, b.Start.Truncate(resolution).UnixNano(), b.Start.UnixNano())
			n += b.Count
		}
		return n
	}
	end := time.Now()
	assert.EqualValues(t, 6, sum(time.Minute, begin, end))
	assert.Zero(t, sum(time.Second, begin, end))
	assert.Zero(t, sum(time.Minute, end.Add(time.Minute), end.Add(time.Hour)))
}
