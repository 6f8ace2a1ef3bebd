package replay

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files anew")

// sample is a report with all that a report can say, and a path that would take
// over the terminal.
func sample() *Report {
	r := &Report{
		Lines: 1_234_567, Malformed: 7, Bytes: 9_876_543_210, Clients: 4321,
		ByStatus:    map[string]int64{"200": 1_234_000, "404": 500, "-": 60},
		ByMethod:    map[string]int64{"GET": 1_234_560},
		UniquePaths: 2,
		TopPaths:    []PathHits{{"/?a=1&b=<2>", 1_000_000}, {"/\x1b[2J\xff", 3}},
		ByHour: []HourHits{
			{"2015-05-17T00:00Z", 1, 1}, {"2015-05-17T10:00Z", 74, 1}, {"2015-05-17T23:00Z", 800, 1},
			{"2015-05-19T12:00Z", 1600, 1},
		},
		Overflow:       map[string]int64{pathTotal: 234_557},
		ThisRun:        ThisRun{Lines: 1000, Malformed: 4, Bytes: 5000},
		Restored:       &Restored{Runs: 2, Lines: 1_233_567, Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		MalformedLines: []Malformed{{"access.log", 17, "no client at the start of the line"}},
		Verification:   &Verification{Series: 1597, Clients: &ClientsError{4321, 4300, 0.488, -2}},
	}
	r.Time(2, 250*time.Millisecond)
	return r
}

func TestGolden(t *testing.T) {
	differing := sample()
	differing.Verification = &Verification{Series: 1597, Different: 2, Differences: []string{"one"}}
	empty := &Report{}
	empty.Time(1, 0)
	for name, r := range map[string]*Report{"sample": sample(), "differing": differing, "empty": empty} {
		var table, json bytes.Buffer
		require.NoError(t, r.WriteTable(&table))
		require.NoError(t, r.WriteJSON(&json))
		golden(t, name+".txt", table.Bytes())
		golden(t, name+".json", json.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), name)
}

func TestTopPaths(t *testing.T) {
	hits := map[string]int64{"/b": 2, "/a": 2, "/c": 3, "/d": 1}
	all := []PathHits{{"/c", 3}, {"/a", 2}, {"/b", 2}, {"/d", 1}}
	for n := range 6 {
		assert.Equal(t, all[:min(n, 4)], topPaths(hits, n))
	}
}
