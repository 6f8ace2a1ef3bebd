package inspect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/internal/unit"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// A Dir is what a directory of snapshots holds.
type Dir struct {
	Dir     string   `json:"dir"`
	Size    int64    `json:"size"` // of all files, in bytes
	Writers []Writer `json:"writers"`
	Others  []Other  `json:"other_files"`
}

// A Writer is one run, or the base, with its snapshots from old to new.
type Writer struct {
	Writer      string       `json:"writer"`
	Base        bool         `json:"base,omitempty"` // the sum over earlier writers
	Runs        int          `json:"runs"`           // in its newest snapshot
	Started     time.Time    `json:"started"`        // zero if nothing of it can be read
	Counts      bool         `json:"counts"`         // towards the lifetime totals
	Generations []Generation `json:"generations"`
}

// A Generation is a snapshot file.
type Generation struct {
	File   string    `json:"file"`
	Size   int64     `json:"size"`
	Seq    uint64    `json:"seq"`
	Taken  time.Time `json:"taken"`
	Series int       `json:"series"` // the engine's own left out
	Added  int64     `json:"added"`  // the sum of all counters but the engine's own and those of amounts
	Error  string    `json:"error,omitempty"`

	// Rate is what was added per second since the generation before. There
	// is none for a base, which grows by whole runs.
	Rate *float64 `json:"per_second,omitempty"`
}

// An Other is a file that is no readable generation.
type Other struct {
	File string `json:"file"`
	Kind string `json:"kind"` // as filesink has them
	Size int64  `json:"size"`
}

// ReadDir looks into a directory. Every file is read whole.
func ReadDir(dir string) (*Dir, error) {
	files, err := filesink.Inspect(dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{Dir: dir, Writers: []Writer{}, Others: []Other{}}
	at := make(map[snapshot.WriterID]int)
	for _, f := range files { // by writer and seq, as their names sort
		d.Size += f.Size
		if f.Kind != filesink.KindSnapshot && f.Kind != filesink.KindBase {
			d.Others = append(d.Others, Other{f.Name, string(f.Kind), f.Size})
			continue
		}
		i, known := at[f.Writer]
		if !known {
			i = len(d.Writers)
			at[f.Writer] = i
			d.Writers = append(d.Writers, Writer{Writer: f.Writer.String(), Base: f.Writer.IsZero()})
		}
		if err := d.Writers[i].generation(dir, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return d, nil
}

// generation adds a file to a writer. An fs.ErrNotExist says that a running
// engine has removed the file since it was listed.
func (w *Writer) generation(dir string, f filesink.File) error {
	g := Generation{File: f.Name, Size: f.Size, Seq: f.Seq}
	if f.Err != nil {
		g.Error = f.Err.Error()
		w.Generations = append(w.Generations, g)
		return nil
	}
	s, _, err := readFile(filepath.Join(dir, f.Name))
	if err != nil {
		return err
	}
	g.Taken = s.Taken.UTC()
	series := make(map[string]bool)
	for row := range s.AllCounters() {
		if !hotcount.IsHealth(row.Key) {
			series[row.Key.String()] = true
			if !unit.IsAmount(row.Key.Name()) { // bytes and views have no common sum
				g.Added += row.Value
			}
		}
	}
	for _, row := range s.Uniques {
		series[row.Key.String()] = true
	}
	g.Series = len(series)
	if n := len(w.Generations); n > 0 && !w.Base && w.Generations[n-1].Error == "" {
		before := w.Generations[n-1]
		if seconds := g.Taken.Sub(before.Taken).Seconds(); seconds > 0 {
			rate := float64(g.Added-before.Added) / seconds
			g.Rate = &rate
		}
	}
	w.Generations = append(w.Generations, g)
	w.Started, w.Counts, w.Runs = s.Started.UTC(), w.Counts || f.Counts, max(1, len(s.Folded))
	return nil
}

// WriteTable writes what a directory holds for people.
func (d *Dir) WriteTable(w io.Writer) error {
	p := &printer{w: w}
	files := int64(len(d.Others))
	for _, w := range d.Writers {
		files += int64(len(w.Generations))
	}
	p.line("%s: %s, %s", safetext.Printable(d.Dir, maxShown), text.Count(files, "file"), text.Count(d.Size, "byte"))
	for _, w := range d.Writers {
		p.line("")
		p.line("%s", w.title())
		t := text.NewTable(">seq", "taken", ">series", ">counted", ">per second", ">bytes", "")
		for _, g := range w.Generations {
			if g.Error != "" {
				t.Row(fmt.Sprint(g.Seq), "", "", "", "", text.Group(g.Size), "damaged: "+safetext.Printable(g.Error, maxShown))
				continue
			}
			rate := ""
			if g.Rate != nil {
				rate = number(*g.Rate)
			}
			t.Row(fmt.Sprint(g.Seq), stamp(g.Taken), text.Group(int64(g.Series)), text.Group(g.Added), rate, text.Group(g.Size), "")
		}
		if p.err == nil {
			p.err = t.Write(p.w, "  ")
		}
	}
	t := text.NewTable(">bytes", "kind", "file")
	for _, o := range d.Others {
		t.Row(text.Group(o.Size), o.Kind, safetext.Printable(o.File, maxShown))
	}
	p.table(t, len(d.Others))
	return p.err
}

func (w *Writer) title() string {
	switch {
	case w.Started.IsZero():
		return "writer " + w.Writer + ": nothing of it can be read"
	case w.Base:
		return "base: the sum of " + text.Count(int64(w.Runs), "earlier run") + ", the first started " + stamp(w.Started)
	case !w.Counts:
		return "writer " + w.Writer + ", started " + stamp(w.Started) + ": in the base"
	}
	return "writer " + w.Writer + ", started " + stamp(w.Started)
}
