package redissink

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
)

// countKept is for how long a total that Count found stays under its key.
const countKept = 24 * time.Hour

// Count returns a counter's total over all writers, and how old that is: at most
// maxAge. If the last one found is older, the server adds up the rows once, for
// everybody who asks, and keeps the sum for a day as a decimal number under
// KeyNames.Count. A counter that nobody has written is 0.
//
// It costs one round trip.
func (k *Sink) Count(ctx context.Context, key series.Key, maxAge time.Duration) (n int64, age time.Duration, err error) {
	if err := k.checkLayout(ctx, false); err != nil {
		return 0, 0, err
	}
	names := k.KeyNames(key)
	c := &call{
		script: &countScript,
		keys:   []string{names.Counter, names.Count},
		args:   []any{min(maxAge, countKept).Milliseconds(), countKept.Milliseconds()},
	}
	k.run(ctx, c)
	answer, err := c.cmd.Slice()
	if err != nil {
		return 0, 0, explain(err)
	}
	if len(answer) != 2 {
		return 0, 0, fmt.Errorf("hotcount/redissink: %w: a count was answered by %.120q", export.ErrForeign, answer)
	}
	if ms, ok := answer[1].(int64); ok {
		age = time.Duration(ms) * time.Millisecond
	}
	if answer[0] == nil {
		return 0, age, nil
	}
	n, err = strconv.ParseInt(fmt.Sprint(answer[0]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("hotcount/redissink: %w: %s: %w", export.ErrForeign, names.Count, err)
	}
	return n, age, nil
}
