// Package stripe counts from many goroutines at once, at the price of one
// atomic add while nobody else is counting.
//
// A [Counter] is cold at first: one atomic word, 16 bytes in all. Some adds,
// about one in 16, look whether another writer has come between; the first that
// finds one makes the counter hot, once and for good, and from then on each
// processor adds to a stripe of its own, a word padded to a cache line.
// The zero Counter is ready to use:
//
//	var hits stripe.Counter
//	hits.Inc()
//	fmt.Println(hits.Value())
//
// # What a read may return
//
// A counter is several cells, and a read visits them one after the other. So
// [Counter.Value] is not a cut through time. Without writers it is exact. With
// writers it includes every Add that returned before Value was called, and it
// may or may not include each Add that runs meanwhile. With only non-negative
// adds and no Drain, the values one reader sees never decrease. With
// decrements in flight a read may include a decrement and miss the increment
// that came before it, if the increment's Add had not returned when the read
// began, or if both ran during the read; a count that never was negative can
// then read as negative for a moment.
//
// [Counter.Drain] takes the count and leaves zero: every Add is in exactly one
// Drain or in what remains.
//
// Counts are int64 and wrap on overflow, as atomic.Int64 does.
package stripe
