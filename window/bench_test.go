package window

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/stripe"
)

// BenchmarkSweep is one tick of a sampler with 100,000 counters in a window of a
// minute of seconds each, of which some were added to since the last tick. At
// one tick a second, 10 ms/op are 1 % of a core.
func BenchmarkSweep(b *testing.B) {
	const windows = 100_000
	for _, busy := range []int{0, 10, 100} {
		b.Run(fmt.Sprintf("windows=%d/busy=%d%%", windows, busy), func(b *testing.B) {
			// A clock of our own, so that every sweep is a second later.
			elapsed := time.Duration(0)
			start := time.Now()
			s := NewSampler(SamplerOptions{Clock: func() (time.Time, time.Duration) { return start.Add(elapsed), elapsed }})
			s.Close() // sweeps are made by hand
			counters := make([]*stripe.Counter, windows)
			for i := range counters {
				counters[i] = new(stripe.Counter)
				_, err := New(counters[i], Options{Resolution: time.Second, Sampler: s})
				require.NoError(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				elapsed += time.Second
				for i := range windows * busy / 100 {
					counters[i].Inc()
				}
				b.StartTimer()
				s.sweep(s.tracks[0])
			}
		})
	}
}

// BenchmarkAdd compares adding to what a window is over with adding to the same
// without a window, while the sampler reads it a thousand times a second.
func BenchmarkAdd(b *testing.B) {
	for _, impl := range []string{"plain", "windowed"} {
		b.Run("impl="+impl, func(b *testing.B) {
			c := new(stripe.Counter)
			if impl == "windowed" {
				w, err := New(c, Options{Resolution: MinResolution})
				require.NoError(b, err)
				defer w.Close()
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					c.Inc()
				}
			})
		})
	}
}

// BenchmarkUniquesAdd compares adding to a window over uniques with adding to a
// sketch. The hash is given, so that the window's part shows most.
func BenchmarkUniquesAdd(b *testing.B) {
	const spread = 0x9e3779b97f4a7c15 // the golden ratio
	for _, call := range []string{"AddHash", "AddString"} {
		for _, impl := range []string{"sketch", "window"} {
			b.Run("call="+call+"/impl="+impl, func(b *testing.B) {
				u, err := NewUniques(UniquesOptions{})
				require.NoError(b, err)
				defer u.Close()
				plain := new(hll.Sketch)
				for i := range uint64(1_000_000) { // large, as on a hot path
					u.AddHash(i * spread)
					plain.AddHash(i * spread)
				}
				b.ReportAllocs()
				b.RunParallel(addUniques(u, plain, call, impl))
			})
		}
	}
}

func addUniques(u *Uniques, plain *hll.Sketch, call, impl string) func(*testing.PB) {
	const spread = 0x9e3779b97f4a7c15
	element := "192.0.2.17 Mozilla/5.0"
	switch call + " " + impl {
	case "AddHash sketch":
		return func(pb *testing.PB) {
			for i := uint64(0); pb.Next(); i += spread {
				plain.AddHash(i)
			}
		}
	case "AddHash window":
		return func(pb *testing.PB) {
			for i := uint64(0); pb.Next(); i += spread {
				u.AddHash(i)
			}
		}
	case "AddString sketch":
		return func(pb *testing.PB) {
			for pb.Next() {
				plain.AddString(element)
			}
		}
	default:
		return func(pb *testing.PB) {
			for pb.Next() {
				u.AddString(element)
			}
		}
	}
}

// BenchmarkAddAt counts events of one second, and events of which each opens a
// bucket.
func BenchmarkAddAt(b *testing.B) {
	for _, every := range []time.Duration{0, time.Second} {
		b.Run(fmt.Sprintf("apart=%v", every), func(b *testing.B) {
			e, err := NewEvents(EventsOptions{})
			require.NoError(b, err)
			at := time.Unix(0, 0)
			b.ReportAllocs()
			for b.Loop() {
				e.AddAt(at, 1)
				at = at.Add(every)
			}
		})
	}
}

// BenchmarkLast reads windows that are full.
func BenchmarkLast(b *testing.B) {
	elapsed := time.Duration(0)
	start := time.Now()
	s := NewSampler(SamplerOptions{Clock: func() (time.Time, time.Duration) { return start.Add(elapsed), elapsed }})
	s.Close()
	c := new(stripe.Counter)
	w, err := New(c, Options{Sampler: s})
	require.NoError(b, err)
	u, err := NewUniques(UniquesOptions{Sampler: s})
	require.NoError(b, err)
	h := uint64(0)
	for range 24 * 60 {
		for range 60 {
			elapsed += time.Second
			c.Inc()
			s.sweep(s.track(int64(time.Second)))
		}
		for range 20_000 {
			h += 0x9e3779b97f4a7c15
			u.AddHash(h)
		}
		s.sweep(s.track(int64(time.Minute)))
	}
	for _, d := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
		b.Run("window=ring/last="+d.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Last(d)
			}
		})
	}
	b.Run("window=uniques/last=1h0m0s", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			u.Last(time.Hour)
		}
	})
}
