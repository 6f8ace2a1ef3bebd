package hotcount

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// A snapshot's sketch holds every element whose Add returned before it.
func TestSnapshotHoldsUniques(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	v := e.UniquesVec("visitors", "page")
	var wg sync.WaitGroup
	const writers, each = 4, 500
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				v.With("home").AddString(fmt.Sprint(w*each/2 + i)) // half are another's too
			}
		})
	}
	wg.Wait()
	v.With("home").Add([]byte("0"))
	s := l.sweep(e)
	require.Len(t, s.Uniques, 1)
	row := s.Uniques[0]
	assert.Equal(t, `visitors{page="home"}`, row.Key.String())

	var read, want hll.Sketch
	require.NoError(t, read.UnmarshalBinary(row.Sketch))
	for i := range (writers + 1) * each / 2 {
		want.AddString(fmt.Sprint(i))
	}
	assert.Equal(t, want.Estimate(), read.Estimate())
	assert.Equal(t, want.Estimate(), v.With("home").Estimate())
}

func TestUniquesHandles(t *testing.T) {
	e := newEngine(t, Options{})
	u := e.Uniques("visitors", "page", "home", "site", "a")
	assert.Same(t, u, e.Uniques("visitors", "site", "a", "page", "home"))
	assert.Same(t, u, e.UniquesVec("visitors", "site", "page").With("a", "home"))
	u.AddHash(1 << 60)
	assert.EqualValues(t, 1, u.Sketch().Estimate().Count)
	assert.Equal(t, `visitors{page="home",site="a"}`, u.Key().String())
}

// A row that is damaged, or coarser than the engine's sketches, is refused.
func TestMergeRowRefuses(t *testing.T) {
	fine, err := hll.New(hll.Options{})
	require.NoError(t, err)
	coarse, err := hll.New(hll.Options{Precision: 10})
	require.NoError(t, err)
	for i := range 10_000 {
		coarse.AddString(fmt.Sprint(i))
	}
	encoded, err := coarse.AppendBinary(nil)
	require.NoError(t, err)
	for _, c := range []struct {
		row  snapshot.UniquesRow
		want error
	}{
		{snapshot.UniquesRow{Scheme: hll.Options{Seed: 7}.Scheme(), Sketch: encoded}, hll.ErrScheme},
		{snapshot.UniquesRow{Sketch: encoded}, hll.ErrPrecision},
		{snapshot.UniquesRow{Sketch: encoded[:9]}, hll.ErrFormat},
	} {
		require.ErrorIs(t, mergeRow(fine, c.row), c.want)
		assert.Zero(t, fine.Estimate().Count)
	}
}
