// Package unit tells from a metric's name what it adds up.
package unit

import "strings"

// amounts are the units that a name ends in, before _total, as Prometheus and
// OpenMetrics write them, with the multiples that people use.
var amounts = map[string]bool{
	"nanoseconds": true, "microseconds": true, "milliseconds": true, "seconds": true,
	"minutes": true, "hours": true, "days": true,
	"bits": true, "bytes": true, "kilobytes": true, "megabytes": true, "gigabytes": true,
	"kibibytes": true, "mebibytes": true, "gibibytes": true,
	"meters": true, "grams": true, "joules": true, "volts": true, "amperes": true,
	"celsius": true, "kelvin": true, "hertz": true, "cents": true,
}

// IsAmount reports whether a counter adds up amounts of a unit, such as
// request_bytes_total. Its rise is no number of events, and dwarfs those that are.
// A name without a unit counts events.
func IsAmount(name string) bool {
	name = strings.TrimSuffix(name, "_total")
	return amounts[name[strings.LastIndexByte(name, '_')+1:]]
}
