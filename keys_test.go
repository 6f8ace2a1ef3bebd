package hotcount

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile are label values that would meet if lengths, separators or encodings
// were mistaken, with one label or across two.
func hostile() []string {
	long := strings.Repeat("x", maxLabelBytes/2-1)
	values := []string{
		"", "\x00", "\x00\x00", "\x01", "\x01a", "a", "a\x00", "a\x01b", "\x03abc", "abc",
		"\xff", "\xff\xfe", "\xed\xa0\x80", "\x80", "\x80\x01", "\ufffd", "\u00e9", "e\u0301",
		`"`, `\`, `\"`, "\n", `\n`, ",", "=", "{", "}", `a",b="c`, "\x1f", "\x1e", ";", "|",
		long, long + "x", long[:len(long)-1] + "y",
	}
	for _, n := range []int{7, 8, 9, 15, 16, 17, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x3fff, 0x4000} {
		values = append(values, strings.Repeat("z", n), strings.Repeat("z", n-1)+"\x00")
	}
	return values
}

func eachHash(t *testing.T, f func(t *testing.T, e *Engine)) {
	t.Run("keyed", func(t *testing.T) { f(t, newEngine(t, Options{})) })
	t.Run("colliding", func(t *testing.T) {
		e := newEngine(t, Options{})
		collide(e)
		f(t, e)
	})
}

func TestHostileValuesStayApart(t *testing.T) {
	eachHash(t, func(t *testing.T, e *Engine) {
		one, two := e.CounterVec("one_total", "v"), e.CounterVec("two_total", "a", "b")
		type pair struct{ a, b string }
		counters := map[pair]*Counter{}
		seen := map[*Counter]bool{}
		for _, a := range hostile() {
			c := one.With(a)
			require.False(t, seen[c])
			seen[c] = true
			require.Equal(t, a, c.Key().Label("v"))
			if len(a) >= 1<<20 {
				continue // one label is enough of those
			}
			for _, b := range hostile()[:24] {
				c := two.With(a, b)
				require.False(t, seen[c])
				seen[c] = true
				counters[pair{a, b}] = c
			}
		}
		for p, c := range counters {
			require.Same(t, c, two.With(p.a, p.b))
			require.Same(t, c, e.Counter("two_total", "b", p.b, "a", p.a))
		}
	})
}

// Equal values of different families are different series.
func TestFamiliesStayApart(t *testing.T) {
	eachHash(t, func(t *testing.T, e *Engine) {
		seen := map[*Counter]string{}
		for i := range 200 {
			name := fmt.Sprintf("family%d_total", i)
			c := e.Counter(name, "l", "v")
			require.Empty(t, seen[c])
			seen[c] = name
		}
		for c, name := range seen {
			require.Same(t, c, e.Counter(name, "l", "v"))
			require.Equal(t, name, c.Key().Name())
		}
	})
}

func TestOrderOfLabelsDoesNotMatter(t *testing.T) {
	e := newEngine(t, Options{})
	c := e.Counter("http_requests_total", "method", "GET", "code", "200", "host", "a")
	assert.Same(t, c, e.Counter("http_requests_total", "host", "a", "code", "200", "method", "GET"))
	assert.Same(t, c, e.CounterVec("http_requests_total", "host", "method", "code").With("a", "GET", "200"))
	assert.Same(t, c, e.CounterVec("http_requests_total", "code", "host", "method").With("200", "a", "GET"))
	assert.Equal(t, `http_requests_total{code="200",host="a",method="GET"}`, c.Key().String())
}

// A series keeps no reference to the caller's strings.
func TestValuesAreCopied(t *testing.T) {
	e := newEngine(t, Options{})
	big := strings.Repeat("ab", 1<<10)
	c := e.Counter("views_total", "post", big[:2])
	assert.Len(t, c.labels, 1+2)
	assert.Equal(t, "ab", c.Key().Label("post"))
}

func TestDocumentedPanics(t *testing.T) {
	e := newEngine(t, Options{})
	e.Counter("jobs_total", "queue", "mail")
	e.Uniques("users")
	vec := e.CounterVec("pairs_total", "a", "b")
	odd := []string{"queue"}
	for what, f := range map[string]func(){
		"hotcount: metric jobs_total: label \"queue\" has no value":                                                                   func() { e.Counter("jobs_total", odd...) },
		"hotcount: jobs_total has labels [\"queue\"], not [\"host\"]":                                                                 func() { e.Counter("jobs_total", "host", "a") },
		"hotcount: jobs_total has labels [\"queue\"], not []":                                                                         func() { e.Counter("jobs_total") },
		"hotcount: jobs_total has labels [\"queue\"], not [\"queue\" \"queue\"]":                                                      func() { e.Counter("jobs_total", "queue", "a", "queue", "b") },
		"hotcount: pairs_total has labels [\"a\" \"b\"], not [\"a\" \"a\"]":                                                           func() { e.Counter("pairs_total", "a", "1", "a", "2") },
		"hotcount: pairs_total has 2 labels, got 1 values: [\"x\"]":                                                                   func() { vec.With("x") },
		"hotcount: pairs_total has 2 labels, got 3 values: [\"x\" \"y\" \"z\"]":                                                       func() { vec.With("x", "y", "z") },
		"hotcount: jobs_total is a counter, not a uniques":                                                                            func() { e.UniquesVec("jobs_total", "queue") },
		"hotcount: users is a uniques, not a counter":                                                                                 func() { e.Counter("users") },
		"hotcount: hotcount/series: invalid name: metric \"1st\" does not match [a-zA-Z_:][a-zA-Z0-9_:]*":                             func() { e.Counter("1st") },
		"hotcount: hotcount/series: invalid name: label \"a-b\" of metric \"x_total\" does not match [a-zA-Z_][a-zA-Z0-9_]*":          func() { e.CounterVec("x_total", "a-b") },
		"hotcount: hotcount/series: invalid name: label \"__name__\" of metric \"x_total\" begins with __, which Prometheus reserves": func() { e.Counter("x_total", "__name__", "a") },
		"hotcount: hotcount/series: invalid name: metric \"y_total\" has label \"a\" twice":                                           func() { e.CounterVec("y_total", "a", "a") },
		"hotcount: metric z_total: the label hotcount_overflow is reserved":                                                           func() { e.CounterVec("z_total", "hotcount_overflow") },
		"hotcount: metric name \"hotcount_series\": the prefix hotcount_ is reserved for the engine's own series": func() {
			e.Counter("hotcount_series")
		},
		"hotcount: Batch.Add of a nil Counter": func() { new(Batch).Inc(nil) },
	} {
		assert.PanicsWithValue(t, what, f)
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	for field, o := range map[string]Options{
		"Interval":            {Interval: -1},
		"Timeout":             {Timeout: -1},
		"Limits.FamilySeries": {Limits: Limits{FamilySeries: -1}},
		"Limits.Series":       {Limits: Limits{Series: -1}},
		"Limits.LabelBytes":   {Limits: Limits{LabelBytes: -1}},
		"Limits.IdleAfter":    {Limits: Limits{IdleAfter: -1}},
	} {
		_, err := New(o)
		assert.EqualError(t, err, "hotcount: Options."+field+" is negative")
	}
	var o Options
	o.Uniques.Precision = 99
	_, err := New(o)
	assert.ErrorContains(t, err, "hotcount: hotcount/hll: ")
}

func TestCountsWrap(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("wraps_total")
	c.Add(math.MaxInt64)
	c.Inc()
	assert.Equal(t, int64(math.MinInt64), c.Value())
	l.sweep(e)
	assert.Equal(t, int64(math.MinInt64), l.total(c))
}
