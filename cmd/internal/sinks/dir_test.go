package sinks

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
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
		q := snapshot.Query{Prefix: "views_total{", Limit: limit}
		for more := true; more; {
			page, err := r.Totals(t.Context(), q)
			require.NoError(t, err)
			for _, total := range page {
				q.After = total.Key.String()
				texts = append(texts, q.After)
				assert.EqualValues(t, runs, total.Value)
			}
			more = len(page) == limit
		}
		assert.Len(t, texts, series)
		assert.IsIncreasing(t, texts)
	}
	uniques, err := r.Uniques(t.Context(), snapshot.Query{Prefix: "readers"})
	require.NoError(t, err)
	assert.Len(t, uniques, series)
	for _, u := range uniques {
		assert.EqualValues(t, 1, u.Sketch.Estimate().Count)
	}
	_, err = Dir("absent").Reader(t.Context())
	require.NoError(t, err, "only reading fails")
}
