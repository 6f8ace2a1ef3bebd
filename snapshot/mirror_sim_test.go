package snapshot

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
)

// simStore is a store as Mirror's documentation asks for, in its simplest form,
// behind a network that loses, delays and repeats.
type simStore struct {
	rng    *rand.Rand
	faulty bool
	locks  bool     // what is asked for one after the other is done so
	late   []func() // requests that the network still holds

	rows      map[string]map[WriterID]simRow
	base      map[string]int64 // what dead writers' rows add up to
	standings map[WriterID]simStanding
}

type simStanding struct {
	Standing
	applied int // requests of the pending flush
}

// simRow is a row as it is, and as it was in the writer's last whole snapshot.
type simRow struct{ now, whole simState }

type simState struct {
	carry, created, value int64
	seq                   uint64
}

func newSimStore(rng *rand.Rand) *simStore {
	return &simStore{
		rng:       rng,
		rows:      map[string]map[WriterID]simRow{},
		base:      map[string]int64{},
		standings: map[WriterID]simStanding{},
	}
}

// clone returns a copy of what the store holds.
func (st *simStore) clone() *simStore {
	c := *st
	c.base, c.standings, c.rows = maps.Clone(st.base), maps.Clone(st.standings), map[string]map[WriterID]simRow{}
	for k, rows := range st.rows {
		c.rows[k] = maps.Clone(rows)
	}
	return &c
}

// restore makes the store what it was when old was cloned.
func (st *simStore) restore(old *simStore) {
	c := old.clone()
	st.rows, st.base, st.standings = c.rows, c.base, c.standings
}

var errSim = errors.New("no answer")

// call sends a request and reports whether its answer came back.
func (st *simStore) call(request func()) error {
	if !st.faulty {
		request()
		return nil
	}
	for len(st.late) > 0 && st.rng.IntN(3) == 0 {
		i := st.rng.IntN(len(st.late))
		late := st.late[i]
		if st.rng.IntN(2) == 0 {
			st.late = slices.Delete(st.late, i, i+1)
		}
		late()
	}
	switch n := st.rng.IntN(12); {
	case n == 0: // lost
		return errSim
	case n == 1: // the answer is lost
		request()
		return errSim
	case n == 2 && !st.locks: // late
		st.late = append(st.late, request)
		return errSim
	case n == 3 && !st.locks: // twice
		st.late = append(st.late, request)
	}
	request()
	return nil
}

// claim makes mark pending if the standing is still want.
func (st *simStore) claim(w WriterID, want Standing, mark Mark) bool {
	s := st.standings[w]
	if s.Standing != want {
		return s.Pending == mark
	}
	s.Pending, s.applied = mark, 0
	st.standings[w] = s
	return true
}

// put applies the i-th rows of a flush.
func (st *simStore) put(w WriterID, mark Mark, seq uint64, i int, rows []Row) bool {
	s := st.standings[w]
	if s.Pending != mark || s.Dead || i > s.applied {
		return false
	}
	if i == s.applied {
		s.applied++
		st.standings[w] = s
	}
	for _, r := range rows {
		st.apply(w, seq, s.Seq, r)
	}
	return true
}

func (st *simStore) apply(w WriterID, seq, whole uint64, r Row) {
	k := r.Key.String()
	if st.rows[k] == nil {
		st.rows[k] = map[WriterID]simRow{}
	}
	have, ok := st.rows[k][w]
	if ok && have.now.seq <= whole {
		have.whole = have.now
	}
	switch {
	case !ok:
		have.now = simState{0, r.Created, r.Value, seq}
	case r.Created > have.now.created:
		have.now = simState{have.now.carry + have.now.value, r.Created, r.Value, seq}
	case r.Created == have.now.created && seq > have.now.seq:
		have.now.value, have.now.seq = r.Value, seq
	}
	st.rows[k][w] = have
}

// end makes a flush of n requests whole.
func (st *simStore) end(w WriterID, mark Mark, seq uint64, n int) bool {
	s := st.standings[w]
	if s.Mark == mark {
		return true
	}
	if s.Pending != mark || s.Dead || s.applied != n {
		return false
	}
	st.standings[w] = simStanding{Standing: Standing{Seq: seq, Mark: mark}}
	return true
}

// transact is a flush in a store with transactions.
func (st *simStore) transact(w WriterID, want Standing, mark Mark, seq uint64, rows []Row) bool {
	if st.standings[w].Standing != want {
		return st.standings[w].Mark == mark
	}
	for _, r := range rows {
		st.apply(w, seq, want.Seq, r)
	}
	st.standings[w] = simStanding{Standing: Standing{Seq: seq, Mark: mark}}
	return true
}

// rollUp adds up the rows of a writer.
func (st *simStore) rollUp(w WriterID) {
	s := st.standings[w]
	for k, rows := range st.rows {
		r, ok := rows[w]
		if !ok {
			continue
		}
		if r.now.seq <= s.Seq {
			r.whole = r.now
		}
		st.base[k] += r.whole.carry + r.whole.value
		delete(rows, w)
	}
	s.Dead = true
	st.standings[w] = s
}

func (st *simStore) totals() map[string]int64 {
	sums := maps.Clone(st.base)
	for k, rows := range st.rows {
		for _, r := range rows {
			sums[k] += r.now.carry + r.now.value
		}
	}
	return sums
}

// simSource is an engine with few series, which it retires at random.
type simSource struct {
	rng     *rand.Rand
	writer  WriterID
	seq     uint64
	clock   int64
	live    map[string]Counter
	final   []Counter
	finalAt []uint64 // the first snapshot that has the row
}

func newSimSource(rng *rand.Rand) *simSource {
	return &simSource{rng: rng, writer: NewWriterID(), live: map[string]Counter{}}
}

func (so *simSource) clone() *simSource {
	c := *so
	c.live, c.final, c.finalAt = maps.Clone(so.live), slices.Clone(so.final), slices.Clone(so.finalAt)
	return &c
}

// count adds to some series, and retires some.
func (so *simSource) count(keys []Key, truth map[string]int64) {
	for range so.rng.IntN(4) {
		k := keys[so.rng.IntN(len(keys))]
		c, ok := so.live[k.String()]
		if !ok {
			so.clock++
			c = Counter{Key: k, Created: so.clock}
		}
		n := so.rng.Int64N(10) - 3
		c.Value += n
		truth[k.String()] += n
		so.live[k.String()] = c
	}
	if so.rng.IntN(4) == 0 {
		k := keys[so.rng.IntN(len(keys))].String()
		if c, ok := so.live[k]; ok {
			delete(so.live, k)
			so.final, so.finalAt = append(so.final, c), append(so.finalAt, so.seq+1)
		}
	}
}

func (so *simSource) snapshot() *Snapshot {
	so.seq++
	s := &Snapshot{Writer: so.writer, Seq: so.seq, Final: slices.Clone(so.final)}
	for _, c := range so.live {
		s.Counters = append(s.Counters, c)
	}
	return s
}

func (so *simSource) acknowledge(seq uint64) {
	for len(so.finalAt) > 0 && so.finalAt[0] <= seq {
		so.final, so.finalAt = so.final[1:], so.finalAt[1:]
	}
}

// simSink flushes through a Mirror, as sinks do.
type simSink struct {
	store         *simStore
	transactional bool
	mirror        Mirror
}

func (k *simSink) clone() *simSink {
	c := *k
	c.mirror.counters = maps.Clone(k.mirror.counters)
	c.mirror.uniques = maps.Clone(k.mirror.uniques)
	c.mirror.claims = slices.Clone(k.mirror.claims)
	c.mirror.rows, c.mirror.sketches = nil, nil
	return &c
}

func (k *simSink) write(s *Snapshot) error {
	m := &k.mirror
	m.Follow(s)
	for range 8 { // a store that goes on changing its mind is an error
		st, err := k.standing(m.Writer())
		if err != nil {
			return err
		}
		switch step, err := m.Settle(st); {
		case err != nil:
			return err
		case step == Done:
			return nil
		case step == Ask:
			continue
		}
		if k.transactional {
			return k.flush(s, st)
		}
		w, mark, ok := m.Writer(), m.Claim(), false
		if err := k.store.call(func() { ok = k.store.claim(w, st, mark) }); err != nil {
			return err
		}
		if ok {
			return k.stream(s, mark)
		}
	}
	return errSim
}

func (k *simSink) standing(w WriterID) (Standing, error) {
	var st Standing
	err := k.store.call(func() { st = k.store.standings[w].Standing })
	return st, err
}

// flush sends all in one transaction.
func (k *simSink) flush(s *Snapshot, st Standing) error {
	rows, _ := k.mirror.Pick(s)
	rows = slices.Clone(rows)
	w, mark, ok := k.mirror.Writer(), k.mirror.Mark(), false
	err := k.store.call(func() { ok = k.store.transact(w, st, mark, s.Seq, rows) })
	if err != nil || !ok {
		return errSim
	}
	k.mirror.Hold(s)
	return nil
}

// stream sends two rows at a time.
func (k *simSink) stream(s *Snapshot, mark Mark) error {
	rows, _ := k.mirror.Pick(s)
	rows = slices.Clone(rows)
	w, n, ok := k.mirror.Writer(), 0, true
	for chunk := range slices.Chunk(rows, 2) {
		i, done := n, false
		if err := k.store.call(func() { done = k.store.put(w, mark, s.Seq, i, chunk) }); err != nil {
			return err
		}
		ok = ok && done
		n++
	}
	done := false
	if err := k.store.call(func() { done = k.store.end(w, mark, s.Seq, n) }); err != nil {
		return err
	}
	if !ok || !done {
		return errSim
	}
	k.mirror.Hold(s)
	return nil
}

// simKeys returns the keys of a few series of two families.
func simKeys(t require.TestingT) []Key {
	plain, err := NewDesc("plain_total")
	require.NoError(t, err)
	labelled, err := NewDesc("labelled_total", "l")
	require.NoError(t, err)
	return []Key{plain.Key(), labelled.Key("a"), labelled.Key("b"), labelled.Key("c")}
}
