package rowstream

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

var allSeries = []string{"a", `b{l="1"}`, `b{l="2"}`}

// A history is the messages that some writers publish, and what they add up to.
type history struct {
	t        *testing.T
	rng      *rand.Rand
	messages []Message
	want     map[string]int64
	writers  map[string]map[snapshot.WriterID]bool // whose rows count one by one
	buckets  map[int64]int64
	elements *hll.Sketch
	base     map[string]Row
	round    uint64
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	elements, err := hll.New(hll.Options{Precision: 12})
	require.NoError(t, err)
	h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 1)), want: map[string]int64{}, buckets: map[int64]int64{},
		writers: map[string]map[snapshot.WriterID]bool{}, elements: elements, base: map[string]Row{}}
	coarse := hll.Options{Precision: 12}
	h.publish(Row{Key: parseKey(t, "u"), Writer: snapshot.NewWriterID(), Created: 1, Seq: 1, Scheme: coarse.Scheme(), Sketch: sketchOf(t, coarse)})
	return h
}

func (h *history) publish(rows ...Row) {
	h.messages = append(h.messages, Message{Rows: rows})
}

func (h *history) stand(s Standing) {
	h.messages = append(h.messages, Message{Standing: &s})
}

// writer lives: it flushes some snapshots, of which the last may not end, and then
// is perhaps added up.
func (h *history) writer(standings bool) {
	w, values, rows := snapshot.NewWriterID(), map[string]int64{}, map[string]Row{}
	bucket, buckets := Row{Key: parseKey(h.t, "w"), Writer: w, Resolution: time.Second}, map[int64]int64{}
	seen := hll.Options{Precision: 12 + h.rng.IntN(3)}
	element := string(rune('a' + h.rng.IntN(26)))
	h.elements.AddString(element)
	h.publish(Row{Key: parseKey(h.t, "u"), Writer: w, Created: 1, Seq: 1, Scheme: seen.Scheme(), Sketch: sketchOf(h.t, seen, element)})
	whole := uint64(0)
	flushes := uint64(1 + h.rng.IntN(4))
	for seq := uint64(1); seq <= flushes; seq++ {
		now := map[string]int64{}
		for _, series := range allSeries {
			if h.rng.IntN(3) == 0 {
				continue
			}
			r, ok := rows[series]
			if !ok {
				r = Row{Key: parseKey(h.t, series), Writer: w, Created: 1}
			}
			r.Prior = r.Whole(whole)
			r.Seq, r.Value = seq, r.Value+h.rng.Int64N(100)-30
			rows[series], now[series] = r, r.Value
			h.publish(r)
		}
		bucket.Created, bucket.Value = int64(seq), 1+h.rng.Int64N(9)
		bucket.Seq = seq
		h.publish(bucket)
		if standings && seq == flushes && h.rng.IntN(2) == 0 {
			break // it died in this flush
		}
		whole, buckets[bucket.Created] = seq, bucket.Value
		for series, v := range now {
			values[series] = v
		}
		if standings {
			h.stand(Standing{Writer: w, Standing: sinkkit.Standing{Seq: seq}})
		}
	}
	if standings && whole == 0 {
		h.stand(Standing{Writer: w, Standing: sinkkit.Standing{Pending: sinkkit.NewMark()}})
	}
	for start, n := range buckets {
		h.buckets[start] += n
	}
	gone := standings && h.rng.IntN(2) == 0
	for series := range rows {
		h.want[series] += values[series]
		if h.writers[series] == nil {
			h.writers[series] = map[snapshot.WriterID]bool{}
		}
		h.writers[series][w] = !gone
	}
	if gone {
		h.fold(w, values)
	}
}

// fold adds a writer up, as far as its last whole snapshot.
func (h *history) fold(w snapshot.WriterID, values map[string]int64) {
	h.stand(Standing{Folded: []snapshot.WriterID{w}, Standing: sinkkit.Standing{Seq: h.round, Pending: sinkkit.NewMark()}})
	for series, v := range values {
		r := h.base[series]
		r.Prior, r.Key = r.Whole(h.round), parseKey(h.t, series)
		r.Seq, r.Value = h.round+1, r.Value+v
		h.base[series] = r
		h.publish(r)
	}
	h.round++
	h.stand(Standing{Folded: []snapshot.WriterID{w}, Standing: sinkkit.Standing{Seq: h.round}})
	h.stand(Standing{Writer: w, Gone: true})
}

// check compares a fold with what has been published.
func (h *history) check(f *Fold, seed uint64) {
	h.t.Helper()
	totals, err := f.Totals(h.t.Context(), export.Query{})
	require.NoError(h.t, err)
	got := map[string]int64{}
	for _, total := range totals {
		id := total.Key.String()
		got[id] = total.Value
		live := 0
		for _, counts := range h.writers[id] {
			if counts {
				live++
			}
		}
		require.Equal(h.t, live, total.Writers, "seed %d, %s", seed, id)
	}
	for series, want := range h.want {
		require.Equal(h.t, want, got[series], "seed %d, %s", seed, series)
	}
	uniques, err := f.Uniques(h.t.Context(), export.Query{})
	require.NoError(h.t, err)
	require.Len(h.t, uniques, 1)
	wantSketch, err := h.elements.MarshalBinary()
	require.NoError(h.t, err)
	gotSketch, err := uniques[0].Sketch.MarshalBinary()
	require.NoError(h.t, err)
	require.Equal(h.t, wantSketch, gotSketch, "seed %d", seed)
	buckets, err := f.Window(h.t.Context(), parseKey(h.t, "w"), time.Second, time.Unix(0, 0), time.Unix(1, 0))
	require.NoError(h.t, err)
	sums := map[int64]int64{}
	for _, b := range buckets {
		sums[b.Start.UnixNano()] = b.Count
	}
	require.Equal(h.t, h.buckets, sums, "seed %d", seed)
}

// Messages may come any number of times and in any order.
func TestFoldOfAnyDelivery(t *testing.T) {
	for seed := range uint64(400) {
		h := newHistory(t, seed)
		for range 1 + h.rng.IntN(5) {
			h.writer(seed%2 == 0)
		}
		var f Fold
		for range 3 {
			for _, i := range h.rng.Perm(len(h.messages)) {
				require.NoError(t, f.Apply(h.messages[i]))
				if h.rng.IntN(3) == 0 {
					require.NoError(t, f.Apply(h.messages[h.rng.IntN(len(h.messages))]))
				}
			}
			h.check(&f, seed)
		}
		late := slices.IndexFunc(h.messages, func(m Message) bool { return len(m.Rows) > 0 && m.Rows[0].Sketch == nil })
		require.NoError(t, f.Apply(h.messages[late]))
		h.check(&f, seed)
	}
}

// In the order of a stream the total does not move, at whatever step a roll-up is.
func TestARollUpShowsAtNoStep(t *testing.T) {
	for seed := range uint64(200) {
		h := newHistory(t, seed)
		h.writer(true)
		w := snapshot.NewWriterID()
		h.stand(Standing{Writer: w, Standing: sinkkit.Standing{Seq: 1}})
		h.publish(Row{Key: parseKey(t, "a"), Writer: w, Seq: 1, Value: 7})
		h.want["a"] += 7
		before := len(h.messages)
		h.fold(w, map[string]int64{"a": 7})
		var f Fold
		for i, m := range h.messages {
			require.NoError(t, f.Apply(m))
			if i+1 < before {
				continue
			}
			totals, err := f.Totals(t.Context(), export.Query{Prefix: "a"})
			require.NoError(t, err)
			require.Equal(t, h.want["a"], totals[0].Value, "seed %d, message %d", seed, i)
		}
	}
}

func TestFoldRefusesABrokenSketch(t *testing.T) {
	var f Fold
	u := Row{Key: parseKey(t, "u"), Writer: snapshot.NewWriterID(), Seq: 1, Sketch: sketchOf(t, hll.Options{})}
	broken := u
	broken.Sketch = []byte("no sketch")
	err := f.Apply(Message{Rows: []Row{u, broken}})
	require.ErrorIs(t, err, ErrFormat)
	uniques, err := f.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	assert.Empty(t, uniques)
}

func TestForget(t *testing.T) {
	var f Fold
	k := parseKey(t, "w")
	for start := range int64(10) {
		require.NoError(t, f.Apply(Message{Rows: []Row{{Key: k, Writer: snapshot.NewWriterID(), Created: start, Resolution: 1, Value: 1}}}))
	}
	starts := func() int {
		buckets, err := f.Window(t.Context(), k, 1, time.Unix(0, 0), time.Unix(1, 0))
		require.NoError(t, err)
		return len(buckets)
	}
	assert.Equal(t, 10, starts())
	f.Forget(time.Unix(0, 7))
	assert.Equal(t, 3, starts())
	f.Forget(time.Unix(1, 0))
	assert.Empty(t, f.windows)
}

func TestPages(t *testing.T) {
	var f Fold
	all := []string{"a", `b{l="1"}`, `b{l="2"}`, `b{l="3"}`, "c"}
	for _, i := range rand.Perm(len(all)) {
		require.NoError(t, f.Apply(Message{Rows: []Row{{Key: parseKey(t, all[i]), Writer: snapshot.NewWriterID(), Seq: 1, Value: 1}}}))
	}
	names := func(q export.Query) (got []string) {
		totals, err := f.Totals(t.Context(), q)
		require.NoError(t, err)
		for _, total := range totals {
			assert.Equal(t, 1, total.Writers)
			got = append(got, total.Key.String())
		}
		return got
	}
	assert.Equal(t, all, names(export.Query{}))
	assert.Equal(t, all[1:4], names(export.Query{Prefix: "b"}))
	assert.Equal(t, all[2:4], names(export.Query{Prefix: "b", After: parseKey(t, all[1])}))
	assert.Equal(t, all[1:3], names(export.Query{Prefix: "b{", Limit: 2}))
	assert.Equal(t, all, names(export.Query{Limit: math.MaxInt}))
	assert.Empty(t, names(export.Query{After: parseKey(t, "c")}))
	_, err := f.Totals(t.Context(), export.Query{Limit: -1})
	assert.Error(t, err)
}
