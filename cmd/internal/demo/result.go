package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/text"
)

// A Result is what a run counted and whether that was right.
type Result struct {
	Views    int64   `json:"views"` // of all runs, as Likes
	Likes    int64   `json:"likes"`
	Requests int64   `json:"requests"` // of this run, as the engine counted them
	Sent     int64   `json:"sent"`     // of this run, as the load did
	Crowd    int64   `json:"crowd"`    // views of this run by the crowd
	Visits   int64   `json:"visits"`   // of this run, by others
	Seconds  float64 `json:"seconds"`
	Restarts int     `json:"restarts"` // of the engine, in this run

	// Differences are what is wrong, in words.
	Differences []string `json:"differences"`

	TopPosts []Post    `json:"top_posts"`
	Visitors Visitors  `json:"visitors"`
	Viral    *Viral    `json:"viral,omitempty"` // if the crowd came
	Restored *Restored `json:"restored,omitempty"`
	Saved    *Saved    `json:"saved,omitempty"`
	Fleet    *Fleet    `json:"fleet,omitempty"`

	counts, run counts
}

// A Post is one post's counts over all runs.
type Post struct {
	Post  int   `json:"post"`
	Views int64 `json:"views"`
	Likes int64 `json:"likes"`
}

// Visitors are how many different ones there were in all runs.
type Visitors struct {
	Exact    int64  `json:"exact"`
	Estimate uint64 `json:"estimate"`
	Low      uint64 `json:"low"`
	High     uint64 `json:"high"`
}

// Viral is how the viral post's counter was written when the crowd was there.
type Viral struct {
	Post    int     `json:"post"`
	Hot     bool    `json:"hot"`
	Stripes []int64 `json:"stripes"`
	Skew    float64 `json:"skew"`
}

// Restored is what earlier runs left.
type Restored struct {
	Runs  int   `json:"runs"`
	Views int64 `json:"views"`
	Likes int64 `json:"likes"`
}

// Saved is what a directory holds for the next run.
type Saved struct {
	Dir   string `json:"dir"`
	Views int64  `json:"views"`
	Likes int64  `json:"likes"`

	counts counts
}

// Fleet is what a store holds of all demos that share it.
type Fleet struct {
	Store  string `json:"store"`
	Views  int64  `json:"views"`
	Likes  int64  `json:"likes"`
	Others int64  `json:"others"` // views and likes by others since this run began
}

func (r *Result) restoredFrom(e hotcount.Restored, before counts) {
	if e.Runs > 0 {
		r.Restored = &Restored{e.Runs, before.views(), before.likes()}
	}
}

// count fills in what s has counted.
func (r *Result) count(s *stage, before counts, took time.Duration) {
	now := countsOf(s.engine)
	r.Views, r.Likes, r.Seconds = now.views(), now.likes(), took.Seconds()
	r.counts, r.run = now, now.minus(before)
	r.Requests = r.run.all()
	for _, id := range popular(now) {
		r.TopPosts = append(r.TopPosts, Post{id, now.posts[id].views, now.posts[id].likes})
	}
	r.Visitors = visitorsOf(now, s.service.visitors.Estimate())
}

func visitorsOf(c counts, e hll.Estimate) Visitors {
	return Visitors{Exact: c.visitors, Estimate: e.Count, Low: e.Low, High: e.High}
}

// check compares what this run counted with what was sent.
func (r *Result) check(load, crowd, others counts) {
	r.Sent, r.Crowd, r.Visits = load.all(), crowd.all(), others.all()
	r.Differences = append(r.Differences, differences("counted", r.run, "sent", load.plus(crowd).plus(others))...)
}

// checkSaved compares what was saved with what was counted.
func (r *Result) checkSaved(s Saved) {
	r.Saved = &s
	r.Differences = append(r.Differences, differences("saved", s.counts, "counted", r.counts)...)
}

// checkFleet looks whether a store got all of this run: whatever others have
// added, no post may have risen by less.
func (r *Result) checkFleet(store string, now, before counts) {
	others := now.minus(before).minus(r.run)
	r.Fleet = &Fleet{store, now.views(), now.likes(), others.all()}
	for i, p := range others.posts {
		if p.views < 0 || p.likes < 0 {
			r.Differences = append(r.Differences, fmt.Sprintf("post %d: the fleet lacks %d views and %d likes", i, max(0, -p.views), max(0, -p.likes)))
		}
	}
}

// Err returns an error if anything differs.
func (r *Result) Err() error {
	if len(r.Differences) == 0 {
		return nil
	}
	return fmt.Errorf("%s between what was sent, counted and saved", text.Count(int64(len(r.Differences)), "difference"))
}

// WriteJSON writes the result for programs.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
