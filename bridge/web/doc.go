// Package web shows an engine to programs, as JSON over HTTP and as an expvar,
// and counts the requests of a net/http server.
//
//	requests, err := web.NewMiddleware(engine, web.Options{})
//	…
//	mux.HandleFunc("GET /users/{id}", user)
//	go http.ListenAndServe("127.0.0.1:8081", web.Handler(engine, requests))
//	http.ListenAndServe(":8080", requests.Wrap(mux))
//
// # The series of a Middleware
//
// Options.Name, here http, begins their names. They have the labels method,
// route and code.
//
//	http_requests_total                        counter  requests that have ended
//	http_request_duration_nanoseconds_total    counter  time in the handler; divide by the requests for the mean
//	http_request_bytes_total                   counter  bytes of bodies that handlers read
//	http_response_bytes_total                  counter  bytes of bodies that handlers wrote, but for HEAD
//	http_request_duration_max_seconds          gauge    longest of the last minute, or of Options.Window
//	http_requests_in_flight                    gauge    no labels
//
// The gauges are not series of the engine, whose counts go on after a restart:
// what was in flight in a crash would stay so for ever. Give the Middleware to
// Handler, or read Middleware.Gauges.
//
// No label is a client's to choose. method is one of RFC 9110's or PATCH, else
// "other". route is the pattern under which an http.ServeMux found the handler,
// without its method, such as /users/{id} or example.com/static/; it is
// "unmatched" if none did, and for CONNECT, where a mux that redirects sets the
// path for a pattern. code is "2xx" and the like, or exact on request. From
// 4,096 combinations on, the route of new ones is "other".
//
// A handler that panics counts as code 500, whatever it wrote before. If the
// client has gone, which cancels the request's context, and nothing was written,
// the code is 499, as nginx has it. A handler that ends with
// http.ErrAbortHandler counts as what it wrote if the client has gone, else as
// 500. A hijacked connection counts as 101 unless something else was written; its
// duration ends with the hijacking, while it is in flight until the handler
// returns.
//
// # The JSON of a Handler
//
//	{
//	  "taken": "2026-01-02T15:04:05.678Z",
//	  "exports": {"seq": "7", "taken": …, "sinks": [{"name": …, "acked": "7", "acked_at": …, "writing_since": …,
//	    "writes": "7", "failures": "0", "panics": "0", "error": …,
//	     "blocked": false, "stopped": false}]},
//	  "counters": [{"key": "views_total{post=\"1\"}", "name": "views_total", "labels": {"post": "1"},
//	    "total": "12", "run": "3", "created": …, "window": {"1m": {"count": "3", "covered_seconds": 60.2,
//	    "per_second": 0.0498}, "1h": …, "24h": …}}],
//	  "uniques": [{"key": …, "name": …, "labels": …, "count": "981", "low": "970", "high": "992"}],
//	  "events": [{"key": …, "name": …, "labels": …, "late": "0", "future": "0", "window": {"1m": …}}],
//	  "uniques_windows": [{"key": …, "name": …, "labels": …, "window": {"1h": {"count": …, "low": …, "high": …,
//	    "covered_seconds": …}}}],
//	  "gauges": [{"key": …, "name": …, "labels": …, "value": 3}],
//	  "health": [{"key": …, "name": …, "labels": …, "total": "4"}, {"key": …, "name": …, "labels": …, "value": 3}],
//	  "next": "views_total{post=\"1\"}"
//	}
//
// total is Counter.Value and run CounterView.Run. A counter that earlier runs
// left and nobody has asked for in this one has no created. A window has what its
// Last says of the reach of each of its rungs, under the rung's Label; after a gap
// it has gap_seconds, see window.Span. health is the engine's own. Times that are
// zero are left out, and so are passwords in addresses that sinks and their errors name.
//
// Every integer is a string, since JavaScript and much else reads numbers as
// doubles, which are exact up to 2^53 only: nanoseconds of requests get there
// within days. In Go use the option string of encoding/json, in JavaScript
// BigInt. What Var shows are numbers, as the readers of expvars expect, and
// exact for those that read 64 bits.
//
// JSON is text, while label values may be any bytes: both key, which else is what
// Key.String returns, and labels are as series.ToValidUTF8 writes them.
// Different series have different ones.
//
// # Queries
//
//	prefix  only series whose key begins with it
//	limit   how many series at most, of all kinds together: 1 to 100,000, by default 1,000
//	after   only series whose key is greater: the next of the page before, which has one unless it is the last
//
// Series are in the order of the bytes of their keys within each list, and pages
// are in that order over all lists. One whose keys would take more than 8 MiB is
// shorter than the limit. A query that is anything else is answered 400, with an
// object that has an error.
package web
