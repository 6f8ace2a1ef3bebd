package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Reports that are kept in the tree can be read, and say what they are of.
func TestResults(t *testing.T) {
	paths, err := filepath.Glob("results/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		r, err := Decode(f)
		require.NoError(t, err, path)
		require.NoError(t, f.Close())
		assert.NotEmpty(t, r.Commit, path)
		assert.NotEmpty(t, r.Command, path)
		assert.NotEmpty(t, r.Results, path)
	}
}
