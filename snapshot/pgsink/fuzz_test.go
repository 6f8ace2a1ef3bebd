package pgsink

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
)

// A sum is what int64 arithmetic makes of it, however long it is, or an error.
func FuzzSum(f *testing.F) {
	f.Add("-1")
	f.Add("9223372036854775808")
	f.Add("NaN")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseSum(s)
		if err != nil {
			require.ErrorIs(t, err, export.ErrForeign)
			return
		}
		want, ok := new(big.Int).SetString(s, 10)
		require.True(t, ok)
		modulus := new(big.Int).Lsh(big.NewInt(1), 64)
		want.Sub(want, big.NewInt(got)).Mod(want, modulus)
		assert.Zero(t, want.Sign(), "%s read as %d", s, got)
	})
}
