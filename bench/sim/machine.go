package sim

import (
	"errors"
	"fmt"
	"math"
)

// ErrConfig is wrapped by every error about a Config.
var ErrConfig = errors.New("hotcount/bench/sim: invalid configuration")

// The largest values that a Config may have. They keep every sum of times far
// from the end of an int64 of picoseconds.
const (
	MaxWorkers = 4096
	MaxSockets = 64
	MaxNanos   = 1e6 // of an add, a pick or a transfer
	MaxAdds    = 1 << 26
)

// A Machine is what counting costs on a computer, in nanoseconds. [Calibrate]
// measures one.
type Machine struct {
	// Add is a locked add to a line that the core owns.
	Add float64
	// Transfer is what an add takes longer when another core of the same socket
	// owns the line.
	Transfer float64
	// Cross is the same for a core of another socket; 0 is as Transfer. It is
	// not less than Transfer.
	Cross float64
	// Sockets is how many sockets the cores are split over; 0 is 1.
	Sockets int
}

// handoverShare is the part of a transfer during which nobody can add to the
// line: the last of three messages, which go from the one who asks to the line's
// home, on to the owner, and from the owner to the one who asked. The last one
// carries the line, so it is more than a third; 0.4 was fitted to one atomic under
// two workers of an EPYC (docs/simulation.md says how well it does elsewhere).
const handoverShare = 0.4

// Handover is how long a line of one socket is on its way between two owners. A
// line that many cores queue for is added to once every Handover + Add.
func (m Machine) Handover() float64 { return m.Transfer * handoverShare }

func (m Machine) withDefaults() Machine {
	if m.Cross == 0 {
		m.Cross = m.Transfer
	}
	if m.Sockets == 0 {
		m.Sockets = 1
	}
	return m
}

func (m Machine) check() error {
	for _, v := range []struct {
		name string
		ns   float64
		zero bool // is allowed
	}{{"Add", m.Add, false}, {"Transfer", m.Transfer, true}, {"Cross", m.Cross, true}} {
		if err := checkNanos(v.name, v.ns, v.zero); err != nil {
			return err
		}
	}
	if m.Cross < m.Transfer {
		return fmt.Errorf("%w: Cross of %v ns is below Transfer of %v ns", ErrConfig, m.Cross, m.Transfer)
	}
	if m.Sockets < 1 || m.Sockets > MaxSockets {
		return fmt.Errorf("%w: %d sockets, not 1 to %d", ErrConfig, m.Sockets, MaxSockets)
	}
	return nil
}

func checkNanos(name string, ns float64, zero bool) error {
	if math.IsNaN(ns) || ns < 0 || ns == 0 && !zero || ns > MaxNanos {
		return fmt.Errorf("%w: %s of %v ns", ErrConfig, name, ns)
	}
	return nil
}
