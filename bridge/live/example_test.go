package live_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
)

func ExamplePage() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	page, err := live.New(e, live.Options{Title: "blog"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/hotcount/", http.StripPrefix("/debug/hotcount", page))
	server := httptest.NewUnstartedServer(mux)
	server.Config.RegisterOnShutdown(page.Close) // or Shutdown waits for who looks
	server.Start()
	defer server.Close()

	resp, err := http.Get(server.URL + "/debug/hotcount/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, resp.Header.Get("Content-Type"))
	// Output: 200 OK text/html; charset=utf-8
}

func ExampleOptions() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// A proxy asks for the page under this name.
	_, err = live.New(e, live.Options{Title: "blog, eu-west", Hosts: []string{"stats.example.com"}, Rows: 50})
	fmt.Println(err)
	_, err = live.New(e, live.Options{Hosts: []string{"https://stats.example.com"}})
	fmt.Println(err)
	// Output:
	// <nil>
	// hotcount/live: invalid options: "https://stats.example.com" in Hosts is no name or address without a port
}
