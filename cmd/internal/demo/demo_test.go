package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
)

// lines calls f with each line that is written to it.
type lines struct {
	mu   sync.Mutex
	rest string
	f    func(line string)
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest += string(p)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(p), nil
		}
		l.rest = rest
		l.f(line)
	}
}

// run runs the demo over dir until it has shown a line of counts. A visitor
// likes post 100 and views it, n times.
func run(t *testing.T, dir string, visits int) *Result {
	e, err := hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	screen := &Screen{Dir: dir, W: &lines{f: func(line string) {
		if strings.HasPrefix(line, "Serving") {
			_, url, _ := strings.Cut(line, " at ")
			url, _, _ = strings.Cut(url, " ")
			for range visits {
				visit(t, http.MethodPost, url+"/posts/100/like", http.StatusOK)
				visit(t, http.MethodGet, url+"/posts/0100", http.StatusOK)
			}
		}
		if strings.HasSuffix(line, "/s") {
			cancel(errors.New("interrupted")) // a signal has a cause too
		}
	}}}
	r, err := Run(ctx, e, Options{Addr: "127.0.0.1:0", Clients: 3, Screen: screen})
	require.NoError(t, err)
	require.NoError(t, e.Close(t.Context()))
	saved, err := ReadBack(dir)
	require.NoError(t, err)
	r.CheckSaved(saved)
	return r
}

func visit(t *testing.T, method, url string, want int) {
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, want, resp.StatusCode)
}

// What the service counts is what the load and visitors sent, what is saved is
// what was counted, and the next run goes on from it.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	first := run(t, dir, 5)
	require.NoError(t, first.Err())
	assert.Positive(t, first.Sent)
	assert.EqualValues(t, 10, first.Visits)
	assert.Equal(t, first.Sent+first.Visits, first.Requests)
	assert.Equal(t, first.Requests, first.Views+first.Likes)
	assert.Nil(t, first.Restored)

	second := run(t, dir, 0)
	require.NoError(t, second.Err())
	assert.Equal(t, &Restored{1, first.Views, first.Likes}, second.Restored)
	assert.Equal(t, second.Sent, second.Requests)
	assert.Equal(t, first.Requests+second.Requests, second.Saved.Views+second.Saved.Likes)
}

func TestService(t *testing.T) {
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	s := newService(e)
	server := httptest.NewServer(s.handler())
	defer server.Close()
	for _, path := range []string{"/posts/0", "/posts/101", "/posts/-1", "/posts/x", "/posts/", "/", "/posts/1/like/"} {
		visit(t, http.MethodGet, server.URL+path, http.StatusNotFound)
	}
	visit(t, http.MethodGet, server.URL+"/posts/1/like", http.StatusMethodNotAllowed)
	assert.Zero(t, countsOf(e), "what is refused is not counted")
	assert.Zero(t, s.visits.read())

	visit(t, http.MethodGet, server.URL+"/posts/7", http.StatusOK)
	visit(t, http.MethodGet, server.URL+"/posts/+07", http.StatusOK)
	visit(t, http.MethodPost, server.URL+"/posts/7/like", http.StatusOK)
	want := counts{}
	want[7].views, want[7].likes = 2, 1
	assert.Equal(t, want, countsOf(e))
	assert.Equal(t, want, s.visits.read())
}

func TestAddressInUse(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	_, err = Run(t.Context(), e, Options{Addr: server.Listener.Addr().String(), Clients: 1, Screen: &Screen{W: io.Discard}})
	assert.Error(t, err)
}

// A request that fails ends the load, since it may or may not have counted.
func TestLoadFails(t *testing.T) {
	var mu sync.Mutex
	var answered int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if answered == 100 {
			http.Error(w, "no more", http.StatusTeapot)
			return
		}
		answered++
	}))
	defer server.Close()
	l := &load{url: server.URL, clients: 4}
	assert.ErrorContains(t, l.run(t.Context()), "418 I'm a teapot")
	sent := l.sent.read()
	assert.EqualValues(t, 100, sent.views()+sent.likes())
}

func TestDifferencesAreErrors(t *testing.T) {
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	r := newResult(e, counts{}, time.Second)
	require.NoError(t, r.Err())

	var sent, visits counts
	sent[3].views, visits[4].likes = 1, 1
	r.check(sent, visits)
	r.CheckSaved(Saved{counts: sent})
	assert.Equal(t, []string{
		"post 3: counted 0 views and 0 likes, sent 1 and 0",
		"post 4: counted 0 views and 0 likes, sent 0 and 1",
		"post 3: saved 1 views and 0 likes, counted 0 and 0",
	}, r.Differences)
	assert.EqualError(t, r.Err(), "3 differences between what was sent, counted and saved")
	assert.Contains(t, r.verdict(), "WRONG: post 3: saved")
	assert.NotContains(t, r.verdict(), "Checked")
}

func TestTable(t *testing.T) {
	var c, rate counts
	for id := 1; id <= posts; id++ {
		c[id].views, c[id].likes, rate[id].views = int64(100_000/id), int64(10_000/id), int64(1000/id)
	}
	want := `
    post          views        likes    views/s
       1        100,000       10,000      1,000  ████████████████████████
       2         50,000        5,000        500  ████████████
       3         33,333        3,333        333  ████████
       4         25,000        2,500        250  ██████
       5         20,000        2,000        200  █████
       6         16,666        1,666        166  ████
       7         14,285        1,428        142  ███
       8         12,500        1,250        125  ███
       9         11,111        1,111        111  ███
      10         10,000        1,000        100  ██
 90 more        225,797       22,546      2,215
     all        518,692       51,834      5,142
`
	assert.Equal(t, strings.TrimPrefix(want, "\n"), table(c, rate))
}

// A table is drawn over the one before, and leaves nothing of it.
func TestRedraw(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{W: &out, Terminal: true}
	s.erase()
	s.redraw("a\nb\n")
	s.redraw("c\nd\n")
	s.erase()
	assert.Equal(t, "a\x1b[K\nb\x1b[K\n"+"\x1b[2Ac\x1b[K\nd\x1b[K\n"+"\x1b[2A\x1b[J", out.String())
}

func TestStatusLine(t *testing.T) {
	var before, now, rate counts
	before[1].views = 1000
	now[1].views, now[2].likes, rate[1].views, rate[2].likes = 3000, 1, 1999, 1
	assert.Equal(t, "   3s  2,001 requests, 2,000/s\n", statusLine(now, before, 3*time.Second, rate))
	assert.Zero(t, ratePerSecond(before, now, 0))
}
