package filesink

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hotcount/hotcount/snapshot"
)

// put makes s durable under its name. A failed attempt leaves what was there
// before; its temporary file is given up, never written or synced again, and
// each attempt has a new one.
//
// The order is what makes it safe: content before name, so that a name never
// stands for less than a whole file, and name before return, so that what was
// reported as kept is found after a power cut.
func (k *Sink) put(ctx context.Context, s *snapshot.Snapshot) error {
	k.attempts++
	temp := tempName(k.attempts)
	name := fileName(s.Writer, s.Seq)
	err := k.putTemp(ctx, temp, s)
	if err == nil {
		err = k.fs.Rename(temp, name)
	}
	if err != nil {
		k.fs.Remove(temp) // best effort: Open removes what is left
		return fmt.Errorf("hotcount/filesink: write %s: %w", name, err)
	}
	if err := k.fs.Sync(); err != nil {
		return fmt.Errorf("hotcount/filesink: sync directory after %s: %w", name, err)
	}
	return nil
}

func (k *Sink) putTemp(ctx context.Context, temp string, s *snapshot.Snapshot) error {
	f, err := k.fs.Create(temp)
	if err != nil {
		return err
	}
	_, err = s.WriteTo(contextWriter{ctx, f})
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// A contextWriter ends a long write between frames.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}
