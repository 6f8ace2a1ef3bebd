package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// unreleased are the directories of the modules that nobody but this tree imports.
var unreleased = []string{"bench", "bridge/live/browsertest", "bridge/prom/parsetest", "snapshot/fleettest"}

// A tree is a workspace and its modules.
type tree struct {
	top     string
	modules []*mod
}

// A mod is a module of the tree.
type mod struct {
	dir  string // from the top, with slashes
	path string
	file string // its go.mod
}

func (m *mod) released() bool { return !slices.Contains(unreleased, m.dir) }

func (m *mod) tag(version string) string { return path.Join(m.dir, version) }

// load reads the workspace that dir is in.
func load(dir string) (*tree, error) {
	top, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(top, "go.work")); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(top) == top {
			return nil, fmt.Errorf("no go.work in %s and above: %w", dir, err)
		}
		top = filepath.Dir(top)
	}
	t := &tree{top: top}
	work, err := t.work()
	if err != nil {
		return nil, err
	}
	for _, use := range work.Use {
		m := &mod{dir: path.Clean(use.Path), file: filepath.Join(top, filepath.FromSlash(use.Path), "go.mod")}
		f, err := parse(m.file)
		if err != nil {
			return nil, err
		}
		m.path = f.Module.Mod.Path
		t.modules = append(t.modules, m)
	}
	for _, dir := range unreleased {
		if !slices.ContainsFunc(t.modules, func(m *mod) bool { return m.dir == dir }) {
			return nil, fmt.Errorf("go.work does not use %s, which is not to be released", dir)
		}
	}
	return t, nil
}

func (t *tree) work() (*modfile.WorkFile, error) {
	name := filepath.Join(t.top, "go.work")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(name, data, nil)
}

func parse(name string) (*modfile.File, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, data, nil)
}

// version returns the version at which the modules require each other now.
func (t *tree) version() (string, error) {
	work, err := t.work()
	if err != nil {
		return "", err
	}
	for _, r := range work.Replace {
		if t.find(r.Old.Path) != nil && r.Old.Version != "" {
			return r.Old.Version, nil
		}
	}
	return "", errors.New("go.work replaces no version of a module of its own")
}

func (t *tree) find(path string) *mod {
	for _, m := range t.modules {
		if m.path == path {
			return m
		}
	}
	return nil
}

// at returns go.work and each go.mod, by file name, as they are at a version.
func (t *tree) at(version string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	required := make(map[string]*mod)
	for _, m := range t.modules {
		f, err := parse(m.file)
		if err != nil {
			return nil, err
		}
		if files[m.file], err = t.pin(f, version, required); err != nil {
			return nil, err
		}
	}
	work, err := t.work()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(work.Replace) {
		if t.find(r.Old.Path) != nil {
			if err := work.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(required)) {
		dir := "./" + strings.TrimPrefix(required[path].dir, ".")
		if err := work.AddReplace(path, version, dir, ""); err != nil {
			return nil, err
		}
	}
	work.Cleanup()
	files[filepath.Join(t.top, "go.work")] = modfile.Format(work.Syntax)
	return files, nil
}

// pin returns f with each require of a module of the tree at the version, and adds
// those modules to required.
func (t *tree) pin(f *modfile.File, version string, required map[string]*mod) ([]byte, error) {
	for _, r := range f.Require {
		if m := t.find(r.Mod.Path); m != nil {
			required[m.path] = m
			if err := f.AddRequire(m.path, version); err != nil {
				return nil, err
			}
		}
	}
	f.Cleanup()
	return f.Format()
}

// check reports whether a release can have the version.
func check(version string) error {
	switch {
	case !semver.IsValid(version) || semver.Canonical(version) != version:
		return fmt.Errorf("%q is no version of the form vX.Y.Z", version)
	case semver.Compare(semver.Major(version), "v1") > 0:
		return fmt.Errorf("%s needs module paths that end with /%s", version, semver.Major(version))
	}
	return nil
}
