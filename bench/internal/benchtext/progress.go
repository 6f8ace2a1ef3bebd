package benchtext

import (
	"fmt"
	"io"
	"time"

	"github.com/hotcount/hotcount/bench"
)

// A Screen shows how far a run is: on a terminal in one line that changes, else
// in a line now and then.
type Screen struct {
	W        io.Writer
	Terminal bool

	shown time.Time
	dirty bool // the line on the terminal is not empty
}

// How long a line stays, on a terminal and elsewhere.
const (
	moment = 200 * time.Millisecond
	while  = 5 * time.Second
)

// Show shows p, unless something was shown just now.
func (s *Screen) Show(p bench.Progress, now time.Time) {
	line := fmt.Sprintf("%d of %d, %s left: %s", min(p.Done, p.Total), p.Total, p.Left.Round(time.Second), p.Case)
	if p.Done >= p.Total {
		line = fmt.Sprintf("%s left for disturbed rounds: %s", p.Left.Round(time.Second), p.Case)
	}
	switch {
	case s.Terminal && now.Sub(s.shown) >= moment:
		fmt.Fprintf(s.W, "\r\x1b[K%.100s", line)
		s.dirty = true
	case !s.Terminal && now.Sub(s.shown) >= while:
		fmt.Fprintln(s.W, line)
	default:
		return
	}
	s.shown = now
}

// Clear takes the line off the terminal.
func (s *Screen) Clear() {
	if s.dirty {
		fmt.Fprint(s.W, "\r\x1b[K")
		s.dirty = false
	}
}
