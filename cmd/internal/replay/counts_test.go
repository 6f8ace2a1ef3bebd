package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func example() Counts {
	c := newCounts()
	c.series[linesTotal][""] = 5
	c.series[malformedTotal][""] = 0
	c.series[bytesTotal][""] = 100
	for path, n := range map[string]int64{"/a": 1, "/b": 2, "/c": 3} {
		c.series[pathTotal][path] = n
	}
	return c
}

// Verify sees any one change to the counts.
func TestVerify(t *testing.T) {
	v := Verify(example(), example())
	assert.Equal(t, Verification{Series: 6}, v)
	require.NoError(t, v.Err())

	for want, change := range map[string]func(Counts){
		"access_log_lines_total: the engine counted 6, exactly it is 5":                                                    func(c Counts) { c.series[linesTotal][""]++ },
		`access_log_requests_by_path_total "/b": the engine counted 1, exactly it is 2`:                                    func(c Counts) { c.series[pathTotal]["/b"]-- },
		`access_log_requests_by_path_total "/d": the engine counted 0, exactly there is none`:                              func(c Counts) { c.series[pathTotal]["/d"] = 0 },
		"access_log_requests_by_path_total: the engine's overflow series has 0, the 1 series that it lacks add up to 2":    func(c Counts) { delete(c.series[pathTotal], "/b") },
		"access_log_requests_by_path_total: the engine's overflow series has 1, the 0 series that it lacks add up to 0":    func(c Counts) { c.overflow[pathTotal] = 1 },
		"access_log_response_bytes_total: the engine's overflow series has 0, the 1 series that it lacks add up to 100":    func(c Counts) { delete(c.series[bytesTotal], "") },
		"access_log_requests_by_status_total: the engine's overflow series has -1, the 0 series that it lacks add up to 0": func(c Counts) { c.overflow[statusTotal] = -1 },
		`access_log_requests_by_method_total "GET": the engine counted 1, exactly there is none`:                           func(c Counts) { c.series[methodTotal]["GET"] = 1 },
	} {
		got := example()
		change(got)
		v := Verify(got, example())
		assert.Equal(t, []string{want}, v.Differences)
		assert.EqualError(t, v.Err(), fmt.Sprintf("%d of 6 series differ from an exact count", v.Different))
	}
}

// An overflow series that holds just what is missing is no difference.
func TestVerifyOverflow(t *testing.T) {
	got := example()
	delete(got.series[pathTotal], "/a")
	delete(got.series[pathTotal], "/c")
	got.overflow[pathTotal] = 4
	v := Verify(got, example())
	assert.Empty(t, v.Differences)
	assert.Equal(t, 6, v.Series)
}

func TestVerifyNamesTheFirstFew(t *testing.T) {
	got, exact := newCounts(), newCounts()
	for i := range 1000 {
		path := fmt.Sprintf("/%04d", i)
		got.series[pathTotal][path], exact.series[pathTotal][path] = 1, 2
	}
	v := Verify(got, exact)
	assert.Equal(t, 1000, v.Different)
	assert.Len(t, v.Differences, maxDifferences)
}
