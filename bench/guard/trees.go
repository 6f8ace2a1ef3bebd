package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The two trees that are compared.
const (
	before = iota
	after
)

// trees are the working tree and a worktree of the base.
type trees struct {
	dirs [2]string
	name string // of the base, for people
}

// checkOut makes a worktree of a commit, by default the last tag, under scratch.
func checkOut(ctx context.Context, dir, base, scratch string) (*trees, error) {
	top, err := output(ctx, dir, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if base == "" {
		if base, err = output(ctx, top, "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"); err != nil {
			return nil, fmt.Errorf("there is no tag to compare with, name a commit with -base: %w", err)
		}
	}
	commit, err := output(ctx, top, "git", "rev-parse", "--verify", "--quiet", base+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("there is no commit %q: %w", base, err)
	}
	t := &trees{[2]string{filepath.Join(scratch, "base"), top}, fmt.Sprintf("%s (%.12s)", base, commit)}
	if _, err := output(ctx, top, "git", "worktree", "add", "--quiet", "--detach", t.dirs[before], commit); err != nil {
		return nil, errors.Join(err, t.remove(ctx)) // it may be there in part
	}
	return t, nil
}

// remove takes the worktree away, whether or not ctx has ended.
func (t *trees) remove(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := os.RemoveAll(t.dirs[before]); err != nil {
		return err
	}
	_, err := output(ctx, t.dirs[after], "git", "worktree", "prune")
	return err
}

// A binary is the tests of a package, from both trees.
type binary struct {
	pkg   string
	paths [2]string
	dirs  [2]string // where they run, as they do under go test
}

// build builds the tests of the packages that both trees have.
func build(ctx context.Context, t *trees, packages []string, scratch string, stderr io.Writer) ([]*binary, error) {
	var all []*binary
	for i, pkg := range packages {
		b := &binary{pkg: pkg}
		missing := ""
		for side, top := range t.dirs {
			b.dirs[side] = filepath.Join(top, filepath.FromSlash(pkg))
			// Windows runs nothing without this ending.
			b.paths[side] = filepath.Join(scratch, fmt.Sprintf("%d-%d.exe", i, side))
			if _, err := os.Stat(b.dirs[side]); err != nil {
				missing = [...]string{"base", "working tree"}[side]
				break
			}
			if _, err := output(ctx, b.dirs[side], "go", "test", "-c", "-o", b.paths[side], "."); err != nil {
				return nil, err
			}
			if _, err := os.Stat(b.paths[side]); err != nil {
				missing = [...]string{"tests of the base", "tests of the working tree"}[side]
				break
			}
		}
		if missing != "" {
			fmt.Fprintf(stderr, "guard: %s is left out: it is not in the %s\n", pkg, missing)
			continue
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil, errors.New("both trees have none of the packages")
	}
	return all, nil
}

// output runs a command and returns what it printed. Both trees are built by the
// Go that is here, each by itself and not as part of a workspace around it.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=local", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()+stdout.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
