package filesink

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// simFS is a directory in memory that can fail and lose power.
//
// Content and names are volatile until synced. A power cut keeps of what is
// not synced an arbitrary part: of a file's content any prefix, for each name
// either the old or the new state on its own. Real file systems are kinder.
//
// A failed Sync loses what it was to make durable for good, and later Syncs of
// that file succeed nevertheless, as Linux does it.
type simFS struct {
	rng     *rand.Rand
	names   map[string]*inode // as processes see it
	durable map[string]*inode // as a power cut leaves it

	ops    int   // operations so far
	failAt int   // fail this one, if not 0, and
	fault  fault // in this way
	dead   bool  // since the power cut everything fails
}

type inode struct {
	content []byte
	durable int  // bytes that survive
	lost    bool // a Sync has failed: nothing more becomes durable
}

type fault string

const (
	faultEIO      fault = "EIO"       // fails without effect
	faultENOSPC   fault = "ENOSPC"    // writes half, fails
	faultAfter    fault = "after"     // takes effect, reports failure
	faultPowerCut fault = "power cut" // before the operation takes effect
	faultKill     fault = "kill"      // the process ends: what it did stays
)

var faults = []fault{faultEIO, faultENOSPC, faultAfter, faultPowerCut, faultKill}

var (
	errFault = errors.New("injected fault")
	errDead  = errors.New("power is off")
)

func newSimFS(seed uint64) *simFS {
	return &simFS{
		rng:     rand.New(rand.NewPCG(seed, 0)),
		names:   map[string]*inode{},
		durable: map[string]*inode{},
	}
}

// op runs one operation, or the fault that is due instead.
func (d *simFS) op(do func() error) error {
	if d.dead {
		return errDead
	}
	d.ops++
	if d.ops != d.failAt {
		return do()
	}
	switch d.fault {
	case faultAfter:
		return errors.Join(do(), errFault)
	case faultPowerCut:
		d.cutPower()
		return errDead
	case faultKill:
		d.dead = true
		return errDead
	}
	return errFault
}

func (d *simFS) cutPower() {
	d.dead = true
	// In a fixed order, so that a seed repeats a run.
	all := maps.Clone(d.durable)
	maps.Copy(all, d.names)
	left := map[string]*inode{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		state := d.durable
		if d.rng.IntN(2) == 0 {
			state = d.names
		}
		n, ok := state[name]
		if !ok {
			continue
		}
		keep := n.durable
		if !n.lost {
			keep += d.rng.IntN(len(n.content) - n.durable + 1)
		}
		left[name] = &inode{content: n.content[:keep:keep], durable: keep}
	}
	d.names = left
	d.durable = maps.Clone(left)
}

// reboot makes the directory usable again after a crash.
func (d *simFS) reboot() { d.dead, d.failAt = false, 0 }

func (d *simFS) Create(name string) (file, error) {
	n := new(inode)
	err := d.op(func() error {
		if _, ok := d.names[name]; ok {
			return fs.ErrExist
		}
		d.names[name] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &simFile{d, n}, nil
}

func (d *simFS) Open(name string) (io.ReadCloser, error) {
	var n *inode
	err := d.op(func() error {
		var ok bool
		if n, ok = d.names[name]; !ok {
			return fs.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(n.content)), nil
}

func (d *simFS) Rename(from, to string) error {
	return d.op(func() error {
		n, ok := d.names[from]
		if !ok {
			return fs.ErrNotExist
		}
		delete(d.names, from)
		d.names[to] = n
		return nil
	})
}

func (d *simFS) Remove(name string) error {
	return d.op(func() error {
		if _, ok := d.names[name]; !ok {
			return fs.ErrNotExist
		}
		delete(d.names, name)
		return nil
	})
}

func (d *simFS) List() (entries []entry, err error) {
	err = d.op(func() error {
		for _, name := range slices.Sorted(maps.Keys(d.names)) {
			entries = append(entries, entry{name, int64(len(d.names[name].content)), time.Time{}, true})
		}
		return nil
	})
	return entries, err
}

func (d *simFS) Sync() error {
	return d.op(func() error {
		d.durable = maps.Clone(d.names)
		return nil
	})
}

type simFile struct {
	d *simFS
	n *inode
}

func (f *simFile) Write(b []byte) (int, error) {
	err := f.d.op(func() error {
		f.n.content = append(f.n.content, b...)
		return nil
	})
	switch {
	case err == nil:
		return len(b), nil
	case err == errFault && f.d.fault == faultENOSPC:
		f.n.content = append(f.n.content, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	return 0, err
}

func (f *simFile) Sync() error {
	err := f.d.op(func() error {
		if !f.n.lost {
			f.n.durable = len(f.n.content)
		}
		return nil
	})
	if errors.Is(err, errFault) {
		f.n.lost = true
	}
	return err
}

func (f *simFile) Close() error { return f.d.op(func() error { return nil }) }
