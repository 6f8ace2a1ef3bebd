package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// pack writes each released module as it would be at a version, with the files that
// git knows or would if they were added, and prints its path. The directory is then
// what GOPROXY=file:// takes.
func pack(t *tree, version, dir string) error {
	if err := check(version); err != nil {
		return err
	}
	mods, err := t.at(version)
	if err != nil {
		return err
	}
	names, err := t.names()
	if err != nil {
		return err
	}
	for _, m := range t.modules {
		if !m.released() {
			continue
		}
		if err := t.packOne(m, version, dir, mods[m.file], names); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
		fmt.Println(m.path)
	}
	return nil
}

// names returns the files of the tree, from its top.
func (t *tree) names() ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = t.top
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

func (t *tree) packOne(m *mod, version, dir string, modFile []byte, names []string) error {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return err
	}
	base := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(base, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC()})
	if err != nil {
		return err
	}
	err = write(map[string][]byte{
		filepath.Join(base, "list"):          []byte(version + "\n"),
		filepath.Join(base, version+".info"): info,
		filepath.Join(base, version+".mod"):  modFile,
	})
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(base, version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := zip.Create(f, module.Version{Path: m.path, Version: version}, t.files(m, modFile, names)); err != nil {
		return err
	}
	return f.Close()
}

// files returns what belongs to a module. Package zip leaves out modules below it. A
// module without a license gets that of the tree, as the go command does.
func (t *tree) files(m *mod, modFile []byte, names []string) []zip.File {
	const license = "LICENSE"
	files := []zip.File{file{name: "go.mod", disk: m.file, data: modFile}}
	licensed := false
	for _, name := range names {
		inside := name
		if m.dir != "." {
			var ok bool
			if inside, ok = strings.CutPrefix(name, m.dir+"/"); !ok {
				continue
			}
		}
		licensed = licensed || inside == license
		if inside != "go.mod" {
			files = append(files, file{name: inside, disk: filepath.Join(t.top, filepath.FromSlash(name))})
		}
	}
	if !licensed {
		files = append(files, file{name: license, disk: filepath.Join(t.top, license)})
	}
	return files
}

// A file is a zip.File whose content may be another than on the disk.
type file struct {
	name, disk string
	data       []byte
}

func (f file) Path() string { return f.name }

func (f file) Lstat() (fs.FileInfo, error) {
	info, err := os.Lstat(f.disk)
	if err == nil && f.data != nil {
		info = sized{info, int64(len(f.data))}
	}
	return info, err
}

func (f file) Open() (io.ReadCloser, error) {
	if f.data != nil {
		return io.NopCloser(strings.NewReader(string(f.data))), nil
	}
	return os.Open(f.disk)
}

// sized is a FileInfo of another size.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }
