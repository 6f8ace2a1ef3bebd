package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/hotcount/hotcount/internal/cli"
)

// A version says what this program was built from and with.
type version struct {
	Version  string `json:"version"`            // of the module, "(devel)" from a checkout
	Revision string `json:"revision,omitempty"` // of the checkout
	Modified bool   `json:"modified,omitempty"` // since that revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	if err := v.ParseNone(fs, s, args); err != nil {
		return err
	}
	info := readVersion()
	if *asJSON {
		return json.NewEncoder(s.Out).Encode(info)
	}
	_, err := fmt.Fprintln(s.Out, info)
	return err
}

func readVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) String() string {
	text := "hotcount " + v.Version
	if v.Revision != "" {
		text += " " + v.Revision
	}
	if v.Modified {
		text += " (modified)"
	}
	return fmt.Sprintf("%s, %s, %s", text, v.Go, v.Platform)
}
