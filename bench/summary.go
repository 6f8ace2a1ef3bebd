package bench

import "slices"

// A Summary is the middle of some samples and how far they spread.
type Summary struct {
	Median float64
	// Low and High are the first and the third quartile: half of the samples
	// lie between them.
	Low, High float64
}

// Summarize returns the quartiles of samples, which it leaves as they are. It is
// the zero Summary if there are none.
func Summarize(samples []float64) Summary {
	sorted := slices.Sorted(slices.Values(samples))
	return Summary{
		Median: quantile(sorted, 0.5),
		Low:    quantile(sorted, 0.25),
		High:   quantile(sorted, 0.75),
	}
}

// Spread is the distance between the quartiles as a part of the median, and 0
// if the median is.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.High - s.Low) / s.Median
}

// quantile returns the value below which a part q of the sorted samples lies,
// interpolated between the two that are nearest (type 7 of Hyndman and Fan,
// which spreadsheets, R and NumPy use).
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	part := at - float64(i)
	return sorted[i]*(1-part) + sorted[i+1]*part // no difference that could overflow
}
