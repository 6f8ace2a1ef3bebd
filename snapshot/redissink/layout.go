package redissink

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
)

// checkLayout returns an error unless the store has this sink's layout, or none
// yet. If write is set, it gets this one. What is found is not asked for again.
func (k *Sink) checkLayout(ctx context.Context, write bool) error {
	if k.checked.Load() {
		return nil
	}
	name := k.prefix + "hotcount:layout"
	if write {
		if err := k.client.SetNX(ctx, name, k.layout, 0).Err(); err != nil {
			return explain(err)
		}
	}
	switch have, err := k.client.Get(ctx, name).Result(); {
	case errors.Is(err, redis.Nil): // nothing has been written yet
		return nil
	case err != nil:
		return explain(err)
	case have != k.layout:
		return fmt.Errorf("hotcount/redissink: %w: version and partitions are %q, not %q", export.ErrSchema, have, k.layout)
	}
	k.checked.Store(true)
	return nil
}
