package sinkkit

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/hotcount/hotcount/snapshot"
)

// simStore is a store as Mirror's documentation asks for, in its simplest form,
// behind a network that loses, delays and repeats.
type simStore struct {
	rng    *rand.Rand
	faulty bool
	locks  bool     // what is asked for one after the other is done so
	late   []func() // requests that the network still holds

	rows      map[string]map[snapshot.WriterID]simRow // of counters, and of buckets
	base      map[string]int64                        // what dead writers' rows add up to
	standings map[snapshot.WriterID]simStanding
}

type simStanding struct {
	Standing
	applied int // requests of the pending flush
}

// A simPut is what a writer has counted in a series since created, or in a bucket.
type simPut struct {
	id             string
	created, value int64
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
		rows:      map[string]map[snapshot.WriterID]simRow{},
		base:      map[string]int64{},
		standings: map[snapshot.WriterID]simStanding{},
	}
}

// clone returns a copy of what the store holds.
func (st *simStore) clone() *simStore {
	c := *st
	c.base, c.standings, c.rows = maps.Clone(st.base), maps.Clone(st.standings), map[string]map[snapshot.WriterID]simRow{}
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
func (st *simStore) claim(w snapshot.WriterID, want Standing, mark Mark) bool {
	s := st.standings[w]
	if s.Standing != want {
		return s.Pending == mark
	}
	s.Pending, s.applied = mark, 0
	st.standings[w] = s
	return true
}

// put applies the i-th rows of a flush.
func (st *simStore) put(w snapshot.WriterID, mark Mark, seq uint64, i int, puts []simPut) bool {
	s := st.standings[w]
	if s.Pending != mark || s.Dead || i > s.applied {
		return false
	}
	if i == s.applied {
		s.applied++
		st.standings[w] = s
	}
	for _, p := range puts {
		st.apply(w, seq, s.Seq, p)
	}
	return true
}

func (st *simStore) apply(w snapshot.WriterID, seq, whole uint64, p simPut) {
	if st.rows[p.id] == nil {
		st.rows[p.id] = map[snapshot.WriterID]simRow{}
	}
	have, ok := st.rows[p.id][w]
	if ok && have.now.seq <= whole {
		have.whole = have.now
	}
	switch {
	case !ok:
		have.now = simState{0, p.created, p.value, seq}
	case p.created > have.now.created:
		have.now = simState{have.now.carry + have.now.value, p.created, p.value, seq}
	case p.created == have.now.created && seq > have.now.seq:
		have.now.value, have.now.seq = p.value, seq
	}
	st.rows[p.id][w] = have
}

// end makes a flush of n requests whole.
func (st *simStore) end(w snapshot.WriterID, mark Mark, seq uint64, n int) bool {
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
func (st *simStore) transact(w snapshot.WriterID, want Standing, mark Mark, seq uint64, puts []simPut) bool {
	if st.standings[w].Standing != want {
		return st.standings[w].Mark == mark
	}
	for _, p := range puts {
		st.apply(w, seq, want.Seq, p)
	}
	st.standings[w] = simStanding{Standing: Standing{Seq: seq, Mark: mark}}
	return true
}

// rollUp adds up the rows of a writer.
func (st *simStore) rollUp(w snapshot.WriterID) {
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

// simSink flushes through a Mirror, as sinks do.
type simSink struct {
	store         *simStore
	transactional bool
	mirror        Mirror
	buckets       BucketMirror
}

func (k *simSink) clone() *simSink {
	c := *k
	c.mirror.counters = maps.Clone(k.mirror.counters)
	c.mirror.uniques = maps.Clone(k.mirror.uniques)
	c.mirror.claims = slices.Clone(k.mirror.claims)
	c.mirror.rows, c.mirror.sketches = nil, nil
	c.buckets.acked.newest = maps.Clone(k.buckets.acked.newest)
	c.buckets.tried.newest = maps.Clone(k.buckets.tried.newest)
	c.buckets.sent, c.buckets.offset = maps.Clone(k.buckets.sent), maps.Clone(k.buckets.offset)
	c.buckets.picked = nil
	return &c
}

func (k *simSink) write(s *snapshot.Snapshot) error {
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

func (k *simSink) standing(w snapshot.WriterID) (Standing, error) {
	var st Standing
	err := k.store.call(func() { st = k.store.standings[w].Standing })
	return st, err
}

// pick returns what a flush sends.
func (k *simSink) pick(s *snapshot.Snapshot) (puts []simPut) {
	rows, _ := k.mirror.Pick(s)
	for _, r := range rows {
		puts = append(puts, simPut{r.Key.String(), r.Created, r.Value})
	}
	for _, b := range k.buckets.Pick(&k.mirror, s) {
		puts = append(puts, simPut{bucketID(b.Key, b.Resolution, b.Start), 0, b.Count})
	}
	return puts
}

// flush sends all in one transaction.
func (k *simSink) flush(s *snapshot.Snapshot, st Standing) error {
	puts := k.pick(s)
	w, mark, ok := k.mirror.Writer(), k.mirror.Mark(), false
	err := k.store.call(func() { ok = k.store.transact(w, st, mark, s.Seq, puts) })
	if err != nil || !ok {
		return errSim
	}
	k.mirror.Hold(s)
	return nil
}

// stream sends two rows at a time.
func (k *simSink) stream(s *snapshot.Snapshot, mark Mark) error {
	puts := k.pick(s)
	w, n, ok := k.mirror.Writer(), 0, true
	for chunk := range slices.Chunk(puts, 2) {
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
