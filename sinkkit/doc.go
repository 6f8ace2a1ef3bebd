// Package sinkkit is for those who write a sink for a store that processes share.
//
// Such a store may lose an answer, apply a request late or twice, fall back to an
// older state, or meet a clone of the process. A Mirror knows what the store holds
// of one source, picks the rows to send, and settles each of these cases. A
// BucketMirror does the same for windows. All stores of this module are written
// with them; package rowstream has the messages of those that are streams.
package sinkkit
