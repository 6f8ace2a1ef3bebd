package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/bench"
)

// report returns a report with results of every kind, like those of a full run.
func report() *bench.Report {
	r := &bench.Report{
		Machine: bench.Machine{CPU: "Engine 9", Cores: 4, Procs: 4, Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Command: "hotbench run", Commit: "0123abc", Date: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Samples: 6, Noise: bench.Noise{Disturbed: 0.25, Busy: 0.9, Steal: -1},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	add := func(res bench.Result) {
		for range 6 {
			res.OpsPerSecond = append(res.OpsPerSecond, 1e6+1e8*rng.Float64())
		}
		r.Results = append(r.Results, res)
	}
	for _, g := range []int{1, 4, 4096} {
		for _, impl := range []string{"hotcount", "atomic", "mutex"} {
			add(bench.Result{Workload: "add", Impl: impl, Goroutines: g, Keys: "one",
				Latency: &bench.Percentiles{Samples: 9, P50: 5, P90: 7, P99: 9, P999: 30, Max: 1e6}, BytesPerCounter: 64})
		}
		add(bench.Result{Workload: "lookup", Impl: "victoria", Goroutines: g, Keys: "zipf", ReadPercent: 10})
		for _, n := range []int{1, 2, 8} {
			shares := make([]float64, n)
			shares[n-1] = 1
			add(bench.Result{Workload: "add", Impl: "hotcount", Stripes: n, Pick: "PerP", Goroutines: g, Keys: "one", StripeShares: shares})
		}
	}
	return r
}

// parse reads XML to its end and returns its texts and how many elements of each
// name there are.
func parse(t *testing.T, document []byte) (text string, elements map[string]int) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(document))
	d.Entity = nil // of HTML's there are none
	elements = make(map[string]int)
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), elements
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			for _, a := range token.Attr {
				assert.NotRegexp(t, `(?i)^(on|src|srcset|data$)`, a.Name.Local, "nothing is run or fetched")
				if a.Name.Local == "href" {
					assert.Regexp(t, `^#`, a.Value, "links stay in the page")
				}
			}
		case xml.CharData:
			b.Write(token)
		}
	}
}

// Everything that a report names is on the page, which is well-formed.
func TestPageHasEverything(t *testing.T) {
	r := report()
	var b bytes.Buffer
	require.NoError(t, WriteHTML(&b, r))
	text, elements := parse(t, b.Bytes())
	for _, want := range append(r.Caveats(), "Engine 9", "4 cores", "go1.26.8", r.Command, r.Commit, "2026-05-04T03:02:01Z", "25.0 %", "not known") {
		assert.Contains(t, text, want)
	}
	for i := range r.Results {
		assert.Contains(t, text, r.Results[i].Workload)
		assert.Contains(t, text, r.Results[i].Impl)
	}
	figures, err := Figures(r)
	require.NoError(t, err)
	assert.Len(t, figures, 4)
	for _, f := range figures {
		assert.Contains(t, text, f.Title)
		assert.Contains(t, text, f.Text)
	}
	assert.Equal(t, len(figures), elements["svg"])
	assert.Equal(t, len(figures), elements["figure"])
	assert.Equal(t, 2, elements["table"])
	assert.Equal(t, len(r.Results)+2, elements["tr"], "a row for each result, and headings")
	assert.Zero(t, elements["script"])
}

// A figure names its lines, and is a document with a title and a description.
func TestFigures(t *testing.T) {
	figures, err := Figures(report())
	require.NoError(t, err)
	for i := range figures {
		var b bytes.Buffer
		require.NoError(t, figures[i].WriteSVG(&b))
		text, elements := parse(t, b.Bytes())
		assert.Equal(t, []int{1, 1, 1}, []int{elements["svg"], elements["title"], elements["desc"]})
		assert.Contains(t, text, figures[i].Title)
		assert.Contains(t, text, figures[i].Text)
		if i == 0 {
			for _, name := range []string{"hotcount", "atomic", "mutex", "4,096", "goroutines"} {
				assert.Contains(t, text, name)
			}
		}
	}
}

// Reports with little in them have a page, too.
func TestSmallReports(t *testing.T) {
	for want, results := range map[string][]bench.Result{
		"The report has no results.": nil,
		"lonely":                     {{Workload: "add", Impl: "lonely", Goroutines: 1, Keys: "one", OpsPerSecond: []float64{1}}},
		"12345":                      {{Workload: "12345", Impl: "x", Goroutines: 2, Keys: "k"}},
	} {
		r := report()
		r.Results = results
		var b bytes.Buffer
		require.NoError(t, WriteHTML(&b, r))
		text, elements := parse(t, b.Bytes())
		assert.Contains(t, text, want)
		assert.Zero(t, elements["svg"])
	}
	require.NoError(t, WriteHTML(io.Discard, &bench.Report{}))
}

// Names that attack the page are text on it. Reports do not have to come from
// Decode, which would refuse them.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</svg></style><script>`,
		`' onload='x`, `]]>`, `<text stroke:#000000`, "\x00\x1b[31m\u202e\xff", strings.Repeat("x", 5000),
	} {
		r := report()
		r.Machine.CPU, r.Command, r.Commit, r.Machine.Go = name, name, name, name
		for i := range r.Results {
			res := &r.Results[i]
			res.Impl, res.Pick = name, name
			if i%2 == 0 {
				res.Workload, res.Keys = name, name
			}
		}
		var b bytes.Buffer
		require.NoError(t, WriteHTML(&b, r))
		text, elements := parse(t, b.Bytes())
		assert.Contains(t, text, printable(name))
		assert.NotZero(t, elements["svg"])
		assert.Equal(t, []int{0, 0, 1}, []int{elements["script"], elements["img"], elements["style"]})
		figures, err := Figures(r)
		require.NoError(t, err)
		for i := range figures {
			b.Reset()
			require.NoError(t, figures[i].WriteSVG(&b))
			parse(t, b.Bytes())
		}
	}
}

// Whatever the numbers are, there is a page.
func TestStrangeNumbers(t *testing.T) {
	strange := []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e-300, 1e300, math.MaxFloat64}
	for i, v := range strange {
		for _, where := range []func(r *bench.Result){
			func(r *bench.Result) { r.OpsPerSecond = []float64{v} },
			func(r *bench.Result) { r.OpsPerSecond[0], r.OpsPerSecond[5] = v, strange[(i+1)%len(strange)] },
			func(r *bench.Result) { r.StripeShares = []float64{v, v, 0.5} },
			func(r *bench.Result) { r.BytesPerCounter = v },
			func(r *bench.Result) { r.Latency = &bench.Percentiles{P50: v, P99: v, P999: v, Max: v} },
			func(r *bench.Result) { r.Goroutines, r.Stripes, r.ReadPercent = -1, -7, math.MaxInt },
			func(r *bench.Result) { r.StripeShares = make([]float64, 3) },
		} {
			r := report()
			for j := range r.Results[:[]int{1, len(r.Results)}[i%2]] { // one of them, or all
				where(&r.Results[j])
			}
			var b bytes.Buffer
			require.NoError(t, WriteHTML(&b, r), v)
			text, _ := parse(t, b.Bytes())
			assert.NotContains(t, text, "NaN million")
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 4096: "4,096", 1234567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		assert.Equal(t, want, grouped(n))
	}
}

// Ticks are even, begin at 0, and are neither few nor many.
func TestEvenTicks(t *testing.T) {
	for most := 1e-3; most < 1e6; most *= 1.07 {
		ticks := evenTicks(0, most)
		require.True(t, len(ticks) >= 3 && len(ticks) <= 7, "%d to %v", len(ticks), most)
		assert.Zero(t, ticks[0].Value)
		step := ticks[1].Value
		for i, tick := range ticks {
			assert.InEpsilon(t, 1+float64(i)*step, 1+tick.Value, 1e-9)
			assert.LessOrEqual(t, tick.Value, most)
			assert.Equal(t, fmt.Sprintf("%.4g", tick.Value), tick.Label)
		}
	}
}

// Lines can be told from the paper, light and dark, and numbers from their cells.
func TestContrast(t *testing.T) {
	for _, c := range lineColors {
		assert.GreaterOrEqual(t, contrast(c, color.White), 3.0, c)
		assert.GreaterOrEqual(t, contrast(c, color.RGBA{0x14, 0x18, 0x1D, 0xFF}), 3.0, c)
	}
	for v := 0; v < 256; v++ {
		grey := color.Gray{uint8(v)}
		assert.GreaterOrEqual(t, contrast(readableOn(grey), grey), 4.3)
	}
}

// A writer that fails is reported.
func TestWriteFails(t *testing.T) {
	broken := errors.New("disk full")
	assert.ErrorIs(t, WriteHTML(failing{broken}, report()), broken)
	figures, err := Figures(report())
	require.NoError(t, err)
	assert.ErrorIs(t, figures[0].WriteSVG(failing{broken}), broken)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
