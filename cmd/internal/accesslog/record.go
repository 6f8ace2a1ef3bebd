package accesslog

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"time"
)

// The reasons why a line is malformed, in the order in which Parse looks.
var (
	ErrClient  = errors.New("no client at the start of the line")
	ErrTime    = errors.New("no time in brackets after client, identity and user")
	ErrRequest = errors.New("no quoted request after the time")
	ErrStatus  = errors.New("no three-digit status after the request")
	ErrSize    = errors.New("no size after the status")
)

// NoStatus is the Status of a line that has "-" there.
const NoStatus = -1

// A Record is what one line says. Its byte slices point into the line.
type Record struct {
	Client []byte
	Time   int64 // Unix seconds
	Status int   // 0 to 999, or NoStatus
	Size   int64 // bytes of the response's body

	// Method and Target are the parts of the request "METHOD target
	// protocol"; the protocol may be absent (HTTP/0.9). Both are nil when
	// the request has another form: "-" after a timeout, or the bytes of
	// somebody speaking TLS to a plain port.
	Method, Target []byte
}

// Parse reads a line, given without its line ending, into r. After an error r
// holds nothing of use.
func (r *Record) Parse(line []byte) error {
	end := bytes.IndexByte(line, ' ')
	if end <= 0 {
		return ErrClient
	}
	r.Client = line[:end]
	rest, ok := r.cutTime(line[end+1:])
	if !ok {
		return ErrTime
	}
	if rest, ok = r.cutRequest(rest); !ok {
		return ErrRequest
	}
	if rest, ok = r.cutStatus(rest); !ok {
		return ErrStatus
	}
	if !r.readSize(rest) {
		return ErrSize
	}
	return nil
}

// cutTime reads `identity user [time] ` and returns what follows.
func (r *Record) cutTime(s []byte) (rest []byte, ok bool) {
	user := bytes.IndexByte(s, ' ') + 1 // where the user begins
	if user < len("- ") {
		return nil, false
	}
	for open := user + len("- "); open < len(s); open++ {
		next := bytes.IndexByte(s[open:], '[')
		if next < 0 {
			break
		}
		open += next
		t := s[open+1:]
		if len(t) < timeLen+len("] ") {
			break
		}
		if s[open-1] != ' ' || t[timeLen] != ']' || t[timeLen+1] != ' ' {
			continue
		}
		if r.Time, ok = parseTime((*[timeLen]byte)(t)); ok {
			return t[timeLen+len("] "):], true
		}
	}
	return nil, false
}

const timeLen = len("17/May/2015:10:05:03 +0000")

func parseTime(b *[timeLen]byte) (unix int64, ok bool) {
	if b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' || b[20] != ' ' {
		return 0, false
	}
	day, month, year := two(b[0], b[1]), parseMonth(b[3:6]), two(b[7], b[8])*100+two(b[9], b[10])
	hour, minute, second := two(b[12], b[13]), two(b[15], b[16]), two(b[18], b[19])
	zone := int64(two(b[22], b[23])*3600 + two(b[24], b[25])*60)
	if year > 9999 || month == 0 || day == 0 || day > daysIn(month, year) ||
		hour > 23 || minute > 59 || second > 60 || // 60 is a leap second
		two(b[22], b[23]) > 23 || two(b[24], b[25]) > 59 {
		return 0, false
	}
	unix = daysSince1970(year, month, day)*86400 + int64(hour*3600+minute*60+second)
	switch b[21] {
	case '+':
		return unix - zone, true
	case '-':
		return unix + zone, true
	}
	return 0, false
}

// two reads two decimal digits. Anything else is a number larger than any that
// two or four digits make.
func two(tens, ones byte) int {
	t, o := tens-'0', ones-'0'
	if t > 9 || o > 9 {
		return 10_000
	}
	return int(t)*10 + int(o)
}

func parseMonth(b []byte) time.Month {
	switch string(b) {
	case "Jan":
		return time.January
	case "Feb":
		return time.February
	case "Mar":
		return time.March
	case "Apr":
		return time.April
	case "May":
		return time.May
	case "Jun":
		return time.June
	case "Jul":
		return time.July
	case "Aug":
		return time.August
	case "Sep":
		return time.September
	case "Oct":
		return time.October
	case "Nov":
		return time.November
	case "Dec":
		return time.December
	}
	return 0
}

// daysBefore is the days of a common year before each month.
var daysBefore = [...]int{time.January: 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(month time.Month, year int) int {
	if month == time.February && isLeap(year) {
		return 29
	}
	return daysBefore[month+1] - daysBefore[month]
}

// daysSince1970 counts the days of the Gregorian calendar from 1970-01-01. It
// takes a sixth of the time of time.Date, which normalizes and has zones.
func daysSince1970(year int, month time.Month, day int) int64 {
	// Years since the one before year 0 began 400 years earlier, so that the
	// divisions below round down; the calendar repeats after 400 years.
	y := year + 399
	days := 365*y + y/4 - y/100 + y/400 + daysBefore[month] + day - 1
	if month > time.February && isLeap(year) {
		days++
	}
	const from1970 = 365*2369 + 2369/4 - 2369/100 + 2369/400 // y of 1970
	return int64(days - from1970)
}

// cutRequest reads `"request" ` and returns what follows.
func (r *Record) cutRequest(s []byte) (rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		return nil, false
	}
	s = s[1:]
	for end := 0; ; end++ {
		next := bytes.IndexByte(s[end:], '"')
		if next < 0 {
			return nil, false
		}
		end += next
		if escaped(s[:end]) {
			continue
		}
		if end+1 == len(s) || s[end+1] != ' ' {
			return nil, false
		}
		r.splitRequest(s[:end])
		return s[end+2:], true
	}
}

// escaped reports whether the byte that follows s has a backslash of its own.
func escaped(s []byte) bool {
	odd := false
	for i := len(s) - 1; i >= 0 && s[i] == '\\'; i-- {
		odd = !odd
	}
	return odd
}

func (r *Record) splitRequest(request []byte) {
	r.Method, r.Target = nil, nil
	end := bytes.IndexByte(request, ' ')
	if end < 0 || !isToken(request[:end]) {
		return
	}
	target := request[end+1:]
	// Clients that forget to escape a space make a target of several words,
	// so the protocol is the last word and not the third.
	last := bytes.LastIndexByte(target, ' ') + 1
	if bytes.HasPrefix(target[last:], []byte("HTTP/")) {
		target = target[:max(0, last-1)]
	}
	if len(target) > 0 {
		r.Method, r.Target = request[:end], target
	}
}

// isToken reports whether s is a token as RFC 9110, section 5.6.2, has it; a
// method is one.
func isToken(s []byte) bool {
	for _, c := range s {
		letter := c | 0x20
		if (letter < 'a' || letter > 'z') && strings.IndexByte("!#$%&'*+-.^_`|~0123456789", c) < 0 {
			return false
		}
	}
	return len(s) > 0
}

// cutStatus reads `status ` and returns what follows.
func (r *Record) cutStatus(s []byte) (rest []byte, ok bool) {
	switch {
	case len(s) >= 2 && s[0] == '-' && s[1] == ' ':
		r.Status = NoStatus
		return s[2:], true
	case len(s) >= 4 && s[3] == ' ':
		hundreds := int(s[0] - '0')
		r.Status = hundreds*100 + two(s[1], s[2])
		return s[4:], hundreds <= 9 && r.Status <= 999
	}
	return nil, false
}

// maxDigits is how many digits the largest size has. No number of so many
// digits overflows an uint64.
const maxDigits = len("9223372036854775807")

// readSize reads `size`, which ends the line or has a space after it.
func (r *Record) readSize(s []byte) bool {
	if len(s) > 0 && s[0] == '-' {
		r.Size = 0
		return len(s) == 1 || s[1] == ' '
	}
	n, digits := uint64(0), 0
	for _, c := range s {
		if c == ' ' {
			break
		}
		d := c - '0'
		if d > 9 || digits == maxDigits {
			return false
		}
		n = n*10 + uint64(d)
		digits++
	}
	r.Size = int64(n)
	return digits > 0 && n <= math.MaxInt64
}
