//go:build !hotcount_stores

package sinks

import (
	"context"
	"fmt"
)

// errNoClients says what a build lacks unless it is asked for: the clients of the
// stores take longer to fetch and compile than all the rest of the command.
var errNoClients = fmt.Errorf("%w: this program knows directories only; for Redis, PostgreSQL and NATS build it with -tags hotcount_stores", ErrAddress)

func noSink(context.Context, string) (Sink, error)     { return nil, errNoClients }
func noReader(context.Context, string) (Reader, error) { return nil, errNoClients }

var (
	openNATS, openPostgres, openRedis = noSink, noSink, noSink
	readNATS, readPostgres, readRedis = noReader, noReader, noReader
)
