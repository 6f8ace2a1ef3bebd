package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/text"
)

// A Result is what a run counted and whether that was right.
type Result struct {
	Views    int64   `json:"views"` // of all runs, as Likes
	Likes    int64   `json:"likes"`
	Requests int64   `json:"requests"` // of this run, as the engine counted them
	Sent     int64   `json:"sent"`     // of this run, as the load did
	Visits   int64   `json:"visits"`   // of this run, by others than the load
	Seconds  float64 `json:"seconds"`

	// Differences are what is wrong, in words.
	Differences []string `json:"differences"`

	TopPosts []Post    `json:"top_posts"`
	Restored *Restored `json:"restored,omitempty"`
	Saved    *Saved    `json:"saved,omitempty"`

	counts, run counts
}

// A Post is one post's counts over all runs.
type Post struct {
	Post  int   `json:"post"`
	Views int64 `json:"views"`
	Likes int64 `json:"likes"`
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

func newResult(e *hotcount.Engine, before counts, took time.Duration) *Result {
	now := countsOf(e)
	r := &Result{
		Views:       now.views(),
		Likes:       now.likes(),
		Seconds:     took.Seconds(),
		Differences: []string{},
		counts:      now,
		run:         now.minus(before),
	}
	r.Requests = r.run.views() + r.run.likes()
	for _, id := range popular(now) {
		r.TopPosts = append(r.TopPosts, Post{id, now[id].views, now[id].likes})
	}
	if runs := e.Restored().Runs; runs > 0 {
		r.Restored = &Restored{runs, before.views(), before.likes()}
	}
	return r
}

// check compares what this run counted with what was sent.
func (r *Result) check(sent, visits counts) {
	r.Sent = sent.views() + sent.likes()
	r.Visits = visits.views() + visits.likes()
	r.Differences = append(r.Differences, differences("counted", r.run, "sent", sent.plus(visits))...)
}

// CheckSaved compares what was saved with what was counted.
func (r *Result) CheckSaved(s Saved) {
	r.Saved = &s
	r.Differences = append(r.Differences, differences("saved", s.counts, "counted", r.counts)...)
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

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	took := time.Duration(r.Seconds * float64(time.Second))
	_, err := io.WriteString(w, table(r.counts, ratePerSecond(counts{}, r.run, took))+r.verdict())
	return err
}

func (r *Result) verdict() string {
	s := fmt.Sprintf("\nThe load sent %s in %.1f s", text.Count(r.Sent, "request"), r.Seconds)
	if r.Visits > 0 {
		s += fmt.Sprintf(", others %s", text.Group(r.Visits))
	}
	s += fmt.Sprintf("; the service counted %s.\n", text.Group(r.Requests))
	if r.Restored != nil {
		s += fmt.Sprintf("With %s and %s of %s that makes the totals above.\n", text.Count(r.Restored.Views, "view"),
			text.Count(r.Restored.Likes, "like"), text.Count(int64(r.Restored.Runs), "earlier run"))
	}
	if r.Saved != nil {
		s += fmt.Sprintf("Saved %s and %s in %s, read back from there. The next run goes on from them.\n",
			text.Count(r.Saved.Views, "view"), text.Count(r.Saved.Likes, "like"), r.Saved.Dir)
	}
	if len(r.Differences) == 0 {
		return s + "Checked: every post's views and likes are equal in all of them.\n"
	}
	for _, d := range r.Differences[:min(len(r.Differences), shownPosts)] {
		s += "WRONG: " + d + "\n"
	}
	return s
}
