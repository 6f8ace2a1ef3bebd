// Command release keeps the modules of this repository at one version.
//
//	release bump vX.Y.Z        require that version everywhere, and print the tags to make
//	release tidy [-diff]       go mod tidy in each module, or only what it would change
//	release pack vX.Y.Z DIR    write the released modules as a module proxy into DIR,
//	                           and print their paths
//	release api [-diff]        record the exported names of the released packages in
//	                           the directory api, or only say what changed
//
// Modules of one tree require each other at the version of the next release, or of
// the last, and go.work replaces that version by the directory: so that the tree
// builds as one, and no go.mod has a replace, which "go install" refuses.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	flag.Usage = usage
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprint(os.Stderr, "Usage: release bump VERSION | release tidy [-diff] | release pack VERSION DIR | release api [-diff]\n")
	os.Exit(2)
}

func run(args []string) error {
	if len(args) == 0 {
		usage()
	}
	t, err := load(".")
	if err != nil {
		return err
	}
	diff := len(args) == 2 && args[1] == "-diff"
	switch verb, rest := args[0], args[1:]; {
	case verb == "bump" && len(rest) == 1:
		return bump(t, rest[0])
	case verb == "tidy" && (diff || len(rest) == 0):
		return tidy(t, diff)
	case verb == "api" && (diff || len(rest) == 0):
		return api(t, diff)
	case verb == "pack" && len(rest) == 2:
		return pack(t, rest[0], rest[1])
	}
	usage()
	return nil
}

// bump writes the version into the tree and prints the tags that belong to it.
func bump(t *tree, version string) error {
	if err := check(version); err != nil {
		return err
	}
	files, err := t.at(version)
	if err != nil {
		return err
	}
	if err := write(files); err != nil {
		return err
	}
	for _, m := range t.modules {
		if m.released() {
			fmt.Println(m.tag(version))
		}
	}
	return nil
}
