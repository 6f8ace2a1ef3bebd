package replay

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/accesslog"
)

// ignore is a counter that counts nothing: what is left is reading and parsing.
type ignore struct{}

func (ignore) line(*accesslog.Record) {}
func (ignore) malformed()             {}
func (ignore) flush()                 {}

// BenchmarkReplay replays 50 MB, a real log 22 times over, from memory.
func BenchmarkReplay(b *testing.B) {
	const times = 22
	log := bytes.Repeat(unzip(b, realLog), times)
	source := Source{Name: "log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(log)), nil
	}}
	for _, impl := range []struct {
		name string
		make func() func() counter // called once a replay, then once a worker
	}{
		{"parse-only", func() func() counter {
			return func() counter { return ignore{} }
		}},
		{"hotcount", func() func() counter {
			e, err := hotcount.New(hotcount.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, e.Close(b.Context())) })
			tally := NewTally(e)
			return func() counter { return tally.worker() }
		}},
		{"mutexmap", func() func() counter {
			exact := NewExact()
			return func() counter { return exact }
		}},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("impl=%s/workers=%d", impl.name, workers), func(b *testing.B) {
				b.SetBytes(int64(len(log)))
				b.ReportAllocs()
				for b.Loop() {
					_, err := run(b.Context(), []Source{source}, workers, impl.make())
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(times*realLines*b.N)/b.Elapsed().Seconds(), "lines/s")
			})
		}
	}
}
