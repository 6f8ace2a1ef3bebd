package hll_test

import (
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/hotcount/hotcount/hll"
)

func ExampleSketch() {
	var s hll.Sketch
	for i := range 10_000 {
		s.AddString(fmt.Sprintf("visitor %d", i%1000)) // each ten times
	}
	fmt.Println(s.Estimate().Count)
	// Output: 1000
}

func ExampleSketch_EstimateAt() {
	var s hll.Sketch
	for i := range 1_000_000 {
		s.AddString(fmt.Sprintf("visitor %d", i))
	}
	for _, sigma := range []float64{2, 3} {
		e := s.EstimateAt(sigma)
		fmt.Println(e.Low <= 1_000_000 && 1_000_000 <= e.High, e.High-e.Low)
	}
	// Output:
	// true 23649
	// true 35474
}

func ExampleSketch_Merge() {
	var monday, tuesday hll.Sketch
	monday.AddString("ann")
	monday.AddString("bob")
	tuesday.AddString("bob")
	tuesday.AddString("eve")
	if err := monday.Merge(&tuesday); err != nil {
		fmt.Println(err)
	}
	fmt.Println(monday.Estimate().Count)

	redis := must(hll.New(hll.Options{Hash: hll.Redis}))
	err := monday.Merge(redis)
	fmt.Println(errors.Is(err, hll.ErrScheme))
	fmt.Println(err)
	// Output:
	// 3
	// true
	// hotcount/hll: sketches hash differently: cannot merge redis into xxhash
}

func ExampleUnion() {
	fine, coarse := new(hll.Sketch), must(hll.New(hll.Options{Precision: 10}))
	fine.AddString("ann")
	coarse.AddString("bob")
	both, err := hll.Union(fine, coarse)
	fmt.Println(both.Estimate().Count, both.Options().Precision, err)
	// Output: 2 10 <nil>
}

// FNV-1a does not spread the bits of short keys.
func ExampleMix() {
	var raw, mixed hll.Sketch
	for i := range 1_000_000 {
		h := fnv.New64a()
		fmt.Fprint(h, i)
		raw.AddHash(h.Sum64())
		mixed.AddHash(hll.Mix(h.Sum64()))
	}
	fmt.Println(raw.Estimate().Count)
	fmt.Println(mixed.Estimate().Count)
	// Output:
	// 127382
	// 998785
}

// What comes from Redis has less in its registers than a sketch of one's own, and
// so has a union with it.
func ExampleKind() {
	var ours hll.Sketch
	for i := range 100_000 {
		ours.AddString(fmt.Sprint("visitor ", i))
	}
	value := must(ours.AppendRedis(nil))
	theirs := must(hll.ParseRedis(value, hll.Options{}))
	both := must(hll.Union(&ours, theirs))
	for _, s := range []*hll.Sketch{&ours, both} {
		e := s.Estimate()
		fmt.Printf("%v: %.2f %%, %d to %d\n", s.Kind(), 100*s.Kind().StandardError(14), e.Low, e.High)
	}
	// Output:
	// ultraloglog: 0.59 %, 98912 to 100941
	// hyperloglog: 0.81 %, 99268 to 102277
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ExampleEstimate() {
	var s hll.Sketch
	fmt.Printf("%+v\n", s.Estimate())
	s.AddString("ann")
	fmt.Printf("%+v\n", s.Estimate())
	// Output:
	// {Count:0 Low:0 High:0}
	// {Count:1 Low:1 High:1}
}

func ExampleOptions() {
	_, err := hll.New(hll.Options{Precision: 20})
	fmt.Println(err)
	s, err := hll.New(hll.Options{Precision: 12, Seed: 0x5eed})
	fmt.Println(s.Options().Precision, err)
	// Output:
	// hotcount/hll: invalid options: precision 20 is not in 4 to 18
	// 12 <nil>
}

// The scheme is stored beside an encoding, and compared before it is merged.
func ExampleScheme() {
	stored := hll.Options{Hash: hll.Redis}.Scheme()
	var s hll.Sketch
	fmt.Println(s.Scheme(), stored, s.Scheme() == stored)
	// Output: xxhash redis false
}

func ExampleHash() {
	fmt.Println(hll.XXHash, hll.Redis)
	// Output: xxhash redis
}

func ExampleParseRedis() {
	s := must(hll.New(hll.Options{Hash: hll.Redis}))
	s.AddString("ann")
	value := must(s.AppendRedis(nil)) // SET uniq:visitors <value>
	// GET uniq:visitors, after PFADD uniq:visitors bob, or as here before
	back := must(hll.ParseRedis(value, hll.Options{Hash: hll.Redis}))
	fmt.Println(len(value), back.Estimate().Count)
	// Output: 12304 1
}
