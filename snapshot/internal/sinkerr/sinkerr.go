// Package sinkerr turns the errors of a client into those of a sink.
package sinkerr

import (
	"errors"
	"fmt"

	"github.com/hotcount/hotcount/export"
)

// A Kind is an error of a client's with the sink's own that it means.
type Kind struct {
	Of       error
	Means    error
	Terminal bool // see export.IsTerminal
}

// Typed wraps an error of the client in the sink's own, or in the sink's name. What
// is not known is taken for something that passes.
func Typed(name string, kinds []Kind, err error) error {
	for _, kind := range kinds {
		if !errors.Is(err, kind.Of) {
			continue
		}
		err = fmt.Errorf("%w: %w", kind.Means, err)
		if kind.Terminal {
			err = export.Terminal(err)
		}
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
