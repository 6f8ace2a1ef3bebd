package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// errMarkers is wrapped by the errors for markers that do not come in pairs.
var errMarkers = errors.New("markers do not match")

const (
	beginMarker = "<!-- bench:begin "
	endMarker   = "<!-- bench:end "
	markerEnd   = " -->"
)

// replace returns a page with what is between its markers replaced by the sections
// of their names.
func replace(page []byte, section func(name string) (string, error)) ([]byte, error) {
	var out bytes.Buffer
	open := "" // name of the section that the line is in
	number := 0
	for line := range strings.Lines(string(page)) {
		number++
		begin, isBegin := marker(line, beginMarker)
		end, isEnd := marker(line, endMarker)
		switch {
		case isBegin && open != "":
			return nil, fmt.Errorf("line %d: %w: %q begins within %q", number, errMarkers, begin, open)
		case isEnd && end != open:
			return nil, fmt.Errorf("line %d: %w: %q ends within %q", number, errMarkers, end, open)
		case isBegin:
			open = begin
			text, err := section(begin)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			out.WriteString(line + "\n" + text + "\n")
		case isEnd:
			open = ""
		}
		if open == "" {
			out.WriteString(line)
		}
	}
	if open != "" {
		return nil, fmt.Errorf("%w: %q does not end", errMarkers, open)
	}
	return out.Bytes(), nil
}

// marker returns the name in a line that is a marker.
func marker(line, start string) (name string, ok bool) {
	line, ok = strings.CutSuffix(strings.TrimRight(line, "\r\n"), markerEnd)
	if !ok {
		return "", false
	}
	name, ok = strings.CutPrefix(line, start)
	return name, ok && name != ""
}
