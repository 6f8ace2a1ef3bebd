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

// play runs the demo over dir until it has shown a line of counts. A visitor
// likes post 100 and views it, n times.
func play(t *testing.T, dir string, visits int) *Result {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	screen := &Screen{W: &lines{f: func(line string) {
		if _, url, ok := strings.Cut(line, "Live page: "); ok {
			url = strings.TrimSuffix(url, pagePath)
			for range visits {
				visit(t, http.MethodPost, url+"/posts/100/like", http.StatusOK)
				visit(t, http.MethodGet, url+"/posts/0100", http.StatusOK)
			}
			visit(t, http.MethodGet, url+"/", http.StatusOK)
		}
		if strings.Contains(line, "views and likes, ") {
			cancel(errors.New("interrupted")) // a signal has a cause too
		}
	}}}
	r, err := Run(ctx, Options{Addr: "127.0.0.1:0", Clients: 3, Dir: dir, Screen: screen})
	require.NoError(t, err)
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
	first := play(t, dir, 5)
	require.NoError(t, first.Err())
	assert.Positive(t, first.Sent)
	assert.EqualValues(t, 10, first.Visits)
	assert.Equal(t, first.Sent+first.Visits, first.Requests)
	assert.Equal(t, first.Requests, first.Views+first.Likes)
	assert.Nil(t, first.Restored)

	second := play(t, dir, 0)
	require.NoError(t, second.Err())
	assert.Equal(t, &Restored{1, first.Views, first.Likes}, second.Restored)
	assert.Equal(t, second.Sent, second.Requests)
	assert.Equal(t, first.Requests+second.Requests, second.Saved.Views+second.Saved.Likes)
}

// A whole run has a crowd and a restart, and all of it adds up.
func TestScenes(t *testing.T) {
	var said strings.Builder
	r, err := Run(t.Context(), Options{Addr: "127.0.0.1:0", Clients: 2, For: time.Second, Dir: t.TempDir(), Screen: &Screen{W: &said}})
	require.NoError(t, err)
	require.NoError(t, r.Err())
	assert.Equal(t, 1, r.Restarts)
	assert.Positive(t, r.Crowd)
	assert.Zero(t, r.Crowd%burst)
	assert.Equal(t, r.Sent+r.Crowd, r.Requests)
	assert.GreaterOrEqual(t, r.counts.posts[viralPost].views, r.Crowd)
	require.NotNil(t, r.Viral)
	assert.Equal(t, viralPost, r.Viral.Post)
	assert.Positive(t, r.Visitors.Exact)
	assert.LessOrEqual(t, r.Visitors.Low, r.Visitors.Estimate)
	assert.LessOrEqual(t, r.Visitors.Estimate, r.Visitors.High)
	assert.Contains(t, said.String(), "Post 42 goes viral")
	assert.Regexp(t, `Restart: the engine was closed after [\d,]+ views? and [\d,]+ likes?, and another one opened on .* has as many, post by post\.`, said.String())
}

// Other programs' counters in the directory are left alone, and told of.
func TestStrangersInTheDirectory(t *testing.T) {
	dir := t.TempDir()
	e, err := hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err)
	e.Counter("jobs_total").Add(7)
	require.NoError(t, e.Close(t.Context()))
	var said strings.Builder
	r, err := Run(t.Context(), Options{Addr: "127.0.0.1:0", Clients: 1, For: 100 * time.Millisecond, Dir: dir, Screen: &Screen{W: &said}})
	require.NoError(t, err)
	require.NoError(t, r.Err())
	assert.Contains(t, said.String(), "also has 1 counter that are not the demo's")
	e, err = hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err)
	assert.EqualValues(t, 7, e.Counter("jobs_total").Value())
	require.NoError(t, e.Close(t.Context()))
}

func TestService(t *testing.T) {
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	defer e.Close(t.Context())
	s, err := newService(e, new(ledger))
	require.NoError(t, err)
	server := httptest.NewServer(s.handler())
	defer server.Close()
	for _, path := range []string{"/posts/0", "/posts/101", "/posts/-1", "/posts/x", "/posts/", "/", "/posts/1/like/"} {
		visit(t, http.MethodGet, server.URL+path, http.StatusNotFound)
	}
	visit(t, http.MethodGet, server.URL+"/posts/1/like", http.StatusMethodNotAllowed)
	assert.Zero(t, countsOf(e), "what is refused is not counted")
	assert.Zero(t, s.others.read())

	visit(t, http.MethodGet, server.URL+"/posts/7", http.StatusOK)
	visit(t, http.MethodGet, server.URL+"/posts/+07", http.StatusOK)
	visit(t, http.MethodPost, server.URL+"/posts/7/like", http.StatusOK)
	want := counts{visitors: 3} // none of them kept the cookie
	want.posts[7].views, want.posts[7].likes = 2, 1
	assert.Equal(t, want, countsOf(e))
	assert.Equal(t, want, s.others.read())
	assert.EqualValues(t, 3, s.visitors.Estimate().Count)
}

// A visitor who comes again is one visitor.
func TestVisitorsComeAgain(t *testing.T) {
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	defer e.Close(t.Context())
	s, err := newService(e, new(ledger))
	require.NoError(t, err)
	server := httptest.NewServer(s.handler())
	defer server.Close()
	l := load{url: server.URL}
	client := server.Client()
	fresh, err := l.send(client, 1, false, nil)
	require.NoError(t, err)
	require.NotNil(t, fresh)
	for range 5 {
		again, err := l.send(client, 2, true, fresh)
		require.NoError(t, err)
		require.Nil(t, again)
	}
	assert.EqualValues(t, 1, countsOf(e).visitors)
	assert.EqualValues(t, 1, s.visitors.Estimate().Count)
	assert.EqualValues(t, 1, s.recent.Last(time.Minute).Count)
}

func TestAddressInUse(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	dir := t.TempDir()
	o := Options{Addr: server.Listener.Addr().String(), Clients: 1, Dir: dir, Screen: &Screen{W: io.Discard}}
	_, err := Run(t.Context(), o)
	require.Error(t, err)
	e, err := hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err, "the directory is free again")
	require.NoError(t, e.Close(t.Context()))
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
	r := &Result{Differences: []string{}}
	require.NoError(t, r.Err())

	var load, crowd, others counts
	load.posts[3].views, crowd.posts[42].views, others.posts[4].likes, others.visitors = 1, 5, 1, 1
	r.check(load, crowd, others)
	r.checkSaved(Saved{counts: load})
	assert.Equal(t, []string{
		"post 3: counted 0 views and 0 likes, sent 1 and 0",
		"post 4: counted 0 views and 0 likes, sent 0 and 1",
		"post 42: counted 0 views and 0 likes, sent 5 and 0",
		"visitors: counted 0, sent 1",
		"post 3: saved 1 views and 0 likes, counted 0 and 0",
	}, r.Differences)
	assert.EqualError(t, r.Err(), "5 differences between what was sent, counted and saved")
	assert.Contains(t, r.verdict(), "WRONG: post 3: saved")
	assert.NotContains(t, r.verdict(), "Checked")
}

// Others may add to a fleet's totals, and nobody may take away.
func TestFleetLacksNothing(t *testing.T) {
	r := &Result{Differences: []string{}}
	var before, now counts
	before.posts[1].views, now.posts[1].views, r.run.posts[1].views = 100, 150, 30
	r.checkFleet("store", now, before)
	require.NoError(t, r.Err())
	assert.Equal(t, &Fleet{"store", 150, 0, 20}, r.Fleet)
	now.posts[1].views = 120
	r.checkFleet("store", now, before)
	assert.Equal(t, []string{"post 1: the fleet lacks 10 views and 0 likes"}, r.Differences)
}

func TestTable(t *testing.T) {
	var c, rate counts
	for id := 1; id <= posts; id++ {
		c.posts[id].views, c.posts[id].likes, rate.posts[id].views = int64(100_000/id), int64(10_000/id), int64(1000/id)
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
	var run, rate counts
	run.posts[1].views, run.posts[2].likes, rate.posts[1].views, rate.posts[2].likes = 2000, 1, 1999, 1
	assert.Equal(t, "   3s         2,001 views and likes, 2,000/s; 1 visitor, estimated exactly\n",
		statusLine(3*time.Second, run, rate, Visitors{1, 1, 1, 1}))
	assert.Equal(t, "   3s         2,001 views and likes, 2,000/s; 20,000 visitors, estimate off by +1.0 %, bound ±1.5 %\n",
		statusLine(3*time.Second, run, rate, Visitors{20_000, 20_200, 19_900, 20_500}))
	assert.Equal(t, "              2,001 views and likes of the fleet\n", fleetLine(run, nil))
	assert.Equal(t, "      fleet: no answer: down\n", fleetLine(run, errors.New("down")))
	assert.Zero(t, ratePerSecond(run, run, 0))
}

func TestViral(t *testing.T) {
	for want, v := range map[string]Viral{
		"post 42's counter is cold, one atomic, as no two processors have met in it": {},
		"post 42's counter is hot, 2 stripes █ 67 % ▅ 33 %":                          {Hot: true, Stripes: []int64{200, 100}},
		"post 42's counter is hot, 9 stripes, the fullest has 9.00 times their mean": {Hot: true, Stripes: []int64{0, 0, 0, 9, 0, 0, 0, 0, 0}, Skew: 9},
	} {
		v.Post = viralPost
		assert.Equal(t, want, v.String())
	}
}
