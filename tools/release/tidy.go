package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tidy runs go mod tidy in each module, with the others as they are in the tree,
// published or not. With diff it changes nothing, and an error says what it would.
func tidy(t *tree, diff bool) error {
	version, err := t.version()
	if err != nil {
		return err
	}
	wanted := make(map[string][]byte)
	for _, m := range t.modules {
		if err := t.tidied(m, wanted); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
	}
	if !diff {
		if err := write(wanted); err != nil {
			return err
		}
		files, err := t.at(version) // a new require, too, is of the version
		return errors.Join(err, write(files))
	}
	files, err := t.at(version)
	if err != nil {
		return err
	}
	for name, data := range files {
		if _, ok := wanted[name]; !ok {
			wanted[name] = data
		}
	}
	return t.compare(wanted)
}

func write(files map[string][]byte) error {
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// tidied adds the tidy go.mod and go.sum of a module to files.
func (t *tree) tidied(m *mod, files map[string][]byte) error {
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	alternate, sum := filepath.Join(scratch, "go.mod"), filepath.Join(filepath.Dir(m.file), "go.sum")
	f, err := parse(m.file)
	if err != nil {
		return err
	}
	for _, other := range t.modules {
		if err := f.AddReplace(other.path, "", filepath.Dir(other.file), ""); err != nil {
			return err
		}
	}
	data, err := f.Format()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(sum)
	if err != nil {
		return err
	}
	if err := write(map[string][]byte{alternate: data, filepath.Join(scratch, "go.sum"): sums}); err != nil {
		return err
	}
	cmd := exec.Command("go", "mod", "tidy", "-modfile="+alternate)
	cmd.Dir = filepath.Dir(m.file)
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w\n%s", err, out)
	}
	if f, err = parse(alternate); err != nil {
		return err
	}
	for _, other := range t.modules {
		if err := f.DropReplace(other.path, ""); err != nil {
			return err
		}
	}
	f.Cleanup()
	if files[m.file], err = f.Format(); err != nil {
		return err
	}
	files[sum], err = os.ReadFile(filepath.Join(scratch, "go.sum"))
	return err
}

// compare returns an error that shows how the files of the tree differ from wanted.
func (t *tree) compare(wanted map[string][]byte) error {
	var diffs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		old, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && bytes.Equal(old, wanted[name]) {
			continue
		}
		cmd := exec.Command("diff", "-uN", name, "-")
		cmd.Stdin = bytes.NewReader(wanted[name])
		out, _ := cmd.CombinedOutput() // its status says that there is a difference
		diffs.Write(out)
	}
	if diffs.Len() > 0 {
		return fmt.Errorf("run it without -diff:\n%s", diffs.String())
	}
	return nil
}
