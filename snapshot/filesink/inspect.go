package filesink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// A Kind says what a file in a directory is.
type Kind string

const (
	KindSnapshot   Kind = "snapshot"   // of one writer
	KindBase       Kind = "base"       // the sum over folded writers
	KindDamaged    Kind = "damaged"    // set aside
	KindUnfinished Kind = "unfinished" // left by an interrupted write
	KindLock       Kind = "lock"
	KindOther      Kind = "other" // nothing of a Sink's
)

// A File is what Inspect finds out about one file.
type File struct {
	Name    string
	Kind    Kind
	Size    int64
	ModTime time.Time

	Writer snapshot.WriterID // of a snapshot or damaged file
	Seq    uint64
	Taken  time.Time // zero if the file cannot be read

	// Counts says that the file's rows are part of the lifetime totals, as
	// its lineage's newest readable generation and not folded.
	Counts bool

	// Err is why a snapshot or base cannot be read, nil if all is well.
	Err error
}

// Inspect reads every snapshot in a directory whole, one at a time, and says
// what it found, in the order of names. It changes nothing and takes no lock: a
// Sink may be open on the directory meanwhile. The error is about the directory,
// never about one file.
func Inspect(dir string) ([]File, error) {
	var files []File
	err := withRoot(dir, func(fs filesystem) (err error) {
		files, err = inspect(fs)
		return err
	})
	return files, err
}

func inspect(fs filesystem) ([]File, error) {
	entries, err := listBesideSink(fs)
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(entries))
	folded := map[snapshot.WriterID]bool{}
	newest := map[snapshot.WriterID]int{} // readable, by index in files
	for _, e := range entries {
		f := classify(e)
		if f.Kind != KindSnapshot && f.Kind != KindBase {
			files = append(files, f)
			continue
		}
		s, err := readFile(fs, f.Name)
		if gone(err) {
			continue
		}
		f.Err = err
		if err == nil {
			f.Taken = s.Taken
			newest[f.Writer] = len(files)
			for _, fold := range s.Folded {
				folded[fold.Writer] = true
			}
		}
		files = append(files, f)
	}
	for w, i := range newest {
		files[i].Counts = !folded[w]
	}
	return files, nil
}

func classify(e entry) File {
	f := File{Name: e.name, Size: e.size, ModTime: e.modTime, Kind: KindOther}
	intact, damaged := strings.CutSuffix(e.name, damagedSuffix)
	w, seq, ok := parseName(intact)
	switch {
	case !e.regular:
	case e.name == lockName:
		f.Kind = KindLock
	case isTemp(e.name):
		f.Kind = KindUnfinished
	case ok:
		f.Writer, f.Seq = w, seq
		switch {
		case damaged:
			f.Kind = KindDamaged
		case w.IsZero():
			f.Kind = KindBase
		default:
			f.Kind = KindSnapshot
		}
	}
	return f
}

// Load returns what Restored would, without a Sink: the base first, if there is
// one, then the newest readable snapshot of every other writer, a running one
// among them. It changes nothing and takes no lock. The error wraps
// ErrUnreadable if a writer has files but none can be read; damaged files that
// an older generation stands in for are returned as such.
func Load(dir string) ([]*snapshot.Snapshot, []Damage, error) {
	var c contents
	err := withRoot(dir, func(fs filesystem) (err error) {
		for range tries {
			entries, err := listBesideSink(fs)
			if err != nil {
				return err
			}
			if c, err = read(fs, sortOut(entries)); !gone(err) {
				return err
			}
		}
		return errRestless
	})
	if err != nil {
		return nil, nil, err
	}
	if len(c.lost) > 0 {
		return nil, c.damaged, unreadable(dir, c)
	}
	if c.base == nil {
		return c.writers, c.damaged, nil
	}
	return append([]*snapshot.Snapshot{c.base}, c.writers...), c.damaged, nil
}

// tries is how often a reader starts again because files came and went while it
// listed or read them. That takes no time beside the interval of a Sink, so it
// is only used up by one that does nothing but write.
const tries = 1000

var errRestless = errors.New("hotcount/filesink: directory changes faster than it can be read")

// listBesideSink lists a directory in which a Sink may be working. It starts
// over when a file goes meanwhile, and wants two equal listings in a row, since
// POSIX does not say that a listing is one moment of the directory.
func listBesideSink(fs filesystem) ([]entry, error) {
	var before []entry
	for range tries {
		now, err := fs.List()
		if err != nil && !gone(err) {
			return nil, fmt.Errorf("hotcount/filesink: list directory: %w", err)
		}
		if err == nil && slices.EqualFunc(before, now, func(a, b entry) bool { return a.name == b.name }) {
			return now, nil
		}
		before = now
	}
	return nil, errRestless
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func withRoot(dir string, f func(filesystem) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("hotcount/filesink: %w", err)
	}
	defer root.Close()
	return f(rootDir{root})
}
