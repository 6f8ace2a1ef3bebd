package live

import (
	"math"
	"time"

	"github.com/hotcount/hotcount/window"
)

// A spark is a window as a small picture: what was added in each second of its
// buckets, oldest first.
type spark struct {
	PerSecond []float64 `json:"perSecond"`
	Seconds   float64   `json:"seconds"` // covered
}

// maxBuckets is how many buckets are sent, the newest of them.
const maxBuckets = 120

func sparkOfRing(r *window.Ring) *spark {
	if r == nil {
		return nil
	}
	buckets := r.Buckets()
	// The live bucket may be a millisecond old, and its rate anything.
	if n := len(buckets); n > 1 && buckets[n-1].Covered < buckets[n-2].Covered/2 {
		buckets = buckets[:n-1]
	}
	return sparkOf(buckets)
}

func sparkOf(buckets []window.Bucket) *spark {
	s := spark{PerSecond: []float64{}}
	var covered time.Duration
	for _, b := range buckets[max(0, len(buckets)-maxBuckets):] {
		covered += b.Covered
		s.PerSecond = append(s.PerSecond, rounded(b.PerSecond()))
	}
	s.Seconds = covered.Seconds()
	return &s
}

// rounded returns x with the digits that a picture can show.
func rounded(x float64) float64 {
	if math.Abs(x) < 100 {
		return math.Round(x*100) / 100
	}
	return math.Round(x)
}
