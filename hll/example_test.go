package hll_test

import (
	"errors"
	"fmt"

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
	// true 32928
	// true 49395
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

	redis, err := hll.New(hll.Options{Hash: hll.Redis})
	if err != nil {
		fmt.Println(err)
	}
	err = monday.Merge(redis)
	fmt.Println(errors.Is(err, hll.ErrScheme))
	fmt.Println(err)
	// Output:
	// 3
	// true
	// hotcount/hll: sketches hash differently: cannot merge redis into xxhash
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
	s, err := hll.New(hll.Options{Hash: hll.Redis})
	if err != nil {
		fmt.Println(err)
	}
	s.AddString("ann")
	value, err := s.AppendRedis(nil) // SET uniq:visitors <value>
	if err != nil {
		fmt.Println(err)
	}
	// GET uniq:visitors, after PFADD uniq:visitors bob, or as here before
	back, err := hll.ParseRedis(value, hll.Options{Hash: hll.Redis})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(value), back.Estimate().Count)
	// Output: 12304 1
}
