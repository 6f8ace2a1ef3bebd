package sim

import "math/rand/v2"

// stepped is the model for one line again, as simply as it can be said: at each
// tenth of a nanosecond everybody looks whether something is due. It returns
// nanoseconds of an add by each worker.
func stepped(m Machine, workers int, think float64) float64 {
	const perNano, steps = 10, 150_000
	scale := func(ns float64) int { return int(ns*perNano + 0.5) }
	add, pause := scale(m.Add), scale(think)
	random := rand.New(rand.NewPCG(1, 2))
	message := func(share float64) int { return scale(m.Transfer * share * (0.5 + random.Float64())) }

	const nobody = -1
	type state struct {
		next    int  // when it wants to add
		done    int  // when its add ends, if adding
		adding  bool // and so has the line
		waiting bool // for the line
		asked   int  // when the request of who follows is here, 0 if there is none
		follows int  // who follows
	}
	all := make([]state, workers)
	for i := range all {
		all[i] = state{next: i + 1, follows: nobody}
	}
	holder, last, arrives := nobody, nobody, 0 // arrives is when the line is at who waits first
	first := nobody
	adds := 0
	for now := 1; now <= steps; now++ {
		if first != nobody && holder == nobody && now >= arrives {
			holder, first = first, nobody
			all[holder].waiting = false
			all[holder].adding, all[holder].done = true, now+add
		}
		for i := range all {
			w := &all[i]
			switch {
			case w.adding && now >= w.done:
				w.adding = false
				w.next = now + pause
				adds++
			case w.adding || w.waiting || now < w.next:
				continue
			}
			if w.adding || now < w.next || holder == i && w.asked != 0 && now >= w.asked {
				continue
			}
			switch {
			case last == nobody:
				holder, last = i, i
				w.adding, w.done = true, now+add
			case holder == i:
				w.adding, w.done = true, now+add
			default:
				w.waiting = true
				all[last].follows, all[last].asked = i, now+message(1-handoverShare)
				last = i
			}
		}
		if holder != nobody {
			if w := &all[holder]; !w.adding && w.asked != 0 && now >= w.asked {
				first, arrives = w.follows, now+message(handoverShare)
				w.asked, w.follows = 0, nobody
				holder = nobody
			}
		}
	}
	return float64(steps) / perNano * float64(workers) / float64(adds)
}
