package demo

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/hotcount/hotcount"
)

// viralPost is the one that a crowd comes for. It is none of the favourites.
const viralPost = 42

const (
	// burst is how often each of a crowd views the post at a time, once in
	// every crowdPace. It takes about half a millisecond: a few per cent of a
	// processor, and long enough that two of the crowd meet.
	burst     = 50_000
	crowdPace = 20 * time.Millisecond
)

// A crowd views one post from every processor at once, faster than requests
// could come over HTTP: it calls what a handler would call.
type crowd struct{ sent ledger }

// run views the post until ctx is done.
func (c *crowd) run(ctx context.Context, views *hotcount.CounterVec) {
	var wg sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			pace := time.NewTicker(crowdPace)
			defer pace.Stop()
			post := views.With(strconv.Itoa(viralPost))
			for ctx.Err() == nil {
				for range burst {
					post.Inc()
				}
				c.sent.addViews(viralPost, burst)
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
		})
	}
	wg.Wait()
}
