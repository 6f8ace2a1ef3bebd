package browsertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
	"github.com/hotcount/hotcount/window"
)

// hostile would run in a page that took it for markup, in text or in an
// attribute, and hide its end where text may change direction.
const hostile = `"'><img src=x onerror="window.owned=1"><script>window.owned=1</script></title>` + "\u202e\xff"

const hostileShown = `{post="\"'><img src=x onerror=\"window.owned=1\"><script>window.owned=1</script></title>\u202e\xff"}`

// newEngine returns an engine in a directory, with something of all that the
// page shows.
func newEngine(t *testing.T) *hotcount.Engine {
	t.Helper()
	e, err := hotcount.New(hotcount.Options{Dir: t.TempDir(), Interval: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })

	views := e.CounterVec("post_views_total", "post")
	for i := range 40 {
		views.With(fmt.Sprint(i + 1)).Add(int64(100_000 / (i + 1)))
	}
	views.With(hostile).Add(1_000_000)
	_, err = e.WindowVec(views, window.Options{})
	require.NoError(t, err)
	e.Counter("jobs_total", "queue", "mail").Add(9_007_199_254_740_993) // 2^53 + 1
	visitors := e.Uniques("visitors")
	for i := range 50_000 {
		visitors.AddString(fmt.Sprint(i))
	}
	e.Uniques("readers", "post", hostile).AddString("me")
	events, err := e.Events("orders", window.EventsOptions{Resolution: time.Second, Buckets: 60})
	require.NoError(t, err)
	for i := range 60 {
		events.AddAt(time.Now().Add(time.Duration(i-59)*time.Second), int64(20+i%7*3))
	}
	return e
}

// A crowd adds to counters until the test ends.
func crowd(t *testing.T, e *hotcount.Engine) {
	views := e.CounterVec("post_views_total", "post")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	for g := range 2 {
		go func() {
			defer func() { done <- struct{}{} }()
			r := rand.New(rand.NewPCG(uint64(g), 1))
			zipf := rand.NewZipf(r, 1.3, 1, 39)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					viral := views.With("7")
					for range 2_000 {
						viral.Inc()
					}
					for range 200 + r.IntN(200) {
						views.With(fmt.Sprint(zipf.Uint64() + 1)).Inc()
					}
				}
			}
		}()
	}
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
	})
}

const rows = `document.querySelectorAll("#rows tbody tr")`

// total is the total of post 7, as the page shows it, NaN if it does not.
const total = `Number([...` + rows + `].find(row => row.textContent.includes('post="7"'))?.cells[1].textContent.replaceAll(",", ""))`

func TestPageRendersAndRises(t *testing.T) {
	b := openTab(t)
	e := newEngine(t)
	crowd(t, e)
	_, url := serve(t, e, live.Options{Title: "blog", Interval: 200 * time.Millisecond})
	b.show(t, look{"", 1280, 900, "light"})
	b.do(t, chromedp.Navigate(url))
	b.waitFor(t, rows+`.length === 20`)
	b.waitFor(t, `document.title === "blog"`)
	b.waitFor(t, `document.getElementById("state").dataset.state === "live"`)

	b.waitFor(t, total+` > 0`)
	before := eval[float64](t, b, total)
	b.waitFor(t, fmt.Sprintf("%s > %f", total, before))
	b.waitFor(t, `document.querySelectorAll("#rows .spark polyline").length >= 19`)
	b.waitFor(t, `document.querySelector("#history polyline") !== null`)
	assert.Contains(t, b.text(t, "matches"), "20 shown")
	assert.Contains(t, b.text(t, "uniques"), "visitors")
	assert.Contains(t, b.text(t, "windows"), "orders")
	assert.Contains(t, b.text(t, "exports"), "in step")
	assert.Empty(t, b.said(), "the console is silent")
}

func TestHostileLabelsAreText(t *testing.T) {
	b := openTab(t)
	_, url := serve(t, newEngine(t), live.Options{Title: hostile})
	b.do(t, chromedp.Navigate(url))
	b.waitFor(t, rows+`.length === 20`)
	assert.Contains(t, b.text(t, "rows"), hostileShown)
	assert.Contains(t, b.text(t, "uniques"), hostileShown)
	assert.Contains(t, b.text(t, "title"), `<script>window.owned=1</script>`)
	assert.False(t, eval[bool](t, b, `window.owned !== undefined`))
	assert.Zero(t, eval[int](t, b, `document.querySelectorAll("img, main script").length`))
	assert.Empty(t, b.said())
}

func TestSearchAndOrder(t *testing.T) {
	b := openTab(t)
	_, url := serve(t, newEngine(t), live.Options{})
	b.do(t, chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("#rows tbody tr")))
	b.do(t, chromedp.SendKeys(chromedp.ID("query"), "VIEWS 3"))
	b.waitFor(t, rows+`.length === 13`) // 3, 13, 23, 30 to 39
	assert.Equal(t, "13 of 42 series match", b.text(t, "matches"))
	b.waitFor(t, `document.getElementById("announce").textContent === "13 of 42 series match"`)
	b.waitFor(t, `document.getElementById("uniques").hidden`)

	b.search(t, "no such series")
	b.waitFor(t, `document.querySelector("#rows .empty")?.textContent === "No series matches."`)

	b.search(t, "total")
	b.do(t, chromedp.Evaluate[chromedp.Void](`{const by = document.getElementById("by"); by.value = "total"; by.dispatchEvent(new Event("change"));}`))
	b.waitFor(t, `document.querySelector("#rows tbody td.number")?.textContent === "9,007,199,254,740,993"`)
	assert.Empty(t, b.said())
}

// search replaces what is searched for.
func (b *browser) search(t *testing.T, words string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{const q = document.getElementById("query"); q.value = %q; q.dispatchEvent(new Event("input"));}`, words)))
}

// Pausing ends the stream, also for the server, and the page comes back by
// itself after the server was away.
func TestPauseAndReconnect(t *testing.T) {
	b := openTab(t)
	e := newEngine(t)
	page, url := serve(t, e, live.Options{Interval: 100 * time.Millisecond})
	b.do(t, chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("#rows tbody tr")))
	b.do(t, chromedp.Click(chromedp.ID("pause")))
	b.waitFor(t, `document.getElementById("state").textContent === "paused"`)
	b.do(t, chromedp.Click(chromedp.ID("pause")))
	b.waitFor(t, `document.getElementById("state").textContent === "live"`)
	page.Close()
	b.waitFor(t, `document.getElementById("state").dataset.state === "lost"`)
}

// The page follows the user's colours and fits a telephone.
func TestLooks(t *testing.T) {
	b := openTab(t)
	e := newEngine(t)
	crowd(t, e)
	_, url := serve(t, e, live.Options{Title: "blog", Interval: 200 * time.Millisecond})
	b.do(t, chromedp.Navigate(url))
	b.waitFor(t, `document.querySelectorAll("#rows .bars rect").length >= 2 || navigator.hardwareConcurrency === 1`)
	b.waitFor(t, `document.querySelector("#history polyline")?.points.length >= 10`)
	backgrounds := map[string]bool{}
	for _, l := range []look{
		{"light", 1280, 900, "light"}, {"dark", 1280, 900, "dark"},
		{"narrow-light", 375, 800, "light"}, {"narrow-dark", 375, 800, "dark"}, {"medium", 800, 900, "light"},
	} {
		b.show(t, l)
		backgrounds[eval[string](t, b, `getComputedStyle(document.body).backgroundColor`)] = true
		assert.False(t, eval[bool](t, b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`), "%s scrolls sideways", l.name)
		b.keep(t, l.name)
	}
	assert.Len(t, backgrounds, 2)
	assert.Empty(t, b.said())
}
