package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/cmd/internal/size"
	"github.com/hotcount/hotcount/internal/cli"
)

// measured are the flags with which nothing is measured.
var measured = []string{"size", "-ceiling", "6e7", "-line", "40", "-cores", "64"}

func TestSize(t *testing.T) {
	assert.Contains(t, succeed(t, "", append(measured, "-peak", "3e7")...), "one atomic is enough")
	assert.Contains(t, succeed(t, "", append(measured, "-peak", "1e9")...), "N = 32")
	var p size.Plan
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", append(measured, "-json", "-peak", "1e9")...)), &p))
	assert.Equal(t, 32, p.Stripes)
	assert.NotEmpty(t, p.Decisions)
}

// Nothing is given to the command to measure here.
func TestSizeMeasures(t *testing.T) {
	var p size.Plan
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "size", "-json", "-peak", "1")), &p))
	assert.True(t, p.OneAtomic)
	assert.Positive(t, p.Costs.Ceiling)
}

func TestSizeErrors(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"-peak", "0"},
		{"-peak", "-1"},
		{"-peak", "NaN"},
		{"-peak", "Inf"},
		{"-peak", "1", "argument"},
		{"-peak", "1", "-kind", "gauge"},
		{"-peak", "1", "-reads", "-1"},
		{"-peak", "1", "-fresh", "-1s"},
		{"-peak", "1", "-error", "1"},
		{"-peak", "1", "-series", "0"},
		{"-peak", "1", "-series", "1e18"},
		{"-peak", "1", "-ceiling", "-1"},
		{"-peak", "1", "-cores", "1000000"},
		{"-peak", "1", "-kind", "windows", "-window", "1us"},
		{"-peak", "1", "-kind", "windows", "-window", "9000h"},
		{"-peak", "1", "-kind", "uniques", "-error", "1e-9"},
	} {
		status, stdout, stderr := command(t, "", append(measured, args...)...)
		assert.Equal(t, cli.ExitUsage, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotcount size: .*; see hotcount size -h\n$`, stderr, args)
	}
	status, stdout, stderr := command(t, "", append(measured, "-peak", "1e18")...)
	assert.Equal(t, cli.ExitFailure, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "needs more than 65536 stripes")
}
