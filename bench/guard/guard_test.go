package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"argument"}, {"-nonsense"}, {"-base", "-x"}, {"-pkg", ""}, {"-bench", "("},
		{"-benchtime", "soon"}, {"-benchtime", "0x"}, {"-rounds", "5"}, {"-tolerance", "-1"}, {"-tolerance", "NaN"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), t.TempDir(), args, &stdout, &stderr), args)
		assert.Empty(t, stdout.String())
		assert.NotEmpty(t, stderr.String())
	}
	assert.Equal(t, exitOK, run(t.Context(), t.TempDir(), []string{"-h"}, new(bytes.Buffer), new(bytes.Buffer)))
}

// A name is selected by its parts, and nothing else is.
func TestRegexp(t *testing.T) {
	b := &binary{pkg: "p"}
	for name, want := range map[string]string{
		"Add":                   `^BenchmarkAdd$`,
		"Add-8":                 `^BenchmarkAdd$`,
		"Add/impl=a.b/n=1-2":    `^BenchmarkAdd$/^impl=a\.b$/^n=1$`,
		"Add/impl=x(y)/procs=4": `^BenchmarkAdd$/^impl=x\(y\)$/^procs=4$`,
	} {
		assert.Equal(t, want, benchmark{b, name}.regexp())
	}
}
