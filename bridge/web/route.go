package web

import (
	"net/http"
	"strings"
)

// Route tells the Middleware above it under which pattern next, an
// http.ServeMux, found the handler of a request. That is needed where the
// Middleware cannot see it, because a handler between the two passes on a copy
// of the request, as those do that use Request.WithContext, and http.StripPrefix:
//
//	requests.Wrap(authenticate(web.Route("", mux)))
//	mux.Handle("/api/", http.StripPrefix("/api", web.Route("/api", api)))
//
// prefix goes before the path of the pattern: the route of GET /users/{id} in api
// is then /api/users/{id}. Of several Routes around each other the inmost counts.
// A handler between that hides the Middleware's http.ResponseWriter must have a
// method Unwrap, as http.ResponseController wants.
func Route(prefix string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if rec, ok := find[interface{ self() *recorder }](w); ok {
				rec.self().report(prefix, r)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// report notes the route of a request.
func (rec *recorder) report(prefix string, r *http.Request) {
	if rec.route != "" {
		return
	}
	rec.route = routeOf(r)
	if slash := strings.IndexByte(rec.route, '/'); slash >= 0 && prefix != "" {
		rec.route = rec.route[:slash] + prefix + rec.route[slash:] // a host may be in front
	}
}

// routeOf returns the pattern that an http.ServeMux has set, without its method.
func routeOf(r *http.Request) string {
	// For CONNECT, a mux that redirects to a path with a slash at its end sets
	// that path, which the client has chosen, as the pattern.
	if r.Pattern == "" || r.Method == http.MethodConnect {
		return unmatched
	}
	if r.Pattern[0] == '/' {
		return r.Pattern
	}
	if method := strings.IndexAny(r.Pattern, " \t"); method >= 0 {
		return strings.TrimLeft(r.Pattern[method:], " \t")
	}
	return r.Pattern
}

const (
	unmatched = "unmatched" // no pattern is this: each has a slash
	otherWord = "other"
)

// A method is an index of methods.
type method uint8

// methods are those of RFC 9110 section 9, and PATCH. A client may send any other
// word, which counts as the first.
var methods = [...]string{
	otherWord,
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace, http.MethodPatch,
}

func methodOf(s string) method {
	for i := 1; i < len(methods); i++ {
		if methods[i] == s {
			return method(i)
		}
	}
	return 0
}
