package truth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	table, err := Read("t.csv", strings.NewReader("series,total\njobs_total,-5\n\"b_total{z=\"\"1\"\",a=\"\"x,\\\"\"\n\"\"}\",7\n"))
	require.Error(t, err, "a newline in a value is written as \\n")
	assert.Nil(t, table)
	table, err = Read("t.csv", strings.NewReader("series,total\njobs_total,-5\n\"b_total{z=\"\"1\"\",a=\"\"x,\\n\"\"}\",7\n"))
	require.NoError(t, err)
	require.Len(t, table.Rows, 2)
	assert.Equal(t, "jobs_total", table.Rows[0].Key.String())
	assert.EqualValues(t, -5, table.Rows[0].Total)
	assert.Equal(t, `b_total{a="x,\n",z="1"}`, table.Rows[1].Key.String(), "labels in order")
}

// What is no row is an error that says where.
func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a,1\nb,1,1\n":            "wrong number of fields",
		"a,1\nb\n":                "line 2",
		"a,1\nb{,1\n":             "t.csv: line 2: ",
		"a,one\n":                 `t.csv: line 1: total "one" is no integer`,
		"a,9223372036854775808\n": "no integer of 64 bits",
		"a,1\nb,1\na,2\n":         `t.csv: line 3: "a" is on line 1 already`,
		"\"a{x=\"\"1\"\",y=\"\"2\"\"}\",1\n\"a{y=\"\"2\"\",x=\"\"1\"\"}\",1\n": "is on line 1 already",
		"hotcount_series,1\n":                       "a series of the engine itself",
		"\"a{hotcount_overflow=\"\"true\"\"}\",1\n": "has no truth",
		"series,total\nseries,total\n":              "no integer",
		"\"a,1\n":                                   "t.csv: ",
	} {
		_, err := Read("t.csv", strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("series,total\njobs_total,1\n")
	f.Add("\"a{x=\"\"1\"\"}\",-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Read("f", strings.NewReader(text))
		if err != nil {
			require.Nil(t, table)
			return
		}
		seen := map[string]bool{}
		for _, row := range table.Rows {
			require.False(t, seen[row.Key.String()])
			seen[row.Key.String()] = true
		}
	})
}
