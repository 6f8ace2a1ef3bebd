// Package window answers "how many in the last hour" about things that are
// counted anyway, without making the counting any slower.
//
// A [Ring] is put over a cumulative total, such as a stripe.Counter. One
// goroutine, the [Sampler], reads the total at every tick, and what was added
// over a stretch of time is the difference of two totals. Whoever adds to the
// counter does not take part:
//
//	var views stripe.Counter
//	w, err := window.New(&views, window.Options{}) // last minute, hour and day
//	views.Inc()
//	span := w.Last(time.Hour)
//	fmt.Println(span.Count, span.PerSecond())
//
// What has no difference gets a bucket for each tick instead. [Uniques] merges
// a sketch per bucket, [Max] and [Min] an extreme per bucket. [Events] counts
// by the time that an event bears, for logs and queues. A [Calendar] adds any
// of the counts up by hours and days of a time zone.
//
// # What a window covers
//
// A window knows totals at ticks, so the last d begins at a tick: d ago or up to
// one bucket before. The answer says how long a time it is really about, in
// Covered, and is never more than what was added in that time. A window that is
// younger than d covers less.
//
// A tick that is late, because the machine was busy or the garbage collector
// ran, makes its bucket wider. Ticks that were missed are not made up for.
// Neither loses a count: the next difference includes it.
//
// # Clocks
//
// Spans and rates go by the monotonic clock. The wall clock only labels
// buckets, with what it showed at the time to within 10 ms, and ticks are where
// it is a multiple of the resolution: the first bucket of a window is as short
// as it has to be. If it is set back or forward, or the machine is
// suspended, counts and rates stay right, in running time, and the stretch is
// marked with a Gap. From inside a process a suspend looks like a clock set
// forward, so the time slept through is no part of Covered and does not age the
// buckets; see [Clock] for how to change that.
//
// Between runs of a process there is only the wall clock. AppendRows saves a
// window with wall times, and Restore puts it back at its distance from now,
// with the time between marked as a gap. The source's total counts as old then:
// a restored counter is no burst.
//
// # Cost
//
// Adding to a counter costs the same with a window and without. Adding to
// Uniques, Max and Min costs one atomic load more than adding to what is in
// them. No add reads a clock, except Events' first one of a bucket.
//
// A tick reads every source once. A busy ring takes 16 bytes a bucket, 4 KB
// for the default ladder; one that is idle takes no more memory as time goes
// by. [SamplerStats] shows what all windows of a sampler cost together.
package window
