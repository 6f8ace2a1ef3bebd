package sim

// An event is something that happens at a time.
type event struct {
	at     int64 // picoseconds
	made   int64 // order of making
	kind   kind
	worker int     // of begins
	tenure *tenure // of the others
}

type kind uint8

const (
	begins  kind = iota // a worker is about to add
	ends                // an add is done
	asks                // a request is at who has the line, or will have it
	arrives             // a line is at who asked for it
)

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.made < f.made
}

// A queue is a binary heap of events. It is container/heap without the
// interface, whose boxes would be most of what a run costs.
type queue struct {
	heap []event
	made int64
}

func (q *queue) push(e event) {
	q.made++
	e.made = q.made
	h := append(q.heap, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	q.heap = h
}

// pop returns the first event of a queue that is not empty.
func (q *queue) pop() event {
	h := q.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			if len(h) > 0 {
				h[i] = last
			}
			return first
		}
		if down+1 < len(h) && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&last) {
			h[i] = last
			return first
		}
		h[i] = h[down]
		i = down
	}
}
