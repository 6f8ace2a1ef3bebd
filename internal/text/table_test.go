package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	table := NewTable(">hits", "path", ">share")
	table.Row("1,000", "/ä", "9 %")
	table.Row("7", "/longer", "")
	assert.Equal(t, 2, table.Len())
	var b strings.Builder
	require.NoError(t, table.Write(&b, "> "))
	assert.Equal(t, ">  hits  path     share\n> 1,000  /ä         9 %\n>     7  /longer\n", b.String())
}
