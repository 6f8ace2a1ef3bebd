// Package series names series: a metric name and labels, as Prometheus has them.
//
// A Desc is the part that all series of a family share, a Key is one series. Both
// are small values that compare with ==, wherever they were made: in this
// process, or read from a file or a store. A Key has two text forms that keep all
// series apart: String, which people read, and Packed, which is fast.
//
// Label values may be any bytes; ToValidUTF8 shows them where text is needed.
package series
