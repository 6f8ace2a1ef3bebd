package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// echo has a verb that prints its flag and its arguments, and one that fails.
func echo(err error) Command {
	return Command{Name: "echo", Intro: "echo tests.", Verbs: []Verb{
		{Name: "say", Args: "WORD…", Summary: "print words", Run: func(_ context.Context, s Streams, v Verb, args []string) error {
			fs := v.Flags()
			end := fs.String("end", ".", "what stands at the `END`")
			words, err := v.Parse(fs, s, args)
			if err != nil {
				return err
			}
			_, err = s.Out.Write([]byte(strings.Join(words, " ") + *end))
			return err
		}},
		{Name: "fail", Summary: "fail", Run: func(_ context.Context, s Streams, v Verb, args []string) error {
			if err := v.ParseNone(v.Flags(), s, args); err != nil {
				return err
			}
			return err
		}},
	}}
}

// Each line of arguments has one status and one output.
func TestRun(t *testing.T) {
	failure := errors.Join(errors.New("one"), errors.New("two"))
	for args, want := range map[string]struct {
		status   int
		out, err string
	}{
		"":                 {ExitUsage, "", "echo tests.\n\nUsage:\n\n  echo say WORD…  print words\n  echo fail       fail\n\n\"echo VERB -h\" lists the flags of a verb.\n"},
		"say a -end ! b":   {ExitOK, "a b!", ""},
		"say -- -end !":    {ExitOK, "-end !.", ""},
		"say -":            {ExitOK, "-.", ""},
		"say -no":          {ExitUsage, "", "echo say: flag provided but not defined: -no; see echo say -h\n"},
		"fail":             {ExitFailure, "", "echo fail: one\necho fail: two\n"},
		"fail -- argument": {ExitUsage, "", "echo fail: \"argument\" is one argument too many; see echo fail -h\n"},
		"shout":            {ExitUsage, "", "echo: there is no verb \"shout\"; see echo help\n"},
		"--version":        {ExitUsage, "", "echo: there is no verb \"version\"; see echo help\n"},
		"help say":         {ExitOK, "echo say: print words\n\nUsage: echo say [FLAG…] WORD…\n\n  -end END\n    \twhat stands at the END (default \".\")\n", ""},
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, want.status, echo(failure).Run(t.Context(), strings.Fields(args), Streams{Out: &out, Err: &errs}), args)
		assert.Equal(t, want.out, out.String(), args)
		assert.Equal(t, want.err, errs.String(), args)
	}
}
