package parsetest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// formats are what a server may ask for.
var formats = map[string]string{
	"text":        "text/plain;version=0.0.4",
	"openmetrics": "application/openmetrics-text;version=1.0.0",
	"protobuf":    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
}

// A sample is what a server stores of a series.
type sample struct {
	value float64
	start int64 // Unix milliseconds, 0 if the format does not tell
}

// scrape asks for a page as a server does, and parses it as one. It refuses a
// series that comes twice.
func scrape(t testing.TB, e *hotcount.Engine, format string) map[string]sample {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(prom.New(e, prom.Options{UpDown: []string{"connections"}})))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics:                   true,
		EnableOpenMetricsTextCreatedSamples: true,
	})
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", formats[format])
	page := httptest.NewRecorder()
	handler.ServeHTTP(page, request)
	require.Equal(t, http.StatusOK, page.Code, page.Body)
	got := page.Header().Get("Content-Type")
	require.True(t, strings.HasPrefix(got, strings.Split(formats[format], ";")[0]), got)

	parser, err := textparse.New(page.Body.Bytes(), got, labels.NewSymbolTable(),
		textparse.ParserOptions{OpenMetricsSkipSTSeries: true})
	require.NoError(t, err)
	samples := make(map[string]sample)
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return samples
		}
		require.NoError(t, err, "%s", page.Body)
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		name := series.WithoutEmpty().String() // as the server does
		require.NotContains(t, samples, name)
		require.True(t, series.IsValid(model.LegacyValidation), name)
		_, _, value := parser.Series()
		samples[name] = sample{value, parser.StartTimestamp()}
	}
}

// The server gets the same series from every format, and the start of counters
// from those that have it.
func TestServerReadsEveryKind(t *testing.T) {
	before := time.Now().Truncate(time.Second).UnixMilli()
	e := enginetest.New(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: 1}})
	jobs := e.CounterVec("jobs_total", "queue")
	_, err := e.WindowVec(jobs, window.Options{Resolution: time.Second, Buckets: 60})
	require.NoError(t, err)
	jobs.With("mail").Add(7)
	jobs.With("over").Add(2)
	e.Counter("connections").Add(-3)
	e.Uniques("visitors").AddString("x")
	orders, err := e.Events("orders", window.EventsOptions{Resolution: time.Minute, Buckets: 60})
	require.NoError(t, err)
	orders.AddAt(time.Now(), 5)

	want := map[string]float64{
		`{__name__="jobs_total", queue="mail"}`:               7,
		`{__name__="jobs_total", hotcount_overflow="true"}`:   2,
		`{__name__="jobs_window", queue="mail", window="1m"}`: 7,
		`{__name__="connections"}`:                            -3,
		`{__name__="visitors"}`:                               1,
		`{__name__="visitors_low"}`:                           1,
		`{__name__="visitors_high"}`:                          1,
		`{__name__="orders", window="1h"}`:                    5,
	}
	for format := range formats {
		got := scrape(t, e, format)
		for series, value := range want {
			require.Contains(t, got, series, format)
			assert.Equal(t, value, got[series].value, "%s: %s", format, series)
			if strings.Contains(series, "_total") && format != "text" {
				assert.GreaterOrEqual(t, got[series].start, before, "%s: %s", format, series)
			} else {
				assert.Zero(t, got[series].start, "%s: %s", format, series)
			}
		}
	}
}

// Names that OpenMetrics makes from one counter do not fail the scrape of others
// that look like them.
func TestServerReadsNamesThatLookAlike(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	e.Counter("jobs_total").Add(1)
	e.Uniques("jobs").AddString("x")
	e.Counter("jobs_created").Add(2)
	e.Counter("connections", "le", "1", "quantile", "2").Add(3)
	for format := range formats {
		got := scrape(t, e, format)
		for series, value := range map[string]float64{
			`{__name__="jobs_total"}`:                        1,
			`{__name__="jobs"}`:                              1,
			`{__name__="jobs_created_total"}`:                2,
			`{__name__="connections", le="1", quantile="2"}`: 3,
		} {
			require.Contains(t, got, series, format)
			assert.Equal(t, value, got[series].value, "%s: %s", format, series)
		}
	}
}

// Whatever bytes strangers send as label values, the server gets every series
// with the right count, apart from the others, in every format.
func FuzzLabelValues(f *testing.F) {
	for _, v := range []string{
		"GET", "", "\xff", "\xfe", "\ufffd", "\ufffdff", "a\\n\n\"b", "\x00", "東京", "} 1\n# EOF\n",
		"\u2028", "\r", "\xed\xa0\x80", strings.Repeat("long", 1<<10),
	} {
		f.Add(v, "x")
		f.Add("\xff", v)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		e := enginetest.New(t, hotcount.Options{})
		jobs := e.CounterVec("jobs_total", "x", "y")
		want := make(map[string]float64)
		for i, v := range [][2]string{{a, b}, {b, a}, {a, a}, {a + b, ""}, {"", a + b}} {
			jobs.With(v[0], v[1]).Add(int64(i) + 1)
			want[shown("jobs_total", "x", v[0], "y", v[1])] = float64(jobs.With(v[0], v[1]).Value())
		}
		first := jobs.With(a, b)
		require.NoError(t, e.Adjust(hotcount.Drift{Key: first.Key(), Counted: first.Value(), Truth: first.Value() + 1}))
		want[shown("jobs_total", "x", a, "y", b)]++
		want[shown("hotcount_adjustments", "series", first.Key().String())] = 1
		e.Uniques("visitors", "x", a).AddString(b)
		want[shown("visitors", "x", a)] = 1

		for format := range formats {
			got := scrape(t, e, format)
			for name := range got {
				if strings.Contains(name, `"hotcount_`) && !strings.Contains(name, `"hotcount_adjustments"`) ||
					strings.Contains(name, `"visitors_`) {
					delete(got, name)
				}
			}
			values := make(map[string]float64)
			for name, s := range got {
				values[name] = s.value
			}
			require.Equal(t, want, values, format)
		}
	})
}

// shown returns what a server calls a series: without empty labels.
func shown(name string, pairs ...string) string {
	b := labels.NewScratchBuilder(0)
	b.Add("__name__", name)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.Add(pairs[i], series.ToValidUTF8(pairs[i+1]))
		}
	}
	b.Sort()
	return b.Labels().String()
}
