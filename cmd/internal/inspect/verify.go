package inspect

import (
	"fmt"
	"io"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/lifetime"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// A Verification says whether a directory is in order, and what an engine that
// starts there would do.
type Verification struct {
	Dir      string `json:"dir"`
	Read     int    `json:"read"`      // snapshot files that are whole
	Damaged  []Bad  `json:"damaged"`   // that are not
	SetAside []Bad  `json:"set_aside"` // damaged ones that an earlier start has renamed
	Start    Start  `json:"start"`
}

// A Bad is a file that cannot be read.
type Bad struct {
	File  string `json:"file"`
	Error string `json:"error,omitempty"`
}

// A Start is what an engine would find.
type Start struct {
	Error  string    `json:"error,omitempty"` // why it would not start
	Runs   int       `json:"runs"`
	Series int       `json:"series"` // the engine's own left out
	Taken  time.Time `json:"taken"`  // the newest snapshot

	SetAside int `json:"set_aside"` // damaged files that it would rename
}

// Verify reads every file of a directory.
func Verify(dir string) (*Verification, error) {
	files, err := filesink.Inspect(dir)
	if err != nil {
		return nil, err
	}
	v := &Verification{Dir: dir, Damaged: []Bad{}, SetAside: []Bad{}}
	for _, f := range files {
		switch {
		case f.Kind == filesink.KindDamaged:
			v.SetAside = append(v.SetAside, Bad{File: f.Name})
		case f.Kind != filesink.KindSnapshot && f.Kind != filesink.KindBase:
		case f.Err != nil:
			v.Damaged = append(v.Damaged, Bad{f.Name, f.Err.Error()})
		default:
			v.Read++
		}
	}
	totals, err := lifetime.Load(dir)
	if err != nil {
		v.Start.Error = err.Error()
		return v, nil
	}
	v.Start.Runs, v.Start.Taken, v.Start.SetAside = totals.Runs, totals.Taken.UTC(), len(totals.Damaged)
	for _, c := range totals.Counters {
		if !hotcount.IsHealth(c.Key) {
			v.Start.Series++
		}
	}
	v.Start.Series += len(totals.Uniques)
	return v, nil
}

// Err returns an error unless every file is whole and an engine would start.
func (v *Verification) Err() error {
	switch {
	case v.Start.Error != "":
		return fmt.Errorf("%s: an engine would not start", v.Dir)
	case len(v.Damaged) > 0:
		return fmt.Errorf("%s: %d of %d snapshots cannot be read", v.Dir, len(v.Damaged), v.Read+len(v.Damaged))
	}
	return nil
}

// WriteTable writes the outcome for people.
func (v *Verification) WriteTable(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s: %s whole, %s damaged, %s set aside before", safetext.Printable(v.Dir, maxShown),
		text.Count(int64(v.Read), "snapshot"), text.Group(int64(len(v.Damaged))), text.Group(int64(len(v.SetAside))))
	for _, d := range v.Damaged {
		p.line("  %s: %s", d.File, safetext.Printable(d.Error, maxShown))
	}
	switch s := v.Start; {
	case s.Error != "":
		p.line("An engine would not start: %s", safetext.Printable(s.Error, len(s.Error)))
	case s.Runs == 0:
		p.line("An engine would start from zero: there are no counts.")
	default:
		p.line("An engine would restore %s series of %s, up to %s.",
			text.Group(int64(s.Series)), text.Count(int64(s.Runs), "run"), stamp(s.Taken))
		if s.SetAside > 0 {
			p.line("It would set aside %s and use what was written before: counts made in between are lost.",
				text.Count(int64(s.SetAside), "damaged file"))
		}
	}
	return p.err
}
