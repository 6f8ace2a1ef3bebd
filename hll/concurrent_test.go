package hll

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Adders, mergers and readers at once, from the first element to well past the
// switch. Properties:
//
//  1. Whatever a reader takes, be it an encoding, a clone or a union, holds
//     every Add that returned before it began.
//  2. In the end the sketch is that of all elements.
func TestConcurrent(t *testing.T) {
	for _, p := range []int{4, 6, 12, 14} {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) { runConcurrent(t, p) })
	}
}

const adders = 4

func runConcurrent(t *testing.T, p int) {
	each := uint64(smallMax(uint8(p)))/2 + 500 // over adders: twice smallMax, and 2,000
	s := mustNew(t, Options{Precision: p})
	var returned [adders]atomic.Uint64
	var wg, readers sync.WaitGroup
	for a := range uint64(adders) {
		wg.Go(func() {
			for i := range each {
				s.AddHash(hashOf(a*each + i))
				s.AddHash(hashOf(i)) // what adder 0 adds, too
				returned[a].Store(i + 1)
				if i%64 == 0 {
					runtime.Gosched() // to mix, where Ps are few
				}
			}
		})
	}
	wg.Go(func() {
		for i := range each / 10 { // a merger of small sketches
			part := sketchOf(t, p, 1<<40+10*i, 10)
			if err := s.Merge(part); err != nil {
				t.Error(err)
			}
		}
	})
	done := make(chan struct{})
	for _, read := range []func() (*Sketch, error){
		func() (*Sketch, error) { return s.Clone(), nil },
		func() (*Sketch, error) {
			b, err := s.AppendBinary(nil)
			if err != nil {
				return nil, err
			}
			got := new(Sketch)
			return got, got.UnmarshalBinary(b)
		},
		func() (*Sketch, error) {
			if e := s.Estimate(); e.Low > e.Count || e.Count > e.High {
				return nil, fmt.Errorf("estimate %v", e)
			}
			got, err := New(Options{Precision: p})
			if err != nil {
				return nil, err
			}
			return got, got.Merge(s)
		},
	} {
		readers.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				var before [adders]uint64
				for a := range before {
					before[a] = returned[a].Load()
				}
				got, err := read()
				if err != nil {
					t.Error(err)
					return
				}
				checkHolds(t, got, before, each)
			}
		})
	}
	wg.Wait()
	close(done)
	readers.Wait()

	want := sketchOf(t, p, 0, adders*each)
	require.NoError(t, want.Merge(sketchOf(t, p, 1<<40, each/10*10)))
	require.True(t, bytes.Equal(regs(want), regs(s)))
	require.Equal(t, want.Estimate(), s.Estimate())
}

// checkHolds checks the last elements that each adder had added, which are the
// ones that a race would lose.
func checkHolds(t *testing.T, s *Sketch, before [adders]uint64, each uint64) {
	const last = 300
	r := regs(s)
	for a, n := range before {
		for i := n - min(n, last); i < n; i++ {
			index, rho := registerOf(hashOf(uint64(a)*each+i), s.current().p)
			if has := register(r[index]); has.union(registerAt(rho)) != has {
				t.Errorf("element %d of adder %d is missing, %d were added", i, a, n)
			}
		}
	}
}

// An Estimate of a small sketch counts what the caller has found there, even
// when another goroutine is still adding it.
func TestFoundIsCounted(t *testing.T) {
	const n = 3000 // past two growths into packed tables
	s := new(Sketch)
	var wg sync.WaitGroup
	for range adders {
		wg.Go(func() {
			for i := range uint64(n) {
				s.AddHash(hashOf(i))
				if e := s.Estimate(); e.High < i+1 {
					t.Errorf("estimate %v after %d elements", e, i+1)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Two sketches that are merged into each other at once do not wait for each
// other, and a Reset amid Adds leaves a sketch that counts.
func TestCrossMergeAndReset(t *testing.T) {
	a, b := sketchOf(t, 12, 0, 500), sketchOf(t, 12, 300, 500)
	want := sketchOf(t, 12, 0, 800)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { require.NoError(t, a.Merge(b)) })
		wg.Go(func() { require.NoError(t, b.Merge(a)) })
	}
	wg.Wait()
	require.NoError(t, a.Merge(b))
	require.True(t, bytes.Equal(regs(want), regs(a)))

	for range 50 {
		wg.Go(func() { a.Reset() })
		wg.Go(func() {
			for i := range uint64(1000) {
				a.AddHash(hashOf(i))
			}
		})
	}
	wg.Wait()
	a.Reset()
	require.Zero(t, a.Estimate())
	for i := range uint64(800) {
		a.AddHash(hashOf(i))
	}
	require.True(t, bytes.Equal(regs(want), regs(a)))
}
