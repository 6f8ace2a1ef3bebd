// Package peers has the counters that people use today, as implementations for
// package bench, so that hotcount can be measured beside them:
//
//	xsync          puzpuzpuz/xsync v4, Counter
//	crsync         cockroachdb/crlib, crsync.Counter
//	victoria       VictoriaMetrics/metrics
//	prometheus     prometheus/client_golang
//	otel           OpenTelemetry's SDK, Int64Counter with a manual reader
//	gometrics      rcrowley/go-metrics
//	axiomhq-mutex  axiomhq/hyperloglog behind a mutex
//	slidingwindow  RussellLuo/slidingwindow, a rate limiter
//	failsafe       failsafe-go, a circuit breaker
//	aegis          go-kratos/aegis, a circuit breaker
//	sync.Counter   Go's own, if there is one
//
// Package bench itself has atomic.Int64, a mutex and a sync.Map of atomics.
//
// The sharded counter that golang/go#80645 proposes for package sync is in no
// release yet. With a Go that has it, build with -tags hotcount_synccounter. Its
// prototype, argc.dev/goexp/sync, is not among the peers, because the module
// proxy did not serve it.
package peers

import "github.com/hotcount/hotcount/bench"

// All returns the workloads of package bench, with the peers added to those that
// they can do.
func All() []bench.Workload {
	more := map[string][]bench.Impl{
		"add":      counters(),
		"lookup":   lookups(),
		"uniques":  uniques(),
		"window":   windows(),
		"snapshot": snapshots(),
	}
	all := bench.Workloads()
	for i := range all {
		all[i].Impls = append(all[i].Impls, more[all[i].Name]...)
	}
	return all
}
