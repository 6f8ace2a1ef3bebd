package sinkkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/hotcount/hotcount/export"
)

// Explain returns err with what the sink was doing, such as "hotcount/pgsink:
// flush", in front, and wrapped in the error of package export that it means:
// the one that it wraps already, else what kindOf returns for it, else
// export.ErrUnavailable if a connection failed or the time was up. If it means none,
// it is wrapped in none. Explain of nil is nil.
func Explain(doing string, err error, kindOf func(error) error) error {
	if err == nil {
		return nil
	}
	kind := export.Kind(err)
	if kind == nil {
		if kind = kindOf(err); kind == nil && outOfReach(err) {
			kind = export.ErrUnavailable
		}
		if kind != nil {
			return fmt.Errorf("%s: %w: %w", doing, kind, err)
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// A Meaning is an error of a client with the one of package export that it means.
type Meaning struct{ Of, Kind error }

// KindOf returns the kind of the first meaning whose Of err wraps, nil if there is
// none. It makes a table serve as Explain's kindOf.
func KindOf(table []Meaning) func(error) error {
	return func(err error) error {
		for _, m := range table {
			if errors.Is(err, m.Of) {
				return m.Kind
			}
		}
		return nil
	}
}

// outOfReach reports whether err is that of a connection. What a certificate lacks
// is among it, since that can be replaced.
func outOfReach(err error) bool {
	for _, known := range [...]error{context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	_, network := errors.AsType[net.Error](err)
	return network
}
