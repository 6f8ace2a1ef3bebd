package stripe

import "unsafe"

// Local is a handle through which one goroutine adds to a Counter. It gathers
// adds in a word of its own and passes them on when they reach a limit, so most
// of its adds are not atomic. What it holds back is in no Value and no Drain of
// the counter until then.
//
// A Local belongs to one goroutine at a time; handing it on needs a
// synchronization of the caller's. Two goroutines that use one at once lose
// counts, which is a data race that the race detector reports.
type Local struct {
	n     int64
	limit int64
	c     *Counter
	_     [localPad]byte
}

const (
	localFields = 2*unsafe.Sizeof(int64(0)) + unsafe.Sizeof(uintptr(0))
	// localPad gives a Local a cache line to itself: two that lie side by side
	// are written by different goroutines.
	localPad = (lineSize - localFields%lineSize) % lineSize
)

// Local returns a handle that holds back less than limit, up or down: after
// each of its adds, |c's true count - c.Value()| owed to this handle is below
// limit. With a limit of 1 or less every add goes straight through.
//
// Flush it when its owner ends, or what it holds back is lost.
func (c *Counter) Local(limit int64) *Local {
	return &Local{c: c, limit: max(limit, 1)}
}

// Add adds n, which may be negative.
func (l *Local) Add(n int64) {
	l.n += n
	if l.n >= l.limit || l.n <= -l.limit {
		l.Flush()
	}
}

// Inc adds 1.
func (l *Local) Inc() {
	l.Add(1)
}

// Flush passes on what the handle holds back, exactly, and leaves it empty and
// ready for more.
//
//go:noinline
func (l *Local) Flush() {
	n := l.n
	l.n = 0
	l.c.Add(n)
}

// Pending returns what the handle holds back.
func (l *Local) Pending() int64 {
	return l.n
}
