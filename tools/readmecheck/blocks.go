package main

import (
	"fmt"
	"strings"
)

// block is one fenced block of a Markdown file.
type block struct {
	line   int    // of the first line of text, counted from 1
	lang   string // the first word after the fence
	option string // the rest of that line
	text   string
}

// fence opens and closes a block.
const fence = "```"

// blocks returns the fenced blocks of a Markdown file. A block may be indented, as
// one inside a list is; the indentation of its fence is taken off each line.
func blocks(markdown string) ([]block, error) {
	var (
		found  []block
		open   *block
		indent string
		n      int
	)
	for line := range strings.Lines(markdown) {
		n++
		text := strings.TrimLeft(line, " ")
		switch isFence := strings.HasPrefix(text, fence); {
		case isFence && open == nil:
			indent = line[:len(line)-len(text)]
			lang, option, _ := strings.Cut(strings.TrimSpace(text[len(fence):]), " ")
			open = &block{line: n + 1, lang: lang, option: option}
		case isFence:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block is never closed", open.line-1)
	}
	return found, nil
}
