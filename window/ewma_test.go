package window

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestRatesOracle compares Rates with the weighted mean that they stand for,
// summed over all ticks.
func TestRatesOracle(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		rng := rand.New(rand.NewPCG(3, 3))
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 3))
		var perSecond []float64
		for i := range 3000 {
			n := int64(0)
			if i/300%3 != 1 { // with idle stretches
				n = rng.Int64N(100)
			}
			pass(500 * time.Millisecond)
			o.add(n)
			pass(500 * time.Millisecond)
			perSecond = append(perSecond, float64(n))
			if i%97 == 0 {
				got := w.Rates()
				assert.InEpsilon(t, weightedMean(perSecond, time.Minute)+1, got.M1+1, 1e-6)
				assert.InEpsilon(t, weightedMean(perSecond, 5*time.Minute)+1, got.M5+1, 1e-6)
				assert.InEpsilon(t, weightedMean(perSecond, 15*time.Minute)+1, got.M15+1, 1e-6)
			}
		}
	})
}

// weightedMean weighs each second by the integral of exp(-age/tau) over it.
func weightedMean(perSecond []float64, tau time.Duration) float64 {
	var sum, weights float64
	for i, r := range perSecond {
		age := float64(len(perSecond) - 1 - i)
		weight := math.Exp(-age/tau.Seconds()) - math.Exp(-(age+1)/tau.Seconds())
		sum += weight * r
		weights += weight
	}
	return sum / weights
}

// TestRatesLikeDropwizard compares with a Dropwizard meter: ticks of 5 s, the
// first of which sets the rate.
func TestRatesLikeDropwizard(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, 5*time.Second, 60))
		alpha := 1 - math.Exp(-5.0/60)
		meter := math.NaN()
		for i := range 12 * 20 { // 20 minutes
			n := int64(50 + i%7)
			pass(time.Second)
			o.add(n)
			pass(4 * time.Second)
			if math.IsNaN(meter) {
				meter = float64(n) / 5
			} else {
				meter += alpha * (float64(n)/5 - meter)
			}
			if i == 0 {
				assert.InEpsilon(t, meter, w.Rates().M1, 1e-9)
			}
		}
		assert.InEpsilon(t, meter, w.Rates().M1, 1e-6)
	})
}

func TestRatesDecayWhileIdle(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		assert.Zero(t, w.Rates())
		for range 3600 {
			pass(time.Second / 2)
			o.add(10)
			pass(time.Second / 2)
		}
		assert.InEpsilon(t, 10, w.Rates().M15, 1e-9)
		pass(15 * time.Minute)
		r := w.Rates()
		assert.InEpsilon(t, 10*math.Exp(-15), r.M1, 1e-6)
		// The means are over 75 minutes, not over all time.
		assert.InEpsilon(t, 10*(math.Exp(-3)-math.Exp(-15))/(1-math.Exp(-15)), r.M5, 1e-6)
		assert.InEpsilon(t, 10*(math.Exp(-1)-math.Exp(-5))/(1-math.Exp(-5)), r.M15, 1e-6)
	})
}
