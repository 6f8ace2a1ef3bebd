// Package redissink keeps the counts of a fleet in Redis and reads them back: a
// export.Sink and an export.Reader over one server or cluster.
//
//	sink, err := redissink.New(redissink.Options{Client: client})
//	e, err := hotcount.New(hotcount.Options{Dir: "data", Sinks: []export.Sink{sink}})
//
// # What is exact
//
// A total is the sum of what each process counted, each add once, whatever
// happens on the way: requests and answers that are lost, repeated or late,
// processes and servers that are killed, a server that falls back to an older
// state, a copied process. What a process had not exported when it died comes
// with its next start, from its directory, if that is within Lease; later than
// that it stays in the process's own total only, and the exporter logs it.
//
// Two processes that were copied from one before its first export ended cannot be
// told apart, nor can what a server lost under a writer that never comes back.
//
// # Keys
//
// For a series, written as series.Key.String does, such as
// http_requests_total{code="200"}:
//
//	counter:{SERIES}  hash: a field for each live writer, "base" for the dead
//	count:{SERIES}    the total in decimal, as Count last found it
//	uniq:{SERIES}     HyperLogLog for PFCOUNT and PFMERGE
//	sketch:{SERIES}   hash: sketches that Redis cannot read, by scheme
//	views:{SERIES}:RESOLUTION:START
//	                  hash: what was added in that bucket, if the series has a
//	                  window; "total" is the count, in decimal
//
// and, for all of them, hotcount:layout, :writers, :leases, :counters, :uniques
// and :scratch. Options.Prefix goes before all names. In a cluster, or if
// Options.Partitions is set, {0}: and so on goes between the prefix and the name,
// by a hash of the series; KeyNames and ViewsKey tell.
//
// A row is five big-endian numbers of 64 bits: seq, created, value, carry and whole.
// The writer's count is value + carry, in two's complement; "base" is that in
// hexadecimal.
//
// Buckets are named by seconds, with a fraction if need be: the minute at noon on
// the first of January 2030 is views:{SERIES}:60:1893499200. So
//
//	HGET 'views:{page_views_total}:60:1893499200' total
//
// is what the fleet counted in it. The other fields are what each writer did, as
// "seq count whole"; they tell what has been added from what has not. Those of dead
// writers stay until the bucket goes: it is short-lived, and its total is kept, so
// nobody ever reads them. A bucket is gone when Options.Buckets newer ones of its
// resolution have passed, or five minutes, and up to an eighth of that more, which
// is the same for all writers. Every script that writes to one sets that time.
//
// Windows of distinct elements are left out: a snapshot does not say which
// resolution they have, so that buckets of two writers cannot be told to be the
// same one.
//
// Only sketches whose engine hashes as Redis does (hll.Redis, precision 14 or
// more) go to uniq:, as nothing else can be merged with what PFADD makes. All
// others are kept in the binary form of package hll under sketch:, a field for
// each snapshot.UniquesRow.Scheme.
//
// # What it needs
//
// Redis 5 or later, with Lua. Commands: EVALSHA, EVAL, and what the scripts call
// (TIME, HGET, HSET, HMGET, HDEL, HGETALL, ZADD, ZREM, ZRANGEBYSCORE, EXISTS, GET,
// SET, DEL, PFMERGE, PTTL, PEXPIREAT), SETNX, ZRANGEBYLEX. A user for a sink with the prefix
// app: is
//
//	ACL SETUSER hotcount on >PASSWORD ~app:* -@all +@scripting +@hash +@sortedset
//	    +@string +pfmerge +time +exists +del +pttl +pexpireat
//	    +ping +hello
//
// The server must not evict these keys: use maxmemory-policy noeviction, or a
// volatile one, under which only kept totals and buckets of windows can go.
//
// # Errors
//
// Errors wrap those of package export, beside the one of go-redis. ErrSchema: the
// store has been laid out by another version or with other Partitions. A client's
// own retries do no harm.
package redissink
