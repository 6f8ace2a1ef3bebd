package stripe

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// valuer is a source that says how often it was asked, and waits if told to.
type valuer struct {
	n     atomic.Int64
	asked atomic.Int64
	wait  chan struct{}
}

func (v *valuer) Value() int64 {
	v.asked.Add(1)
	if v.wait != nil {
		<-v.wait
	}
	return v.n.Load()
}

func TestTotalIsRefreshedWhenStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := new(valuer)
		total := NewTotal(src, time.Second)
		check := func(wantSum int64, wantAge time.Duration, wantAsked int64) {
			t.Helper()
			sum, age := total.Value()
			assert.Equal(t, wantSum, sum)
			assert.Equal(t, wantAge, age)
			assert.Equal(t, wantAsked, src.asked.Load())
		}
		src.n.Store(5)
		check(0, 0, 1)
		time.Sleep(time.Second - 1)
		check(0, time.Second-1, 1)
		time.Sleep(time.Nanosecond)
		check(5, 0, 2)
		src.n.Store(6)
		time.Sleep(time.Hour)
		check(6, 0, 3)
	})
}

func TestTotalHasOneRefresher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readers = 10
		src := new(valuer)
		total := NewTotal(src, time.Second)
		src.n.Store(5)
		src.wait = make(chan struct{})
		time.Sleep(3 * time.Second)
		var old, fresh atomic.Int64
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				switch sum, age := total.Value(); {
				case sum == 0 && age == 3*time.Second:
					old.Add(1)
				case sum == 5 && age == 4*time.Second:
					fresh.Add(1)
				}
			})
		}
		synctest.Wait()
		assert.EqualValues(t, readers-1, old.Load(), "all but one have left with the old sum")
		time.Sleep(4 * time.Second)
		close(src.wait)
		wg.Wait()
		assert.EqualValues(t, 1, fresh.Load(), "the age is that of the oldest part of the sum")
		assert.EqualValues(t, 2, src.asked.Load())
	})
}

// One reader's sums never go back, and what had been counted longer than age
// ago is in them.
func TestTotalOfACounter(t *testing.T) {
	const writers, readers = 2, 2
	var (
		c     Counter
		total = NewTotal(&c, time.Microsecond)
		last  [writers + readers]int64
	)
	during(ledgerFor(t), writers+readers, func(i int) {
		if i < writers {
			c.Inc()
			return
		}
		sum, age := total.Value()
		if sum < last[i] || age < 0 {
			t.Errorf("read %d, %v old, after %d", sum, age, last[i])
		}
		last[i] = sum
	})
	sum, _ := NewTotal(&c, time.Hour).Value()
	assert.Equal(t, c.Value(), sum)
}

func TestTotalWithoutAnInterval(t *testing.T) {
	src := new(valuer)
	total := NewTotal(src, 0)
	for i := range int64(5) {
		src.n.Store(i)
		sum, _ := total.Value()
		assert.Equal(t, i, sum)
	}
}
