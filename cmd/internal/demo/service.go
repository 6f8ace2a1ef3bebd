package demo

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/window"
)

// The families of what the service counts.
const (
	viewsTotal       = "post_views_total"
	likesTotal       = "post_likes_total"
	firstVisitsTotal = "first_visits_total"
	visitorsUniques  = "visitors"
	recentUniques    = "recent_visitors"
)

// posts is how many posts there are, numbered from 1. A Zipf choice makes the
// first few far more popular than the rest.
const posts = 100

// visitorCookie has a visitor's id. Who comes without one gets one.
const visitorCookie = "visitor"

// A service serves posts and counts their views, likes and visitors:
//
//	GET  /posts/17       views a post
//	POST /posts/17/like  likes it
//
// This is all that embedding the engine takes: a family of counters for each
// thing to count, and one line where it happens.
type service struct {
	views, likes *hotcount.CounterVec
	firstVisits  *hotcount.Counter // exactly what visitors estimates
	visitors     *hotcount.Uniques
	recent       *window.Uniques
	others       *ledger // requests that are not the load's
}

func newService(e *hotcount.Engine, others *ledger) (*service, error) {
	s := &service{
		views:       e.CounterVec(viewsTotal, "post"),
		likes:       e.CounterVec(likesTotal, "post"),
		firstVisits: e.Counter(firstVisitsTotal),
		visitors:    e.Uniques(visitorsUniques),
		others:      others,
	}
	for _, v := range []*hotcount.CounterVec{s.views, s.likes} {
		if _, err := e.WindowVec(v, window.Options{}); err != nil {
			return nil, err
		}
	}
	if _, err := e.Window(s.firstVisits, window.Options{}); err != nil {
		return nil, err
	}
	var err error
	s.recent, err = e.UniquesWindow(recentUniques, window.UniquesOptions{Resolution: 10 * time.Second, Buckets: 6})
	return s, err
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /posts/{id}", s.view)
	mux.HandleFunc("POST /posts/{id}/like", s.like)
	return mux
}

func (s *service) view(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.views) }

func (s *service) like(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.likes) }

// serve counts a request and shows its post, or answers that there is none.
func (s *service) serve(w http.ResponseWriter, r *http.Request, counted *hotcount.CounterVec) {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || n < 1 || n > posts {
		http.Error(w, fmt.Sprintf("There are posts 1 to %d.", posts), http.StatusNotFound)
		return
	}
	id := strconv.Itoa(n) // not as given: "01" is post 1
	counted.With(id).Inc()
	first := s.visit(w, r)
	if r.UserAgent() != loadAgent { // the check at the end has to know of it
		s.others.add(n, counted == s.likes, first)
	}
	fmt.Fprintf(w, "post %s: %d views, %d likes\n", id, s.views.With(id).Value(), s.likes.With(id).Value())
}

// visit counts who is there, and reports whether for the first time.
func (s *service) visit(w http.ResponseWriter, r *http.Request) (first bool) {
	cookie, err := r.Cookie(visitorCookie)
	if first = err != nil; first {
		cookie = &http.Cookie{Name: visitorCookie, Value: fmt.Sprintf("%016x", rand.Uint64()), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
		http.SetCookie(w, cookie)
		s.firstVisits.Inc()
	}
	s.visitors.AddString(cookie.Value)
	s.recent.AddString(cookie.Value)
	return first
}
