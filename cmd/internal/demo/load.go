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
			r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			choose := rand.NewZipf(r, skew, 1, posts-1)
			for {
				post, like := int(choose.Uint64())+1, r.IntN(likeEvery) == 0
				if err := l.send(client, post, like); err != nil {
					once.Do(func() { failed = err })
					cancel()
					return
				}
				l.sent.add(post, like)
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return fmt.Errorf("%w; whether that request was counted is not known", failed)
	}
	return nil
}

// send sends one request, whatever happens to the load's context meanwhile.
func (l *load) send(client *http.Client, post int, like bool) error {
	method, url := http.MethodGet, fmt.Sprintf("%s/posts/%d", l.url, post)
	if like {
		method, url = http.MethodPost, url+"/like"
	}
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", loadAgent)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil { // to the end, so that the connection is kept
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, url, resp.Status)
	}
	return nil
}
