// Package text formats what the commands show to people.
package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Group returns n with a comma between groups of three digits.
func Group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// Count returns n and the noun, with an s unless n is 1.
func Count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Group(n) + " " + noun
}

// bars are eighths of a character cell, from empty to full.
var bars = []rune("·▁▂▃▄▅▆▇█")

// Spark returns one character a value, its height in proportion to highest.
// Only 0 looks empty.
func Spark(values []int64, highest int64) string {
	full := float64(len(bars) - 1)
	var b strings.Builder
	for _, v := range values {
		level := 0
		if v > 0 {
			level = 1 + int(float64(v)/float64(highest)*(full-1)+0.5)
		}
		b.WriteRune(bars[min(level, len(bars)-1)])
	}
	return b.String()
}

// Bar returns a bar of blocks that is width characters long for highest.
func Bar(value, highest int64, width int) string {
	if value <= 0 || highest <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, int(float64(value)/float64(highest)*float64(width)+0.5)))
}

// Wrap breaks s into lines of at most width characters, but for longer words.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
