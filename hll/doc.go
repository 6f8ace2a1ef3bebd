// Package hll counts distinct elements, such as visitors or keys, in little
// memory and from any number of goroutines. A sketch is small and nearly exact
// while it has seen little; once it is large it is a lock-free UltraLogLog, whose
// registers are also those of the HyperLogLog that Redis, PostgreSQL and
// axiomhq/hyperloglog read.
//
//	var s hll.Sketch // precision 14
//	s.AddString(user)
//	e := s.Estimate()
//	fmt.Println(e.Count, e.Low, e.High)
//
// # Accuracy
//
// A sketch of precision p has 2^p registers of one byte. Its standard error is
// 0.761/√2^p, 0.59 % at the default precision of 14. HyperLogLog uses six bits of
// the byte; its error is 1.04/√2^p, 0.81 %. While a sketch is small, which at
// precision 14 it is up to 7,168 elements, it loses only elements whose hashes
// agree in their first 25 bits: 0 of a hundred, about 0.4 of 5,000. An Estimate
// comes with an interval, so that a caller need not know this.
//
// When a sketch turns large its estimate moves by as much as the standard
// error. It is right in the mean on both sides.
//
// An estimate may fall while elements are added: do not rely on it to grow. As
// a register learns of a rarer hash it may forget more frequent ones. About one
// in fifty Adds that change a register lowers the estimate. The most in a few
// hundred thousand changes was 3.6 % at precision 8, 0.7 % at 10, 0.07 % at 12:
// a few times 2^-p. It can be more.
//
// # Memory
//
// An empty sketch takes 32 bytes at the default precision, one of 100 elements
// 1.2 KB, a large one 2^p bytes. See Sketch.Size.
//
// # Concurrency
//
// An Add to a large sketch is one atomic load when the element changes nothing,
// which is nearly always, and a compare-and-swap otherwise. An Add to a small
// sketch looks the element up without a lock, and takes a mutex to insert it if
// it is new. That happens at most 7,168 times in the life of a sketch of
// precision 14. The longest wait for it is for another Add that moves all
// elements into a bigger table or into registers.
//
// Readers hold up no Add, and hold what every Add that returned before they
// began has counted. They may also hold some that run meanwhile. While Adds
// go on, a result need not be the state of any one instant.
//
// # Union
//
// Sketches of parts merge into the sketch of the whole, with no loss: register
// for register, the result is the one that would have seen all elements. The
// parts must hash alike, which Scheme tells and Merge checks. The union with a
// HyperLogLog that another system made is a HyperLogLog. Kind says so, and the
// bounds of an Estimate are those of the Kind.
//
// # Encodings
//
// AppendBinary and UnmarshalBinary keep all that a sketch knows. For other
// systems, AppendAxiomhq writes the format of github.com/axiomhq/hyperloglog,
// version 2, which UnmarshalBinary also reads; AppendRedis and ParseRedis speak
// that of Redis' PFADD, PFCOUNT and PFMERGE; AppendPostgres writes that of the
// PostgreSQL extension hll. They get a HyperLogLog: the same as if the sketch
// had been one from the start.
//
// No encoding holds the Scheme. Store it beside, and compare before you decode:
// the same element, hashed in two ways, is counted twice.
//
// # Elements from strangers
//
// Whoever chooses elements and knows the hash can choose them so that the
// estimate is far too high, or stays where it is. A seed keeps others from
// precomputing such elements, as long as they can neither guess it nor watch
// estimates change. It does not make XXH64 a keyed hash in the cryptographic
// sense: elements that collide whatever the seed can be built. Where that
// matters, hash with a keyed function such as SipHash and call AddHash.
package hll
