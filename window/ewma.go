package window

import (
	"math"
	"time"
)

// Rates are exponentially weighted rates per second with the time constants of
// Unix load averages and of Dropwizard's meters: what happened a minute (five,
// fifteen) ago weighs 1/e of what happens now.
//
// Where those start from zero, or from their first sample, these are weighted
// means over the time really watched: after a second they are the rate of that
// second, and after some time constants all three kinds agree. Gaps do not
// count as time.
type Rates struct {
	M1, M5, M15 float64
}

// An ewma accumulates weighted rates. The weights of what it has taken in sum
// to less than 1, by exp(-watched/tau); rates divides by the sum.
type ewma struct {
	at      int64 // on the axis, the end of what is taken in
	watched int64
	m       Rates
}

// tau15 is the longest time constant; 15 and 3 of its decays are one decay of
// the shorter ones, so one exponential serves all.
const tau15 = float64(15 * time.Minute)

// decays returns by how much dt decays each rate.
func decays(dt int64) (d1, d5, d15 float64) {
	d15 = math.Exp(-float64(dt) / tau15)
	d5 = d15 * d15 * d15
	d1 = d5 * d5 * d5 * d5 * d5
	return d1, d5, d15
}

// observe takes in that n was added between the end of what is taken in and at.
func (e *ewma) observe(at, n int64) {
	dt := at - e.at
	if dt <= 0 {
		return
	}
	e.at = at
	e.watched += dt
	rate := float64(n) / time.Duration(dt).Seconds()
	d1, d5, d15 := decays(dt)
	e.m.M1 = rate + d1*(e.m.M1-rate)
	e.m.M5 = rate + d5*(e.m.M5-rate)
	e.m.M15 = rate + d15*(e.m.M15-rate)
}

func (e ewma) rates() Rates {
	if e.watched == 0 {
		return Rates{}
	}
	d1, d5, d15 := decays(e.watched)
	return Rates{e.m.M1 / (1 - d1), e.m.M5 / (1 - d5), e.m.M15 / (1 - d15)}
}
