package redissink

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// Whoever may write to the store may leave anything there. A row is then an error
// that says where, or a number.
func FuzzRow(f *testing.F) {
	f.Add(base, "00000000000000ff")
	f.Add(snapshot.NewWriterID().String(), strings.Repeat("\x00", 40))
	f.Add("", "")
	f.Fuzz(func(t *testing.T, writer, row string) {
		_, err := parseRow(writer, row)
		if err != nil {
			require.ErrorIs(t, err, export.ErrForeign)
		}
	})
}

// A standing that can be read is the one that would be written.
func FuzzStanding(f *testing.F) {
	st := sinkkit.Standing{Seq: 7, Mark: sinkkit.NewMark(), Pending: sinkkit.NewMark()}
	f.Add(formatStanding(st) + " 1")
	f.Add("7 00 00 L 1")
	f.Fuzz(func(t *testing.T, s string) {
		st, ok := parseStanding(s)
		if !ok {
			return
		}
		again, ok := parseStanding(formatStanding(st) + " 1")
		require.True(t, ok)
		assert.Equal(t, st, again)
	})
}

// So is a scheme.
func FuzzScheme(f *testing.F) {
	f.Add("xxhash")
	f.Add("redis")
	f.Add("xxhash seed 0123456789abcdef")
	f.Fuzz(func(t *testing.T, s string) {
		scheme, err := parseScheme(s)
		if err != nil {
			require.ErrorIs(t, err, export.ErrForeign)
			return
		}
		again, err := parseScheme(scheme.String())
		require.NoError(t, err)
		assert.Equal(t, scheme, again)
	})
}
