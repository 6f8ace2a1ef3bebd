// Package pgsink keeps the counts of a fleet in PostgreSQL, version 14 or later,
// and reads them back: an export.Sink and an export.Reader.
//
//	err := pgsink.Migrate(ctx, pool, "")
//	sink, err := pgsink.New(pgsink.Options{Pool: pool})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []export.Sink{sink}})
//
// # What is exact
//
// A total is the sum of what each process counted, each add once, whatever
// happens on the way: connections that break before or after a commit, processes
// and servers that are killed, a server that falls back to an older state, a
// copied process. What a process had not exported when it died comes with its
// next start, from its directory, if that is within Options.Lease; later than
// that it stays in the process's own total only, and the exporter logs it.
//
// Not so: what a server lost under a writer that never comes back; what a writer
// exported between a state that the server falls back to and being taken for dead
// in it; a process that was suspended for over a year.
//
// # Tables
//
// Migrate makes them in one schema, and nothing else does:
//
//	series         id, key, name, label    one row for each series of the fleet
//	counters       series, writer, …       a count is carry + value
//	uniques        series, writer, …       sketches
//	buckets        series, start, …        windows
//	writers        writer, seq, …          live writers, and tombstones
//	cached_totals  series, value, writers  as RefreshTotals added them up
//	totals         view                    of series and counters
//	distinct_counts view                   of series and uniques, with the extension
//
// The zero writer has what dead writers add up to, so there are as many counters
// as series, times live writers plus one. A tombstone, of about 150 bytes, stays
// for a year.
//
// key is what series.Key.String returns, as a bytea since label values may be
// any bytes; label is the same as text, for people. So in SQL:
//
//	SELECT label, value FROM hotcount.totals WHERE name = 'http_requests_total';
//
// Sums in SQL are numeric. A Reader returns an int64, which wraps around.
//
// # Uniques
//
// sketch is the exact sketch in the binary form of package hll, which Readers
// merge. Where the extension hll (postgresql-hll) is, registers is the same for
// its functions, 10 KiB for each sketch of the default precision. Registers of
// different hash or precision must not be united, and stop at 31. Create the
// extension before Migrate, or call Migrate again after, and restart the sinks.
//
// # Windows
//
// Counts are placed in buckets by the writers' wall clocks. Buckets are dropped
// after Options.KeepBuckets. If they are many, make partitions of the table in
// advance, and drop old ones whole:
//
//	CREATE TABLE hotcount.buckets_2030_01 PARTITION OF hotcount.buckets
//	    FOR VALUES FROM ('2030-01-01') TO ('2030-02-01');
//
// # Roles
//
// Three are enough: an owner, which calls Migrate; a writer, for Sinks; a reader.
// Grants returns what the last two need: the writer may read all, insert series,
// and change all rows but those of series and of the schema's version.
//
// # Errors
//
// Errors wrap those of package export, beside the one of pgx. ErrSchema: the tables
// are missing or of another version, see Migrate. ErrDenied: see Grants. No error
// shows a password.
//
// # Poolers
//
// A flush is one transaction, so PgBouncer may pool transactions, if it knows
// prepared statements (max_prepared_statements, since 1.21) or the pool is
// configured without (pgx.QueryExecModeCacheDescribe).
package pgsink
