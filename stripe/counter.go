// Package stripe is a placeholder until the striped counter lands.
package stripe

import "sync/atomic"

// Counter counts.
type Counter struct {
	base atomic.Int64
	hot  atomic.Pointer[int64]
}

func (c *Counter) Inc()         { c.base.Add(1) }
func (c *Counter) Add(n int64)  { c.base.Add(n) }
func (c *Counter) Value() int64 { return c.base.Load() }
func (c *Counter) Drain() int64 { return c.base.Swap(0) }
