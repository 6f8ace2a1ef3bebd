package prom

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

const (
	total       = "_total"
	windowLabel = "window"
	exported    = "exported_" // as Prometheus renames labels that a target must not have
)

// A role is what a series is in its engine.
type role uint8

const (
	counter role = iota
	upDown
	ring // over a counter
	uniques
	events
	uniquesWindow
)

// suffix returns what a value's name ends in, after the metric's own without
// _total.
func (r role) suffix() string {
	switch r {
	case counter:
		return total
	case ring:
		return "_window"
	default:
		return ""
	}
}

// estimated reports whether series of this role have bounds.
func (r role) estimated() bool { return r == uniques || r == uniquesWindow }

// windowed reports whether series of this role have the label window.
func (r role) windowed() bool { return r == ring || r == events || r == uniquesWindow }

// A familyID names the series that are shown alike. Its role is never upDown,
// which is for names to decide.
type familyID struct {
	desc series.Desc
	role role
}

// A family is how the series of one familyID are shown. The Desc of a metric
// that is not to be shown is nil.
type family struct {
	upDown bool
	labels []*string // names, sorted
	values []int     // for each label, which of the series' values it has; the window's comes last

	value, seconds, low, high *prometheus.Desc
}

// A claim is the use of a name by a metric of the engine. Overflow series have
// the claim of the family that they belong to.
type claim struct {
	metric string // in the engine
	role   role
}

// names decides what the engine's metrics are called. A name that was taken
// stays so, since a metric that changed hands would be two in one.
type names struct {
	help   map[string]string
	upDown map[string]bool

	known atomic.Pointer[map[familyID]*family] // replaced, never changed

	mu     sync.Mutex // of those who replace it
	claims map[string]claim
	hidden atomic.Pointer[[]hidden]
}

// hidden is a metric that is not shown because another has its name.
type hidden struct{ metric, name string }

func (n *names) init(o Options) {
	n.help = make(map[string]string, len(o.Help))
	for name, text := range o.Help {
		n.help[name] = strings.ToValidUTF8(text, "\ufffd")
	}
	n.upDown = make(map[string]bool, len(o.UpDown))
	for _, name := range o.UpDown {
		n.upDown[name] = true
	}
	n.claims = make(map[string]claim)
	n.known.Store(&map[familyID]*family{}) // not nil: it is cloned to be written to
	n.hidden.Store(new([]hidden))
}

// claimOf returns what a family claims names as. A counter may be marked as one
// that falls; of the engine's own, all that do not end in _total may.
func (n *names) claimOf(id familyID) claim {
	c := claim{id.desc.Name(), id.role}
	if c.role == counter && (n.upDown[c.metric] ||
		strings.HasPrefix(c.metric, "hotcount_") && !strings.HasSuffix(c.metric, total)) {
		c.role = upDown
	}
	return c
}

// learn returns the families of all that v shows. It decides about new ones in
// an order that does not depend on that of v.
func (n *names) learn(v *hotcount.View) map[familyID]*family {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := maps.Clone(*n.known.Load())
	fresh := unknown(known, v)
	for _, id := range fresh { // a name that need not change goes first
		if c := n.claimOf(id); c.valueName() == c.metric {
			n.take(c, c.metric)
		}
	}
	for _, id := range fresh {
		known[id] = n.newFamily(id)
	}
	n.known.Store(&known)
	return known
}

// unknown returns the families of v that are not known, sorted.
func unknown(known map[familyID]*family, v *hotcount.View) []familyID {
	fresh := make(map[familyID]struct{})
	see := func(k series.Key, r role) {
		if id := (familyID{k.Desc(), r}); known[id] == nil {
			fresh[id] = struct{}{}
		}
	}
	for _, c := range v.Counters {
		see(c.Key(), counter)
		if c.Window != nil {
			see(c.Key(), ring)
		}
	}
	for _, u := range v.Uniques {
		see(u.Key(), uniques)
	}
	for _, e := range v.Events {
		see(e.Key, events)
	}
	for _, u := range v.UniquesWindows {
		see(u.Key, uniquesWindow)
	}
	for _, c := range v.Health {
		see(c.Key, counter)
	}
	for _, g := range v.Gauges {
		see(g.Key, counter)
	}
	return slices.SortedFunc(maps.Keys(fresh), func(a, b familyID) int {
		return cmp.Or(strings.Compare(a.desc.Name(), b.desc.Name()), cmp.Compare(a.role, b.role))
	})
}

// valueName returns what the value of a series is called.
func (c claim) valueName() string {
	return strings.TrimSuffix(c.metric, total) + c.role.suffix()
}

func (n *names) newFamily(id familyID) *family {
	c := n.claimOf(id)
	f := &family{upDown: c.role == upDown}
	f.lay(id)
	value := c.valueName()
	f.value = n.describe(c, value, n.valueHelp(c))
	if c.role.windowed() {
		f.seconds = n.describe(c, value+"_seconds", "How much time "+value+" is about.")
	}
	if c.role.estimated() {
		f.low = n.describe(c, value+"_low", "Two standard errors below "+value+".")
		f.high = n.describe(c, value+"_high", "Two standard errors above "+value+".")
	}
	return f
}

// describe returns the description of one metric, nil if the name is taken.
func (n *names) describe(c claim, name, help string) *prometheus.Desc {
	if !n.take(c, name) {
		return nil
	}
	return prometheus.NewDesc(name, help, nil, nil)
}

// take claims a name and reports whether c has it.
func (n *names) take(c claim, name string) bool {
	other, taken := n.claims[name]
	switch {
	case !taken:
		n.claims[name] = c
	case other != c:
		n.hide(hidden{c.metric, name})
		return false
	}
	return true
}

func (n *names) hide(h hidden) {
	if have := *n.hidden.Load(); !slices.Contains(have, h) {
		more := append(slices.Clone(have), h)
		n.hidden.Store(&more)
	}
}

// lay sorts the labels of a family.
func (f *family) lay(id familyID) {
	labels := slices.Collect(id.desc.Labels())
	if id.role.windowed() {
		for i, l := range labels {
			if l == windowLabel {
				for l == windowLabel || slices.Contains(labels, l) {
					l = exported + l
				}
				labels[i] = l
			}
		}
		labels = append(labels, windowLabel)
	}
	for i := range labels {
		f.values = append(f.values, i)
	}
	slices.SortFunc(f.values, func(i, j int) int { return strings.Compare(labels[i], labels[j]) })
	for _, i := range f.values {
		f.labels = append(f.labels, &labels[i])
	}
}
