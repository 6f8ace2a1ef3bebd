package demo

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
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

	// untilHot is how many bursts come at a time while the counter is cold:
	// 10 ms, more than the time slices of a machine that does much else, which
	// would let them come one after the other.
	untilHot = 20

	// gather is how long who has come waits for the others of the crowd, so
	// that they meet on a busy machine, too.
	gather = 5 * time.Millisecond
)

// A crowd views one post from every processor at once, faster than requests
// could come over HTTP: it calls what a handler would call.
type crowd struct {
	sent ledger
	come atomic.Int64 // arrivals, of all rounds together
}

// run views the post until ctx is done.
func (c *crowd) run(ctx context.Context, views *hotcount.CounterVec) {
	var wg sync.WaitGroup
	c.come.Store(0)
	size := max(2, runtime.GOMAXPROCS(0))
	for range size {
		wg.Go(func() {
			pace := time.NewTicker(crowdPace)
			defer pace.Stop()
			post := views.With(strconv.Itoa(viralPost))
			for round := int64(1); ctx.Err() == nil; round++ {
				c.meet(round * int64(size))
				n := burst
				if !post.Stats().Hot {
					n *= untilHot
				}
				for range n {
					post.Inc()
				}
				c.sent.addViews(viralPost, int64(n))
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
		})
	}
	wg.Wait()
}

// meet waits until all have come, but not for long. Bursts that each begin at a
// time of their own may miss one another for good, as their paces are equal.
func (c *crowd) meet(all int64) {
	c.come.Add(1)
	for deadline := time.Now().Add(gather); c.come.Load() < all && time.Now().Before(deadline); {
		runtime.Gosched()
	}
}
