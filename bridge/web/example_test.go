package web_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/web"
)

func newEngine() *hotcount.Engine {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return e
}

func ExampleMiddleware() {
	e := newEngine()
	defer e.Close(context.Background())
	requests, err := web.NewMiddleware(e, web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "user", r.PathValue("id"))
	})
	handler := requests.Wrap(mux) // for http.Server

	for _, path := range []string{"/users/1", "/users/2", "/nothing"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	v := e.CounterVec("http_requests_total", "method", "route", "code")
	fmt.Println(v.With("GET", "/users/{id}", "2xx").Value())
	fmt.Println(v.With("GET", "unmatched", "4xx").Value())
	fmt.Println(requests.InFlight())
	// Output:
	// 2
	// 1
	// 0
}

func ExampleOptions() {
	e := newEngine()
	defer e.Close(context.Background())
	requests, err := web.NewMiddleware(e, web.Options{
		Name:       "api",
		ExactCodes: true,
		Route: func(r *http.Request) string { // of a router that is no http.ServeMux
			if r.URL.Path == "/health" {
				return "/health"
			}
			return ""
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	requests.Wrap(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/health", nil))
	for series, n := range e.Totals() {
		if series.Name() == "api_requests_total" {
			fmt.Println(series, n)
		}
	}
	// Output:
	// api_requests_total{code="404",method="GET",route="/health"} 1
}

func ExampleRoute() {
	e := newEngine()
	defer e.Close(context.Background())
	requests, err := web.NewMiddleware(e, web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /users/{id}", func(http.ResponseWriter, *http.Request) {})
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", web.Route("/api", api)))

	requests.Wrap(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/users/7", nil))
	for series, n := range e.Totals() {
		if series.Name() == "http_requests_total" {
			fmt.Println(series, n)
		}
	}
	// Output:
	// http_requests_total{code="2xx",method="GET",route="/api/users/{id}"} 1
}

func ExampleHandler() {
	e := newEngine()
	defer e.Close(context.Background())
	jobs := e.CounterVec("jobs_total", "queue")
	jobs.With("mail").Add(3)
	jobs.With("video").Add(1)
	server := httptest.NewServer(web.Handler(e))
	defer server.Close()

	resp, err := http.Get(server.URL + "?prefix=jobs_&limit=1")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct {
		Counters []struct {
			Labels map[string]string
			Total  int64 `json:",string"`
		}
		Next string
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Counters[0].Labels["queue"], page.Counters[0].Total)
	fmt.Println("after:", page.Next)
	// Output:
	// mail 3
	// after: jobs_total{queue="mail"}
}

func ExampleVar() {
	e := newEngine()
	defer e.Close(context.Background())
	e.Counter("jobs_total", "queue", "mail").Add(3)
	expvar.Publish("counts", web.Var(e)) // expvar serves it in /debug/vars

	var counts map[string]float64
	if err := json.Unmarshal([]byte(expvar.Get("counts").String()), &counts); err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts[`jobs_total{queue="mail"}`])
	// Output:
	// 3
}
