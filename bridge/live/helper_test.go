package live_test

import (
	"context"
	"errors"

	"github.com/hotcount/hotcount/snapshot"
)

// failing is a sink whose driver quotes the address that it was given.
type failing struct{}

func (failing) Write(context.Context, *snapshot.Snapshot) error {
	return errors.New(`dial redis://me:hunter2@host:6379: refused`)
}

func (failing) String() string { return "postgres://me:hunter2@host/db" }

// expired returns a context that is done.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
