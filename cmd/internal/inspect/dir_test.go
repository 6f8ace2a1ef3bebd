package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
)

// What a directory counted is a number of events: bytes, times and views have no
// common sum.
func TestAmountsAreNotAddedToCounts(t *testing.T) {
	dir := t.TempDir()
	e, err := hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err)
	e.Counter("views_total").Add(5)
	e.Counter("clicks").Add(2)
	e.Counter("response_bytes_total").Add(1 << 40)
	e.Counter("request_duration_nanoseconds_total", "code", "200").Add(1e12)
	require.NoError(t, e.Close(t.Context()))
	d, err := ReadDir(dir)
	require.NoError(t, err)
	generation := d.Writers[0].Generations[0]
	require.EqualValues(t, 7, generation.Added)
	require.Equal(t, 4, generation.Series)
}
