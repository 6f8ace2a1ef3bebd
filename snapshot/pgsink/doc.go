// Package pgsink keeps the counts of a fleet in PostgreSQL, version 14 or later,
// and reads them back.
package pgsink
