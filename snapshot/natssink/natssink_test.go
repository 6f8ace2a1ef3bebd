package natssink

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

func TestTotalsAddUpWriters(t *testing.T) {
	k := connect(t)
	want := map[string]int64{}
	labels := []string{"", "*", ">", ".", "a.b", " ", "\x00\xff", "é", strings.Repeat("x", 10_000)}
	for w := range 3 {
		c := newCounting()
		for i, label := range labels {
			s := key(t, "hits_total", label)
			c.add(s, int64(w*i))
			want[s.String()] += int64(w * i)
		}
		s := key(t, "ends:of:range", strconv.Itoa(w))
		c.add(s, math.MinInt64+int64(w))
		want[s.String()] = math.MinInt64 + int64(w)
		require.NoError(t, k.Write(t.Context(), c.next()))
	}
	assert.Equal(t, want, totals(t, k))

	page, err := k.Totals(t.Context(), export.Query{Prefix: `hits_total{l="`, Limit: 2})
	require.NoError(t, err)
	require.Len(t, page, 2)
	assert.Equal(t, 3, page[0].Writers)
	page, err = k.Totals(t.Context(), export.Query{Prefix: "hits_tot"})
	require.NoError(t, err)
	assert.Len(t, page, len(labels))
	page, err = k.Totals(t.Context(), export.Query{Prefix: "none{"})
	require.NoError(t, err)
	assert.Empty(t, page)
}

func TestUniquesAreUnions(t *testing.T) {
	k := connect(t)
	union, err := hll.New(hll.Options{})
	require.NoError(t, err)
	s := key(t, "visitors", "x")
	for w := range 3 {
		c, one := newCounting(), new(hll.Sketch)
		for i := range 5000 {
			one.AddString(strconv.Itoa(w*2500 + i))
		}
		require.NoError(t, union.Merge(one))
		c.AppendUniques(s, 1, one)
		for range 2 {
			require.NoError(t, k.Write(t.Context(), c.next()))
		}
	}
	got, err := k.Uniques(t.Context(), export.Query{Prefix: "visitors{"})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, union.Scheme(), got[0].Scheme)
	want, err := union.MarshalBinary()
	require.NoError(t, err)
	have, err := got[0].Sketch.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, want, have)
}

// The stream keeps one message for each row and writer, however many flushes.
func TestTheStreamStaysCompact(t *testing.T) {
	k := connect(t)
	c := newCounting()
	for i := range 20 {
		for j := range 10 {
			c.add(key(t, "hits_total", strconv.Itoa(j)), int64(i))
		}
		require.NoError(t, k.Write(t.Context(), c.next()))
	}
	stream, err := k.open(t.Context(), k.name)
	require.NoError(t, err)
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 2, info.State.Msgs)
	before := info.State.LastSeq
	require.NoError(t, k.Write(t.Context(), c.next()))
	info, err = stream.Info(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 2, info.State.LastSeq-before, "rows that have not changed are not sent")
}

// A message that comes again is the same one, and one that is late is none.
func TestMessagesMayComeTwiceAndLate(t *testing.T) {
	k := connect(t)
	stream, err := k.open(t.Context(), k.name)
	require.NoError(t, err)
	s := key(t, "hits_total", "x")
	w := snapshot.NewWriterID()
	row := rowstream.Row{Key: s, Writer: w, Created: 1, Seq: 1, Value: 5}
	old := &slot{subject: k.slotSubject(counterToken, s.Name(), w, 0), rows: []rowstream.Row{row}}
	first, err := k.putRows(t.Context(), stream, old, "one")
	require.NoError(t, err)
	for range 2 {
		again, err := k.putRows(t.Context(), stream, old, "one")
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	row.Seq, row.Value = 2, 7
	newer := &slot{subject: old.subject, rows: []rowstream.Row{row}}
	require.NoError(t, k.putSlot(t.Context(), stream, newer, "two", 1), "it finds out what it replaces")
	assert.EqualValues(t, 5, newer.rows[0].Prior)
	old.at = first
	_, err = k.putRows(t.Context(), stream, old, "late")
	require.ErrorIs(t, err, errOvertaken)
	require.NoError(t, k.putSlot(t.Context(), stream, old, "later", 1))
	assert.EqualValues(t, 7, totals(t, k)[s.String()])
}

// The last snapshot of an earlier run comes under its old id, from a process that
// does not know what the stream holds.
func TestEarlierRuns(t *testing.T) {
	first := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, first.Write(t.Context(), c.next()))
	old := c.Snapshot
	old.Counters = slices.Clone(c.Counters)

	c.add(s, 1)
	last := c.next()
	k := open(t, first.js, first.name)
	for range 2 {
		require.NoError(t, k.Write(t.Context(), last))
		assert.EqualValues(t, 6, totals(t, k)[s.String()])
	}
	require.NoError(t, open(t, first.js, first.name).Write(t.Context(), &old))
	assert.EqualValues(t, 6, totals(t, k)[s.String()])
}

func TestAClonedProcessGoesOnUnderAnotherID(t *testing.T) {
	k := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))

	clone := open(t, k.js, k.name)
	d := *c
	d.Counters = slices.Clone(c.Counters)
	for i := range 10 {
		d.add(s, 10)
		require.NoError(t, clone.Write(t.Context(), d.next()))
		c.add(s, 1)
		require.NoError(t, k.Write(t.Context(), c.next()))
		assert.EqualValues(t, 5+11*(i+1), totals(t, k)[s.String()])
	}
	page, err := k.Totals(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, page, 1)
	assert.Equal(t, 2, page[0].Writers)
}

func TestFollowKeepsAFoldUpToDate(t *testing.T) {
	k := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 1)
	require.NoError(t, k.Write(t.Context(), c.next()))

	ctx, cancel := context.WithCancel(t.Context())
	var f rowstream.Fold
	caughtUp, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- k.Follow(ctx, &f, func() {
			select {
			case caughtUp <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	for want := int64(1); want < 5; want++ {
		for totals(t, &f)[s.String()] != want {
			select {
			case <-caughtUp:
			case <-time.After(patience):
				t.Fatalf("the fold does not get to %d: %v", want, totals(t, &f))
			}
		}
		c.add(s, 1)
		require.NoError(t, k.Write(t.Context(), c.next()))
	}
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
}

// A read that runs out of time says so and gives no totals, which would be wrong.
func TestAReadThatIsCutShort(t *testing.T) {
	k := connect(t)
	c := newCounting()
	c.add(key(t, "hits_total", "x"), 1)
	require.NoError(t, k.Write(t.Context(), c.next()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	page, err := k.Totals(ctx, export.Query{Prefix: "hits_total{"})
	var partial *export.PartialError
	require.ErrorAs(t, err, &partial)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{k.name + ".counter.hits_total.>"}, partial.Missing)
	assert.Empty(t, page)
}

func TestNew(t *testing.T) {
	js := jetstream.JetStream(nil)
	_, err := New(Options{JetStream: js, Stream: "X"})
	assert.Error(t, err)
	js = connect(t).js
	for _, name := range []string{"", "a.b", "a b", "*", ">", "é"} {
		_, err := New(Options{JetStream: js, Stream: name})
		assert.Error(t, err, name)
	}
	_, err = New(Options{JetStream: js, Stream: "X", AckWait: -1})
	assert.Error(t, err)
}
