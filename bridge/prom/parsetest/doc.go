// Package parsetest tests bridge/prom with the parsers of the Prometheus server
// itself. It is a module of its own so that those who use the bridge do not
// require the server.
package parsetest
