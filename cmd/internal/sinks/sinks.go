// Package sinks opens the stores that the command sends snapshots to and reads
// totals from, by address.
//
// A kind of store is one line in schemes. Each gets the whole address, password
// included; what this package shows of an address has none.
package sinks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hotcount/hotcount/export"
)

// ErrAddress is wrapped by the errors of Parse.
var ErrAddress = errors.New("no such kind of sink")

// A Sink takes snapshots until it is closed.
type Sink interface {
	export.Sink
	io.Closer
}

// A Reader gives totals until it is closed.
type Reader interface {
	export.Reader
	io.Closer
}

// A scheme is a kind of store.
type scheme struct {
	name   string // what an address begins with, up to the colon
	form   string // of an address, for people
	path   bool   // and no server follows the colon
	sink   func(ctx context.Context, address string) (Sink, error)
	reader func(ctx context.Context, address string) (Reader, error)
}

func schemes() []scheme {
	return []scheme{
		{"file", "file:DIR", true, openDir, readDir},
		{"nats", "nats://HOST[?stream=NAME]", false, openNATS, readNATS},
		{"postgres", "postgres://USER@HOST/DATABASE[?schema=NAME&migrate=true]", false, openPostgres, readPostgres},
		{"postgresql", "postgresql://…", false, openPostgres, readPostgres},
		{"redis", "redis://HOST[?prefix=TEXT]", false, openRedis, readRedis},
		{"rediss", "rediss://…", false, openRedis, readRedis},
	}
}

// Forms returns the forms of addresses that there are.
func Forms() string {
	var forms []string
	for _, s := range schemes() {
		forms = append(forms, s.form)
	}
	return strings.Join(forms, ", ")
}

// A Target is a store that is not open yet.
type Target struct {
	address string
	scheme  scheme
}

// Parse reads an address.
func Parse(address string) (Target, error) {
	name, rest, ok := strings.Cut(address, ":")
	s := find(name)
	switch {
	case !ok: // it may be anything, so it is not shown
		return Target{}, fmt.Errorf("%w: the address has no scheme; known are %s", ErrAddress, Forms())
	case s == nil:
		return Target{}, fmt.Errorf("%w: %q; known are %s", ErrAddress, name, Forms())
	case !s.path && !strings.HasPrefix(rest, "//"): // a driver would take it for its default server
		return Target{}, fmt.Errorf("%w: %s: without //; known are %s", ErrAddress, name, Forms())
	}
	return Target{address, *s}, nil
}

func find(name string) *scheme {
	for _, s := range schemes() {
		if s.name == name {
			return &s
		}
	}
	return nil
}

// Dir returns the target that is a directory of this machine.
func Dir(dir string) Target {
	return Target{dirScheme + dir, scheme{path: true, sink: openDir, reader: readDir}}
}

// IsAddress reports whether s has the form of an address and not of a plain
// file name.
func IsAddress(s string) bool {
	name, _, ok := strings.Cut(s, ":")
	return ok && find(name) != nil || strings.Contains(s, "://")
}

// String returns the address without its secrets.
func (t Target) String() string { return hide(t.address, secrets(t.address)) }

// Sink opens the store for snapshots. No error says a secret.
func (t Target) Sink(ctx context.Context) (Sink, error) {
	s, err := t.scheme.sink(ctx, t.address)
	return s, t.Clean(err)
}

// Reader opens the store for reading. No error says a secret.
func (t Target) Reader(ctx context.Context) (Reader, error) {
	r, err := t.scheme.reader(ctx, t.address)
	return r, t.Clean(err)
}

// Clean returns err without the secrets of t in its text. Drivers like to quote
// the address that they were given.
func (t Target) Clean(err error) error {
	if err == nil {
		return nil
	}
	if text := hide(err.Error(), secrets(t.address)); text != err.Error() {
		return cleanError{text, err}
	}
	return err
}

type cleanError struct {
	text string
	err  error
}

func (e cleanError) Error() string { return e.text }
func (e cleanError) Unwrap() error { return e.err }
