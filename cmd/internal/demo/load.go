package demo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// loadAgent is the User-Agent by which the service knows the load.
const loadAgent = "hotcount-demo-load"

const (
	// skew is the exponent of the Zipf choice of posts: the first gets
	// about a quarter of the requests.
	skew = 1.2

	// likeEvery is how many requests there are for one like among them.
	likeEvery = 10

	// newVisitorEvery is how many requests there are for one by somebody who
	// has not been here before.
	newVisitorEvery = 3

	// maxRemembered is how many visitors each client has who may come again.
	maxRemembered = 1000

	// requestTimeout ends a request that hangs. On loopback one takes well
	// under a millisecond.
	requestTimeout = 10 * time.Second
)

// A load sends requests to a service, as fast as clients get answers, and keeps
// account of those that were answered.
type load struct {
	url     string
	clients int
	sent    ledger
}

// run sends until ctx is done. Requests that are on their way then are still
// waited for, so that the ledger is exact. It returns the first error; a
// request that failed may or may not have been counted.
func (l *load) run(ctx context.Context) error {
	transport := &http.Transport{MaxIdleConnsPerHost: l.clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: requestTimeout}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	var once sync.Once
	var wg sync.WaitGroup
	for range l.clients {
		wg.Go(func() {
			if err := l.keepSending(ctx, client); err != nil {
				once.Do(func() { failed = err })
				cancel()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return fmt.Errorf("%w; whether that request was counted is not known", failed)
	}
	return nil
}

// keepSending sends one request after the other until ctx is done, those of new
// visitors among others of visitors that come again.
func (l *load) keepSending(ctx context.Context, client *http.Client) error {
	r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	choose := rand.NewZipf(r, skew, 1, posts-1)
	var visitors []*http.Cookie
	for {
		post, like := int(choose.Uint64())+1, r.IntN(likeEvery) == 0
		var visitor *http.Cookie
		if len(visitors) > 0 && r.IntN(newVisitorEvery) > 0 {
			visitor = visitors[r.IntN(len(visitors))]
		}
		fresh, err := l.send(client, post, like, visitor)
		if err != nil {
			return err
		}
		switch {
		case fresh == nil:
		case len(visitors) < maxRemembered:
			visitors = append(visitors, fresh)
		default:
			visitors[r.IntN(len(visitors))] = fresh
		}
		l.sent.add(post, like, fresh != nil)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// send sends one request, whatever happens to the load's context meanwhile. A
// nil visitor is a new one, whose cookie is returned.
func (l *load) send(client *http.Client, post int, like bool, visitor *http.Cookie) (fresh *http.Cookie, err error) {
	method, url := http.MethodGet, fmt.Sprintf("%s/posts/%d", l.url, post)
	if like {
		method, url = http.MethodPost, url+"/like"
	}
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return nil, err
	}
	if visitor != nil {
		req.AddCookie(visitor)
	}
	req.Header.Set("User-Agent", loadAgent)
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil { // to the end, so that the connection is kept
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s", method, url, resp.Status)
	}
	for _, c := range resp.Cookies() {
		if c.Name == visitorCookie {
			fresh = c
		}
	}
	return fresh, nil
}
