package demo

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/hotcount/hotcount"
)

// The families of what the service counts.
const (
	viewsTotal = "post_views_total"
	likesTotal = "post_likes_total"
)

// posts is how many posts there are, numbered from 1. A Zipf choice makes the
// first few far more popular than the rest.
const posts = 100

// A service serves posts and counts their views and likes:
//
//	GET  /posts/17       views a post
//	POST /posts/17/like  likes it
//
// This is all that embedding the engine takes: a family of counters for each
// thing to count, and one line where it happens.
type service struct {
	views, likes *hotcount.CounterVec
	visits       *ledger // requests that are not the load's
}

func newService(e *hotcount.Engine) *service {
	return &service{
		views:  e.CounterVec(viewsTotal, "post"),
		likes:  e.CounterVec(likesTotal, "post"),
		visits: new(ledger),
	}
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /posts/{id}", s.view)
	mux.HandleFunc("POST /posts/{id}/like", s.like)
	return mux
}

func (s *service) view(w http.ResponseWriter, r *http.Request) {
	id, ok := s.post(w, r)
	if !ok {
		return
	}
	s.views.With(id).Inc()
	s.show(w, id)
}

func (s *service) like(w http.ResponseWriter, r *http.Request) {
	id, ok := s.post(w, r)
	if !ok {
		return
	}
	s.likes.With(id).Inc()
	s.show(w, id)
}

func (s *service) show(w http.ResponseWriter, id string) {
	fmt.Fprintf(w, "post %s: %d views, %d likes\n", id, s.views.With(id).Value(), s.likes.With(id).Value())
}

// post returns the id of the post that r is about, or answers that there is
// none. It also notes visitors other than the load, which the check at the end
// has to know of.
func (s *service) post(w http.ResponseWriter, r *http.Request) (id string, ok bool) {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || n < 1 || n > posts {
		http.Error(w, fmt.Sprintf("There are posts 1 to %d.", posts), http.StatusNotFound)
		return "", false
	}
	if r.UserAgent() != loadAgent {
		s.visits.add(n, r.Method == http.MethodPost)
	}
	return strconv.Itoa(n), true // not as given: "01" is post 1
}
