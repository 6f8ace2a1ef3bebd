package hotcount

import (
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/hotcount/hotcount/series"
)

// parking holds the series that have left the index. It keeps none of them
// alive: each stays for as long as a caller holds its handle.
type parking struct {
	mu     sync.Mutex
	series map[seriesName]weak.Pointer[entry]
	n      int // parked, and neither taken back nor given last rites since
}

// A seriesName is what tells series apart in maps.
type seriesName struct {
	fam    *family
	labels string
}

func (n seriesName) key() series.Key { return keyOf(n.fam.desc, n.labels) }

// park takes over a series that is no longer in the index.
func (p *parking) park(s *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.series == nil {
		p.series = make(map[seriesName]weak.Pointer[entry])
	}
	p.series[seriesName{s.fam, s.labels}] = weak.Make(s)
	p.n++
	// A finalizer and not a cleanup, since it needs the series itself: adds
	// made after the last sweep are nowhere else. Weak pointers are cleared
	// before it runs, so from then on only the finalizer has the series.
	runtime.SetFinalizer(s, func(s *entry) { s.fam.engine.lastRites(s) })
}

// take returns the parked series with this name if it is still alive, and lets
// go of it. The shard of that name must be locked.
func (p *parking) take(f *family, labels string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return nil
	}
	k := seriesName{f, labels}
	s := p.series[k].Value()
	if s != nil {
		runtime.SetFinalizer(s, nil)
		delete(p.series, k)
		p.n--
	}
	return s
}

// forget drops the entry of a dead series, unless a newer series of the same
// name is parked there.
func (p *parking) forget(s *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n--
	k := seriesName{s.fam, s.labels}
	if w, ok := p.series[k]; ok && w.Value() == nil {
		delete(p.series, k)
	}
}

// census appends the parked series that are alive, which from then on they
// stay, and counts those that are dead but still to be given last rites.
func (p *parking) census(alive []*entry) (_ []*entry, dying int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.series {
		if s := w.Value(); s != nil {
			alive = append(alive, s)
		}
	}
	return alive, p.n - len(alive)
}

func (p *parking) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

const (
	// ritesWait is for how long a snapshot waits for finalizers to bring in
	// the last adds of dead series. They are on the runtime's queue already,
	// and a few microseconds each; only a finalizer of the program's own
	// that blocks can hold them up.
	ritesWait = time.Second
	ritesPoll = time.Millisecond
)

// recall brings back every parked series that was added to since it was
// retired, and waits until what dead ones still had is in the index: a sweep
// that begins then sees all adds made before.
//
// The living and the dying are counted together, so that none dies unseen in
// between.
func (e *Engine) recall() {
	alive, dying := e.parked.census(e.sweep.parked[:0])
	for wait := ritesWait; dying > 0 && wait > 0; wait -= ritesPoll {
		time.Sleep(ritesPoll)
		alive, dying = e.parked.census(alive[:0])
	}
	age := e.age()
	for _, s := range alive {
		gone := s.active.CompareAndSwap(deleted, age) // before a look at its adds, as in visit
		if s.unexported() != 0 {
			if gone {
				s.active.Store(deleted)
			}
			e.unpark(s)
		}
	}
	clear(alive[:cap(alive)]) // an earlier census may have been longer
	e.sweep.parked = alive
}

// unpark puts a parked series back into the index, whatever the limits say:
// its adds were accepted before. It does nothing if a look-up did so first.
func (e *Engine) unpark(s *entry) {
	shard := e.index.Shard(e.hashOf(s))
	shard.Lock()
	defer shard.Unlock()
	if e.parked.take(s.fam, s.labels) != nil {
		e.readmit(shard, s)
	}
}

// lastRites runs when the last handle of a parked series is gone. Adds that no
// sweep has seen go to the series that has the name now, or bring this one back.
func (e *Engine) lastRites(s *entry) {
	defer e.parked.forget(s) // last: until then, census counts s
	rest := s.unexported()
	if rest == 0 {
		return
	}
	hash := e.hashOf(s)
	shard := e.index.Shard(hash)
	shard.Lock()
	defer shard.Unlock()
	if heir := s.fam.findPacked(hash, s.labels); heir != nil {
		heir.count.Add(rest)
		return
	}
	if heir := e.parked.take(s.fam, s.labels); heir != nil {
		heir.count.Add(rest)
		s = heir
	}
	e.readmit(shard, s)
}

func (e *Engine) readmit(shard *shard, s *entry) {
	s.fam.hold(s.labels)
	shard.Insert(e.index, s)
	s.fam.openWindow(s)
}
