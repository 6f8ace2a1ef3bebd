package hll

import (
	"fmt"
	"math"
)

// A Kind says how much the registers of a sketch know, and so how good its
// estimates can be.
type Kind uint8

const (
	// UltraLogLog is the kind of a sketch that this package counted alone. A
	// register has eight bits. The standard error is 0.761/√2^p, 0.59 % at the
	// default precision of 14.
	UltraLogLog Kind = iota

	// HyperLogLog is the kind of a sketch whose registers, or a part of them,
	// came from Redis or from axiomhq/hyperloglog. Of each byte, six bits
	// count. The standard error is 1.04/√2^p, 0.81 % at precision 14.
	HyperLogLog
)

// String returns "ultraloglog" or "hyperloglog".
func (k Kind) String() string {
	switch k {
	case UltraLogLog:
		return "ultraloglog"
	case HyperLogLog:
		return "hyperloglog"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// StandardError returns the standard deviation of estimates by a large sketch
// of this kind and precision, as a fraction of the count. That of one sketch may
// be less, while it has few elements for its registers.
func (k Kind) StandardError(precision int) float64 {
	// The square roots of ln 2 / ζ(2, 5/4) and ln 2 / ζ(2, 2): O. Ertl 2024,
	// and 2025 (arXiv:2402.13726).
	const ultra, plain = 0.7609, 1.0367
	c := plain
	if k == UltraLogLog {
		c = ultra
	}
	return c / math.Sqrt(math.Ldexp(1, precision))
}

// Kind returns how much s knows of its elements. A small sketch is an
// UltraLogLog. The union of two kinds is a HyperLogLog.
func (s *Sketch) Kind() Kind { return s.current().kind() }
