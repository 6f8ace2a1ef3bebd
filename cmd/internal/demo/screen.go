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
	"github.com/hotcount/hotcount/internal/text"
)

// A Screen shows the counts as they grow: as a table that is drawn over itself
// on a terminal, as a line now and then elsewhere.
type Screen struct {
	W        io.Writer
	Terminal bool
	drawn    int // lines of the table on the terminal
	start    time.Time
	last     reading
}

// A reading is what was counted at a moment.
type reading struct {
	at     time.Time
	counts counts
}

const (
	refresh     = 500 * time.Millisecond // of the table
	logInterval = time.Second            // between lines
	shownPosts  = 10
	barWidth    = 24
)

// begin says what there is to see.
func (s *Screen) begin(r *run) {
	if was := r.result.Restored; was != nil {
		fmt.Fprintf(s.W, "Restored %s and %s of %s.\n", text.Count(was.Views, "view"),
			text.Count(was.Likes, "like"), text.Count(int64(was.Runs), "earlier run"))
	}
	if n := strangers(r.site.stage.engine); n > 0 {
		fmt.Fprintf(s.W, "%s also has %s that are not the demo's. They stay as they are.\n", r.Dir, text.Count(n, "counter"))
	}
	fmt.Fprintf(s.W, "Serving %d posts at %s to %s.\n", posts, r.site.url, text.Count(int64(r.Clients), "client"))
	fmt.Fprintf(s.W, "Live page: %s%s\n", r.site.url, pagePath)
	fmt.Fprintf(s.W, "Your own visits to %s/posts/1 count too. Ctrl-C ends the demo.\n", r.site.url)
	fmt.Fprintf(s.W, "A snapshot every %v goes to %s", r.Interval, r.Dir)
	if r.Sink != nil {
		fmt.Fprintf(s.W, " and to %v", *r.Sink)
	}
	fmt.Fprint(s.W, ".\n")
	s.start = time.Now()
	s.last = reading{s.start, r.before}
}

// strangers returns how many counters of an engine are none of the service's.
func strangers(e *hotcount.Engine) (n int64) {
	var c counts
	for key := range e.Totals() {
		if !c.add(key.Name(), key.Label("post"), 0) {
			n++
		}
	}
	return n
}

// event shows a line for good.
func (s *Screen) event(format string, args ...any) {
	s.erase()
	fmt.Fprintf(s.W, format+"\n", args...)
}

// restarted says what a restart has left.
func (s *Screen) restarted(dir string, before, after counts, equal bool) {
	verdict := "as many, post by post."
	if !equal {
		verdict = fmt.Sprintf("%s and %s. WRONG.", text.Count(after.views(), "view"), text.Count(after.likes(), "like"))
	}
	s.event("Restart: the engine was closed after %s and %s, and another one opened on %s has %s",
		text.Count(before.views(), "view"), text.Count(before.likes(), "like"), dir, verdict)
}

// follow shows the counts until the load has ended, and returns its error.
func (s *Screen) follow(r *run, ended <-chan error) error {
	interval := logInterval
	if s.Terminal {
		interval = refresh
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			r.lookAtCrowd()
			return err
		case now := <-tick.C:
			r.lookAtCrowd()
			s.show(r, now)
		}
	}
}

// show shows how things stand.
func (s *Screen) show(r *run, at time.Time) {
	stage := r.site.stage
	now := reading{at, countsOf(stage.engine)}
	rate := ratePerSecond(s.last.counts, now.counts, at.Sub(s.last.at))
	s.last = now
	visitors := visitorsOf(now.counts, stage.service.visitors.Estimate())
	lines := statusLine(at.Sub(s.start), now.counts.minus(r.before), rate, visitors)
	if r.fleet != nil {
		lines += fleetLine(r.fleet.newest())
	}
	if s.Terminal {
		s.redraw(table(now.counts, rate) + lines)
	} else {
		fmt.Fprint(s.W, lines)
	}
}

// lookAtCrowd notes how the viral post's counter is written, and says so when it
// has gone hot.
func (r *run) lookAtCrowd() {
	sent := r.crowd.sent.read()
	if sent.views() == 0 || r.result.Restarts > 0 {
		return
	}
	was := r.result.Viral
	stats := r.site.stage.service.views.With(strconv.Itoa(viralPost)).Stats()
	r.result.Viral = &Viral{viralPost, stats.Hot, stats.Stripes, stats.Skew}
	if stats.Hot && (was == nil || !was.Hot) {
		r.Screen.event("Two processors have met in one counter: %v.", r.result.Viral)
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
	for i := range to.posts {
		rate.posts[i].views = perSecond(to.posts[i].views-from.posts[i].views, took)
		rate.posts[i].likes = perSecond(to.posts[i].likes-from.posts[i].likes, took)
	}
	return rate
}

func perSecond(n int64, took time.Duration) int64 {
	if took <= 0 {
		return 0
	}
	return int64(float64(n)/took.Seconds() + 0.5)
}

// statusLine says what this run has counted.
func statusLine(elapsed time.Duration, run, rate counts, v Visitors) string {
	return fmt.Sprintf("%4.0fs %13s views and likes, %s/s; %s\n", elapsed.Seconds(), text.Group(run.all()), text.Group(rate.all()), v.short())
}

func fleetLine(c counts, err error) string {
	if err != nil {
		return fmt.Sprintf("      fleet: no answer: %v\n", err)
	}
	return fmt.Sprintf("%19s views and likes of the fleet\n", text.Group(c.all()))
}

// table shows the most viewed posts, and all others in one row.
func table(c, rate counts) string {
	ids := popular(c)
	var b strings.Builder
	row := func(name, views, likes, rate, bar string) {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%8s %14s %12s %10s  %s", name, views, likes, rate, bar), " "))
	}
	row("post", "views", "likes", "views/s", "")
	restViews, restLikes, restRate := c.views(), c.likes(), rate.views()
	for _, id := range ids {
		p, perSecond := c.posts[id], rate.posts[id].views
		row(strconv.Itoa(id), text.Group(p.views), text.Group(p.likes), text.Group(perSecond),
			text.Bar(p.views, c.posts[ids[0]].views, barWidth))
		restViews -= p.views
		restLikes -= p.likes
		restRate -= perSecond
	}
	row(fmt.Sprintf("%d more", posts-len(ids)), text.Group(restViews), text.Group(restLikes), text.Group(restRate), "")
	row("all", text.Group(c.views()), text.Group(c.likes()), text.Group(rate.views()), "")
	return b.String()
}

// popular returns the ids of the most viewed posts.
func popular(c counts) []int {
	ids := make([]int, 0, posts)
	for id := 1; id <= posts; id++ {
		ids = append(ids, id)
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(c.posts[b].views, c.posts[a].views) })
	return ids[:shownPosts]
}
