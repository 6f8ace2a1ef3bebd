package peers

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// BenchmarkWith looks up an existing series by two label values and adds one.
// VictoriaMetrics has no vec: its row is what its documentation advises.
func BenchmarkWith(b *testing.B) {
	methods := []string{"GET", "POST", "PUT"}
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ours := e.CounterVec("http_requests_total", "method", "code")
	prom := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "http_requests_total"}, []string{"method", "code"})
	vm := metrics.NewSet()
	for _, m := range methods {
		for code := 200; code < 210; code++ {
			ours.With(m, strconv.Itoa(code)).Inc()
			prom.WithLabelValues(m, strconv.Itoa(code)).Inc()
		}
	}
	for _, impl := range []struct {
		name string
		add  func(method, code string)
	}{
		{"hotcount", func(method, code string) { ours.With(method, code).Inc() }},
		{"prometheus", func(method, code string) { prom.WithLabelValues(method, code).Inc() }},
		{"victoriametrics", func(method, code string) {
			vm.GetOrCreateCounter(fmt.Sprintf(`http_requests_total{method=%q,code=%q}`, method, code)).Inc()
		}},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					impl.add("GET", "200")
				}
			})
		})
	}
}

const million = 1_000_000

// BenchmarkCreate makes a million series and says what each takes on the heap,
// the label values included.
func BenchmarkCreate(b *testing.B) {
	for _, impl := range []struct {
		name string
		make func(posts []string) any
	}{
		{"hotcount", func(posts []string) any { return fillEngine(b, posts) }},
		{"victoriametrics", func(posts []string) any { return fillSet(posts) }},
		{"prometheus", func(posts []string) any {
			v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "views_total"}, []string{"post", "code"})
			for _, p := range posts {
				v.WithLabelValues(p, "200").Inc()
			}
			return v
		}},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			posts := postNames()
			var heap uint64
			for b.Loop() {
				b.StopTimer()
				before := heapBytes()
				b.StartTimer()
				kept := impl.make(posts)
				b.StopTimer()
				heap = heapBytes() - before
				runtime.KeepAlive(kept)
				b.StartTimer()
			}
			runtime.KeepAlive(posts)
			b.ReportMetric(float64(heap)/million, "B/series")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/series")
		})
	}
}

func postNames() []string {
	posts := make([]string, million)
	for i := range posts {
		posts[i] = fmt.Sprintf("post-%07d", i)
	}
	return posts
}

func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func fillEngine(b *testing.B, posts []string) *hotcount.Engine {
	e, err := hotcount.New(hotcount.Options{Limits: hotcount.Limits{FamilySeries: million, Series: million}})
	if err != nil {
		b.Fatal(err)
	}
	v := e.CounterVec("views_total", "post", "code")
	for _, p := range posts {
		v.With(p, "200").Inc()
	}
	return e
}

func fillSet(posts []string) *metrics.Set {
	s := metrics.NewSet()
	for _, p := range posts {
		s.GetOrCreateCounter(`views_total{post="` + p + `",code="200"}`).Inc()
	}
	return s
}

// BenchmarkSnapshot reads a million series out: into a reused Snapshot, or as
// text to nowhere, which is the cheapest way that VictoriaMetrics offers.
func BenchmarkSnapshot(b *testing.B) {
	posts := postNames()
	e, set := fillEngine(b, posts), fillSet(posts)
	var s snapshot.Snapshot
	e.Snapshot(&s)
	b.Run("impl=hotcount", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Snapshot(&s)
		}
	})
	b.Run("impl=victoriametrics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.WritePrometheus(io.Discard)
		}
	})
}

// BenchmarkAddBeside adds to a thousand of a million series in turn, alone and
// while another goroutine takes one snapshot after the other, or takes them and
// makes them durable. It means something with two Ps at least.
func BenchmarkAddBeside(b *testing.B) {
	e := fillEngine(b, postNames())
	files, err := filesink.Open(filesink.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	v := e.CounterVec("views_total", "post", "code")
	handles := make([]*hotcount.Counter, 1<<10)
	for i := range handles {
		handles[i] = v.With(fmt.Sprintf("post-%07d", i*900), "200")
	}
	var s snapshot.Snapshot
	e.Snapshot(&s)
	for _, reader := range []string{"none", "snapshot", "write"} {
		b.Run("reader="+reader, func(b *testing.B) {
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						if reader == "none" {
							<-stop
							return
						}
						e.Snapshot(&s)
						if reader == "write" && files.Write(context.Background(), &s) != nil {
							panic("the snapshot was not written")
						}
					}
				}
			}()
			i := 0
			for b.Loop() {
				handles[i%len(handles)].Inc()
				i++
			}
			close(stop)
			<-stopped
		})
	}
}
