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
	ErrClient  = errors.New("hotcount/accesslog: no client at the start of the line")
	ErrTime    = errors.New("hotcount/accesslog: no time in brackets after client, identity and user")
	ErrRequest = errors.New("hotcount/accesslog: no quoted request after the time")
	ErrStatus  = errors.New("hotcount/accesslog: no three-digit status after the request")
	ErrSize    = errors.New("hotcount/accesslog: no size after the status")
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
	day, year := number(b[0:2]), number(b[7:11])
	hour, minute, second := number(b[12:14]), number(b[15:17]), number(b[18:20])
	zoneHour, zoneMinute := number(b[22:24]), number(b[24:26])
	if day|year|hour|minute|second|zoneHour|zoneMinute < 0 {
		return 0, false
	}
	month := parseMonth(b[3:6])
	if month == 0 || day == 0 || hour > 23 || minute > 59 || zoneHour > 23 || zoneMinute > 59 ||
		second > 60 { // 60 is a leap second
		return 0, false
	}
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if day > 28 && date.Day() != day { // 31 April reads as 1 May
		return 0, false
	}
	offset := int64(zoneHour*3600 + zoneMinute*60)
	switch b[21] {
	case '+':
		offset = -offset
	case '-':
	default:
		return 0, false
	}
	return date.Unix() + int64(hour*3600+minute*60+second) + offset, true
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

// number reads a few decimal digits, -1 if there is anything else.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return -1
		}
		n = n*10 + int(d)
	}
	return n
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
	case len(s) >= 4 && s[3] == ' ':
		r.Status = number(s[:3])
		return s[4:], r.Status >= 0
	case len(s) >= 2 && s[0] == '-' && s[1] == ' ':
		r.Status = NoStatus
		return s[2:], true
	}
	return nil, false
}

// readSize reads `size`, which ends the line or has a space after it.
func (r *Record) readSize(s []byte) bool {
	if end := bytes.IndexByte(s, ' '); end >= 0 {
		s = s[:end]
	}
	r.Size = 0
	if len(s) == 1 && s[0] == '-' {
		return true
	}
	for _, c := range s {
		d := c - '0'
		if d > 9 || r.Size > (math.MaxInt64-int64(d))/10 {
			return false
		}
		r.Size = r.Size*10 + int64(d)
	}
	return len(s) > 0
}
