//go:build !unix

package sim

import "time"

func processorTime() (used time.Duration, ok bool) { return 0, false }
