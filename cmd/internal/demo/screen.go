package demo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/text"
)

// A Screen shows the counts as they grow: as a table that is drawn over itself
// on a terminal, as a line now and then elsewhere.
type Screen struct {
	W        io.Writer
	Terminal bool
	Every    time.Duration // between snapshots, to be told
	Dir      string        // likewise
	drawn    int           // lines of the table on the terminal
}

const (
	refresh     = 500 * time.Millisecond // of the table
	logInterval = time.Second            // between lines
	shownPosts  = 10
	barWidth    = 24
)

func (s *Screen) begin(url string, clients int, restored hotcount.Restored, before counts) {
	fmt.Fprintf(s.W, "Serving %d posts at %s to %s.\n", posts, url, text.Count(int64(clients), "client"))
	fmt.Fprintf(s.W, "Your own visits to %s/posts/1 count too. Ctrl-C ends the demo.\n", url)
	fmt.Fprintf(s.W, "A snapshot every %v goes to %s.\n", s.Every, s.Dir)
	if restored.Runs > 0 {
		fmt.Fprintf(s.W, "Restored %s and %s of %s.\n", text.Count(before.views(), "view"),
			text.Count(before.likes(), "like"), text.Count(int64(restored.Runs), "earlier run"))
	}
}

// follow shows the counts until the load has ended, and returns its error.
func (s *Screen) follow(e *hotcount.Engine, start time.Time, before counts, ended <-chan error) error {
	interval := logInterval
	if s.Terminal {
		interval = refresh
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last, lastTime := before, start
	for {
		select {
		case err := <-ended:
			s.erase()
			return err
		case now := <-tick.C:
			c := countsOf(e)
			rate := ratePerSecond(last, c, now.Sub(lastTime))
			if s.Terminal {
				s.redraw(table(c, rate) + statusLine(c, before, now.Sub(start), rate))
			} else {
				fmt.Fprint(s.W, statusLine(c, before, now.Sub(start), rate))
			}
			last, lastTime = c, now
		}
	}
}

// redraw puts table over what the last call drew. Lines are cleared one by one,
// not all at first, which would flicker.
func (s *Screen) redraw(table string) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn) // up
	}
	b.WriteString(strings.ReplaceAll(table, "\n", "\x1b[K\n")) // clear to the end of the line
	io.WriteString(s.W, b.String())
	s.drawn = strings.Count(table, "\n")
}

// erase takes the table off the screen: the final one follows.
func (s *Screen) erase() {
	if s.drawn > 0 {
		fmt.Fprintf(s.W, "\x1b[%dA\x1b[J", s.drawn)
		s.drawn = 0
	}
}

// ratePerSecond returns how fast each count grew from one reading to the next.
func ratePerSecond(from, to counts, took time.Duration) (rate counts) {
	for i := range to {
		rate[i].views = perSecond(to[i].views-from[i].views, took)
		rate[i].likes = perSecond(to[i].likes-from[i].likes, took)
	}
	return rate
}

func perSecond(n int64, took time.Duration) int64 {
	if took <= 0 {
		return 0
	}
	return int64(float64(n)/took.Seconds() + 0.5)
}

func statusLine(now, before counts, elapsed time.Duration, rate counts) string {
	requests := now.views() + now.likes() - before.views() - before.likes()
	return fmt.Sprintf("%4.0fs  %s, %s/s\n", elapsed.Seconds(),
		text.Count(requests, "request"), text.Group(rate.views()+rate.likes()))
}

// table shows the most viewed posts, and all others in one row.
func table(c, rate counts) string {
	ids := popular(c)
	var b strings.Builder
	row := func(name, views, likes, rate, bar string) {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%8s %14s %12s %10s  %s", name, views, likes, rate, bar), " "))
	}
	row("post", "views", "likes", "views/s", "")
	others := counts{{c.views(), c.likes()}, {rate.views(), 0}}
	for _, id := range ids {
		row(strconv.Itoa(id), text.Group(c[id].views), text.Group(c[id].likes), text.Group(rate[id].views),
			text.Bar(c[id].views, c[ids[0]].views, barWidth))
		others[0].views -= c[id].views
		others[0].likes -= c[id].likes
		others[1].views -= rate[id].views
	}
	row(fmt.Sprintf("%d more", posts-len(ids)), text.Group(others[0].views), text.Group(others[0].likes), text.Group(others[1].views), "")
	row("all", text.Group(c.views()), text.Group(c.likes()), text.Group(rate.views()), "")
	return b.String()
}

// popular returns the ids of the most viewed posts.
func popular(c counts) []int {
	ids := make([]int, 0, posts)
	for id := 1; id <= posts; id++ {
		ids = append(ids, id)
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(c[b].views, c[a].views) })
	return ids[:shownPosts]
}
