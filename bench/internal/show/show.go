// Package show writes numbers of a report as its tables and figures have them.
package show

import "strconv"

// Short writes a number with two or three digits that mean something.
func Short(v float64) string {
	switch {
	case v >= 99.5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
