package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hotcount/hotcount/internal/text"
)

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	took := time.Duration(r.Seconds * float64(time.Second))
	_, err := io.WriteString(w, table(r.counts, ratePerSecond(counts{}, r.run, took))+r.verdict())
	return err
}

func (r *Result) verdict() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	fmt.Fprintf(&b, "\nThe load sent %s in %.1f s", text.Count(r.Sent, "request"), r.Seconds)
	if r.Crowd > 0 {
		fmt.Fprintf(&b, ", the crowd viewed post %d %s", viralPost, text.Count(r.Crowd, "time"))
	}
	if r.Visits > 0 {
		fmt.Fprintf(&b, ", others sent %s", text.Group(r.Visits))
	}
	line("; the service counted %s.", text.Group(r.Requests))
	if r.Restored != nil {
		line("With %s and %s of %s that makes the totals above.", text.Count(r.Restored.Views, "view"),
			text.Count(r.Restored.Likes, "like"), text.Count(int64(r.Restored.Runs), "earlier run"))
	}
	if r.Viral != nil {
		line("Under the crowd: %s.", r.Viral)
	}
	line("Distinct visitors: %s.", r.Visitors)
	if r.Restarts > 0 {
		line("%s of the engine: each time it went on from what it had counted.", text.Count(int64(r.Restarts), "restart"))
	}
	if r.Fleet != nil {
		line("The fleet has %s and %s in %s; others added %s of them since this run began.",
			text.Count(r.Fleet.Views, "view"), text.Count(r.Fleet.Likes, "like"), r.Fleet.Store, text.Group(r.Fleet.Others))
	}
	if r.Saved != nil {
		line("Saved %s and %s in %s, read back from there. The next run goes on from them.",
			text.Count(r.Saved.Views, "view"), text.Count(r.Saved.Likes, "like"), r.Saved.Dir)
	}
	if len(r.Differences) == 0 {
		line("Checked, post by post: what was sent is what was counted and saved.")
	}
	for _, d := range r.Differences[:min(len(r.Differences), shownPosts)] {
		line("WRONG: %s", d)
	}
	return b.String()
}

// String says how far the estimate is off, and how far it may be.
func (v Visitors) String() string {
	if v.Low == v.High {
		return fmt.Sprintf("%s, and exactly so many estimated", text.Group(v.Exact))
	}
	return fmt.Sprintf("%s, estimated %s: %s, within ±%.1f %% 95 times in 100",
		text.Group(v.Exact), text.Group(int64(v.Estimate)), v.off(), 100*v.bound())
}

// short is String for a line that has more to say.
func (v Visitors) short() string {
	if v.Low == v.High {
		return text.Count(v.Exact, "visitor") + ", estimated exactly"
	}
	return fmt.Sprintf("%s, estimate %s, bound ±%.1f %%", text.Count(v.Exact, "visitor"), v.off(), 100*v.bound())
}

// off returns the error of the estimate.
func (v Visitors) off() string {
	if v.Exact == 0 {
		return "off by 0.0 %"
	}
	return fmt.Sprintf("off by %+.1f %%", 100*(float64(v.Estimate)/float64(v.Exact)-1))
}

// bound returns the half of the width of the estimate's bounds, as a share.
func (v Visitors) bound() float64 {
	if v.Estimate == 0 {
		return 0
	}
	return float64(v.High-v.Low) / 2 / float64(v.Estimate)
}

// String says how the counter is written.
func (v *Viral) String() string {
	if !v.Hot {
		return fmt.Sprintf("post %d's counter is cold, one atomic, as no two processors have met in it", v.Post)
	}
	s := fmt.Sprintf("post %d's counter is hot, %s", v.Post, text.Count(int64(len(v.Stripes)), "stripe"))
	var sum, highest int64
	for _, n := range v.Stripes {
		sum += n
		highest = max(highest, n)
	}
	if sum <= 0 || len(v.Stripes) > maxStripesShown {
		return fmt.Sprintf("%s, the fullest has %.2f times their mean", s, v.Skew)
	}
	for _, n := range v.Stripes {
		s += fmt.Sprintf(" %s %.0f %%", text.Spark([]int64{n}, highest), 100*float64(n)/float64(sum))
	}
	return s
}

// maxStripesShown is how many stripes fit into a line.
const maxStripesShown = 8
