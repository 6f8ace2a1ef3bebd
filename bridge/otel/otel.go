package otel

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotcount/hotcount"
)

// ScopeName is the name of the instrumentation scope of what a Producer shows.
const ScopeName = "github.com/hotcount/hotcount/bridge/otel"

// Options say how an engine is shown. The zero value is ready to use. All names
// are those that metrics have in the engine.
type Options struct {
	// Descriptions has the descriptions of metrics.
	Descriptions map[string]string

	// Units has the units of metrics in the notation of UCUM, such as
	// "{request}" or "By". The default is none.
	Units map[string]string

	// UpDown names the counters that may fall.
	UpDown []string
}

// A Producer is a metric.Producer of the SDK over an engine: give it to a
// reader by metric.WithProducer. All methods are safe for concurrent use.
type Producer struct {
	engine *hotcount.Engine
	namer  namer
	scope  instrumentation.Scope
	spare  atomic.Pointer[hotcount.View] // empty, for its memory; nil while in use
}

// New returns a producer over an engine. It goes on to work when the engine is
// closed.
func New(e *hotcount.Engine, o Options) *Producer {
	return &Producer{
		engine: e,
		namer:  newNamer(o),
		scope:  instrumentation.Scope{Name: ScopeName, Version: version()},
	}
}

// Produce implements metric.Producer. The error is nil unless ctx is done.
func (p *Producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := p.spare.Swap(nil)
	if v == nil {
		v = new(hotcount.View)
	}
	p.engine.View(v)
	c := collection{taken: v.Taken, streams: make(map[*instrument]*stream)}
	newWalk(&p.namer, c.add).view(v)
	release(v)
	p.spare.Store(v)
	return []metricdata.ScopeMetrics{{Scope: p.scope, Metrics: c.metrics()}}, nil
}

// release lets go of what v shows, so that series can leave before the next
// collection.
func release(v *hotcount.View) {
	clear(v.Counters)
	clear(v.Uniques)
	clear(v.Events)
	clear(v.UniquesWindows)
}

// version returns the version of this module in the program, "" if it is not
// known, as in a program that was built inside a workspace.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == ScopeName {
			return m.Version
		}
	}
	return ""
}
