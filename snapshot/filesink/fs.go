package filesink

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// filesystem is what the sink asks of a directory. Names are plain file names
// in it. Tests put faults and power cuts behind it.
type filesystem interface {
	Create(name string) (file, error) // fails if name exists
	Open(name string) (io.ReadCloser, error)
	Rename(from, to string) error // replaces to
	Remove(name string) error
	List() ([]entry, error) // in the order of names; fs.ErrNotExist if one has gone meanwhile
	Sync() error            // makes creations, renames and removals durable
}

type file interface {
	io.WriteCloser
	Sync() error // makes the content durable
}

type entry struct {
	name    string
	size    int64
	modTime time.Time
	regular bool // and no symbolic link
}

// rootDir is the real filesystem. An os.Root follows no symbolic link out of
// the directory, whatever is put there meanwhile.
type rootDir struct{ *os.Root }

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// makeDir makes a directory that a power cut cannot take away again.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(func() (*os.File, error) { return os.Open(parent) })
}

func (d rootDir) Create(name string) (file, error) {
	return d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
}

func (d rootDir) Open(name string) (io.ReadCloser, error) { return d.Root.Open(name) }

// List reads the names first and then looks at each file. fs.ReadDir would
// leave out, without a word, a file that is removed in between, and so show a
// directory that never was: the file gone, and its successor not there yet.
func (d rootDir) List() ([]entry, error) {
	dir, err := d.Root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		info, err := d.Root.Lstat(name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{info.Name(), info.Size(), info.ModTime(), info.Mode().IsRegular()})
	}
	return entries, nil
}

func (d rootDir) Sync() error {
	return syncDir(func() (*os.File, error) { return d.Root.Open(".") })
}

// syncDir opens a directory anew to sync it: a handle whose fsync has failed is
// not to be trusted again. Windows has no fsync of directories; there the file
// system's journal keeps names in order.
func syncDir(open func() (*os.File, error)) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := open()
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
