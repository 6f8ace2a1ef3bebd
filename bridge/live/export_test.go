package live

import "github.com/hotcount/hotcount"

// Updates returns a function that makes an update, as watch does, and returns
// its length.
func Updates(e *hotcount.Engine, words string) func() int {
	p, err := New(e, Options{})
	if err != nil {
		panic(err)
	}
	w := watcher{page: p}
	return func() int {
		w.look()
		return len(w.frame(query{words, byRate}))
	}
}
