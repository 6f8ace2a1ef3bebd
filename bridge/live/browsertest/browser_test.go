package browsertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
	"github.com/hotcount/hotcount/internal/servertest"
)

var screenshots = flag.String("screenshots", "", "keep pictures of the page in this directory")

// TestMain ends the browser, and then looks for goroutines that are left.
func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// patience is how long a test may take. It is not a measure: a machine under
// load is slow.
const patience = 3 * time.Minute

// findBrowser returns the path of Chromium. Without one the test is skipped, or
// fails in CI.
func findBrowser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long, and cannot be started under emulation")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	servertest.Absent(t, "browser", errors.New("neither chromium nor google-chrome is installed"))
	return ""
}

// chromium is the one browser of all tests, nil before the first of them.
var (
	chromium   context.Context
	endBrowser = func() {}
)

// startChromium starts it with a profile of its own.
func startChromium(t *testing.T) {
	t.Helper()
	profile, err := os.MkdirTemp("", "browsertest")
	require.NoError(t, err)
	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(findBrowser(t)),
		chromedp.UserDataDir(profile),
		chromedp.Headless,
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(patience),
	)
	ctx, _ := chromedp.NewContext(allocator)
	require.NoError(t, chromedp.Do(ctx)) // starts it
	chromium = ctx
	endBrowser = func() {
		closing, cancelClosing := context.WithTimeout(ctx, patience)
		defer cancelClosing()
		if err := chromedp.Cancel(closing); err != nil {
			fmt.Fprintln(os.Stderr, "closing the browser:", err)
		}
		cancel()
		os.RemoveAll(profile)
	}
}

// A browser is one tab, and what its console said.
type browser struct {
	ctx context.Context

	mu       sync.Mutex
	messages []string
}

// openTab opens a tab of its own for a test.
func openTab(t *testing.T) *browser {
	t.Helper()
	if chromium == nil {
		startChromium(t)
	}
	b := new(browser)
	tab, cancelTab := chromedp.NewContext(chromium, chromedp.WithListener(b.listen))
	t.Cleanup(cancelTab)
	require.NoError(t, chromedp.Do(tab))
	ctx, cancel := context.WithTimeout(tab, patience)
	t.Cleanup(cancel)
	b.ctx = ctx
	return b
}

// listen notes what the console shows.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.messages = append(b.messages, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.messages = append(b.messages, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.messages = append(b.messages, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

// said returns what the console has shown so far.
func (b *browser) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.messages
}

func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(b.ctx, steps...))
}

// eval returns the value of a JavaScript expression.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return value
}

// waitFor waits until a JavaScript expression is true.
func (b *browser) waitFor(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)))
	require.NoError(t, err, "waiting for %s; the console said %q", expression, b.said())
}

// text returns what an element says.
func (b *browser) text(t *testing.T, id string) string {
	t.Helper()
	return eval[string](t, b, fmt.Sprintf("document.getElementById(%q).textContent", id))
}

// look is how the page looks to a user.
type look struct {
	name          string
	width, height int64
	scheme        string // of colours
}

func (b *browser) show(t *testing.T, l look) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(l.width, l.height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
	})
	require.NoError(t, err)
}

// keep writes a picture of the page, if pictures are wanted.
func (b *browser) keep(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644))
}

// serve serves the page of an engine on loopback.
func serve(t *testing.T, e *hotcount.Engine, o live.Options) (page *live.Page, url string) {
	t.Helper()
	page, err := live.New(e, o)
	require.NoError(t, err)
	server := httptest.NewServer(page)
	t.Cleanup(func() {
		page.Close()
		server.Close()
	})
	return page, server.URL + "/"
}
