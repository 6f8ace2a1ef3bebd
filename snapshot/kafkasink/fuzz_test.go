package kafkasink

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
)

// Whoever may commit offsets may leave anything there: it is an error, or the
// standing that would be written.
func FuzzStanding(f *testing.F) {
	offset, metadata := formatStanding(sinkkit.Standing{Seq: 7, Mark: sinkkit.NewMark(), Dead: true})
	f.Add(offset, metadata)
	f.Add(int64(-1), "")
	f.Fuzz(func(t *testing.T, offset int64, metadata string) {
		st, err := parseStanding(offset, metadata)
		if err != nil {
			require.ErrorIs(t, err, export.ErrForeign)
			return
		}
		again, err := parseStanding(formatStanding(st))
		require.NoError(t, err)
		assert.Equal(t, st, again)
	})
}
