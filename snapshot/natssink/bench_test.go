package natssink

import (
	"context"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// benchSeries is how many series each flush finds changed.
const benchSeries = 100_000

// BenchmarkFlush writes rows that all have changed, and beside it publishes the
// same ones with nothing to guard them, asynchronously and one by one.
func BenchmarkFlush(b *testing.B) {
	c := newCounting()
	d, err := series.NewDesc("hits_total", "l")
	require.NoError(b, err)
	for i := range benchSeries {
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: d.Key(strconv.Itoa(i)), Created: 1})
	}
	for _, impl := range []struct {
		name  string
		write func(*Sink) error
	}{
		{"natssink", func(k *Sink) error { return k.Write(context.Background(), &c.Snapshot) }},
		{"publish-async", func(k *Sink) error { return publishAsync(k, &c.Snapshot) }},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			k := connect(b)
			for b.Loop() {
				for i := range c.Counters {
					c.Counters[i].Value++
				}
				c.Seq++
				require.NoError(b, impl.write(k))
			}
			b.ReportMetric(float64(b.N)*benchSeries/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// publishAsync sends each row on its own, with nothing to guard it.
func publishAsync(k *Sink, s *snapshot.Snapshot) error {
	var acks []jetstream.PubAckFuture
	for i, c := range s.Counters {
		r := rowstream.Row{Key: c.Key, Writer: s.Writer, Created: c.Created, Seq: s.Seq, Value: c.Value}
		data, err := rowstream.Append(nil, r)
		if err != nil {
			return err
		}
		ack, err := k.js.PublishAsync(k.slotSubject(counterToken, c.Key.Name(), s.Writer, i), data)
		if err != nil {
			return err
		}
		acks = append(acks, ack)
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		}
	}
	return nil
}

// BenchmarkTotals reads the totals of one metric with many series.
func BenchmarkTotals(b *testing.B) {
	k := connect(b)
	c := newCounting()
	d, err := series.NewDesc("hits_total", "l")
	require.NoError(b, err)
	for i := range benchSeries / 10 {
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: d.Key(strconv.Itoa(i)), Created: 1})
	}
	require.NoError(b, k.Write(context.Background(), c.next()))
	for b.Loop() {
		_, err := k.Totals(context.Background(), export.Query{})
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.N)*benchSeries/10/b.Elapsed().Seconds(), "rows/s")
}
