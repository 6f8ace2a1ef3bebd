package accesslog

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The oracle: the format as regular expressions, slow and plain.
var (
	oracleClient  = regexp.MustCompile(`^([^ ]+) `)
	oracleTime    = regexp.MustCompile(`(?s)^[^ ]+ .+? \[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-](?:[01]\d|2[0-3])[0-5]\d)\] `)
	oracleRequest = regexp.MustCompile(`(?s)^"((?:[^"\\]|\\.)*)" `)
	oracleStatus  = regexp.MustCompile(`^(\d{3}|-) `)
	oracleSize    = regexp.MustCompile(`^(\d{1,19}|-)(?: |$)`)
	oracleParts   = regexp.MustCompile("(?s)^([-!#$%&'*+.^_`|~0-9A-Za-z]+) (.+)$")
	oracleProto   = regexp.MustCompile(`(?s)(?:^| )HTTP/[^ ]*$`)
)

func oracle(line []byte) (Record, error) {
	var r Record
	client := oracleClient.FindSubmatch(line)
	if client == nil {
		return r, ErrClient
	}
	r.Client = client[1]
	rest, ok := oracleCutTime(&r, line[len(client[0]):])
	if !ok {
		return r, ErrTime
	}
	request := oracleRequest.FindSubmatch(rest)
	if request == nil {
		return r, ErrRequest
	}
	if parts := oracleParts.FindSubmatch(request[1]); parts != nil {
		target := oracleProto.ReplaceAll(parts[2], nil)
		if len(target) > 0 {
			r.Method, r.Target = parts[1], target
		}
	}
	rest = rest[len(request[0]):]
	status := oracleStatus.FindSubmatch(rest)
	if status == nil {
		return r, ErrStatus
	}
	var err error
	if r.Status, err = strconv.Atoi(string(status[1])); err != nil {
		r.Status = NoStatus
	}
	size := oracleSize.FindSubmatch(rest[len(status[0]):])
	if size == nil {
		return r, ErrSize
	}
	if string(size[1]) != "-" {
		if r.Size, err = strconv.ParseInt(string(size[1]), 10, 64); err != nil {
			return r, ErrSize
		}
	}
	return r, nil
}

// oracleCutTime tries one bracket after the other: a regular expression cannot
// tell that April has no 31st.
func oracleCutTime(r *Record, s []byte) (rest []byte, ok bool) {
	for i := range s {
		if s[i] != '[' || len(s[i:]) < timeLen+3 {
			continue
		}
		m := oracleTime.FindSubmatchIndex(s[:i+timeLen+3])
		if m == nil || m[1] != i+timeLen+3 || m[2] != i+1 {
			continue
		}
		text := string(s[m[2]:m[3]])
		leap := strings.Replace(text, ":60 ", ":59 ", 1)
		t, err := time.Parse("02/Jan/2006:15:04:05 -0700", leap)
		if err != nil {
			continue
		}
		r.Time = t.Unix()
		if leap != text {
			r.Time++
		}
		return s[m[1]:], true
	}
	return nil, false
}

const common = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5`

// lines are the seeds of the fuzz test, and shapes worth a name.
var lines = map[string]string{
	"common":                common,
	"combined":              common + ` "http://example.org/" "Mozilla/5.0"`,
	"agent cut short":       common + ` "-" "Mozilla/5.0 (compatible`,
	"escaped quotes":        `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /\"a\\\" HTTP/1.1" 200 5 "\"" "a \" b"`,
	"escape before the end": `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a\\" 200 5`,
	"quote not closed":      `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a\" 200 5`,
	"bare quote inside":     `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /"a" HTTP/1.1" 200 5`,
	"size -":                `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "HEAD / HTTP/1.1" 304 - "-" "-"`,
	"status -":              `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" - 0`,
	"status 000":            `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 000 0`,
	"ipv6":                  `2001:db8::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"zone ahead":            `192.0.2.1 - - [01/Jan/2016:01:05:03 +0530] "GET / HTTP/1.1" 200 5`,
	"zone behind":           `192.0.2.1 - - [29/Feb/2016:23:59:59 -0930] "GET / HTTP/1.1" 200 5`,
	"leap second":           `192.0.2.1 - - [31/Dec/2016:23:59:60 +0000] "GET / HTTP/1.1" 200 5`,
	"no 29 February":        `192.0.2.1 - - [29/Feb/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"31 April":              `192.0.2.1 - - [31/Apr/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"day 00":                `192.0.2.1 - - [00/Apr/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"unknown month":         `192.0.2.1 - - [17/MAY/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"zone without sign":     `192.0.2.1 - - [17/May/2015:10:05:03 00000] "GET / HTTP/1.1" 200 5`,
	"user with spaces":      `192.0.2.1 - a user [x] [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"user is missing":       `192.0.2.1 - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"user is empty":         `192.0.2.1 -  [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"identity is empty":     `192.0.2.1  - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"client is missing":     ` - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
	"time is missing":       `192.0.2.1 - - "GET / HTTP/1.1" 200 5`,
	"request is missing":    `192.0.2.1 - - [17/May/2015:10:05:03 +0000] 200 5`,
	"status is missing":     `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 5`,
	"size is missing":       `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200`,
	"size is empty":         `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 `,
	"size is the largest":   `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 9223372036854775807`,
	"size is too large":     `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 9223372036854775808`,
	"size has 20 digits":    `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 00000000000000000005`,
	"size is negative":      `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 -5`,
	"HTTP/0.9":              `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /" 200 5`,
	"target with spaces":    `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a b HTTP/1.1" 404 5`,
	"target is missing":     `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET HTTP/1.1" 400 5`,
	"target is empty":       `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET  HTTP/1.1" 400 5`,
	"request -":             `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "-" 408 0`,
	"request is empty":      `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "" 400 0`,
	"TLS to a plain port":   `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "\x16\x03\x01 \xfc" 400 226`,
	"not UTF-8":             "\xff\xfe - \xff [17/May/2015:10:05:03 +0000] \"GET /\xc3\x28\x00 HTTP/1.1\" 200 5 \"\xff",
	"blank":                 "",
	"binary":                "\x00\x01\x02 \xff [[[[ \"\"\"",
}

func FuzzParse(f *testing.F) {
	for _, line := range lines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = line[:min(len(line), 4<<10)] // the oracle takes quadratic time
		want, wantErr := oracle(line)
		var got Record
		err := got.Parse(line)
		require.Equal(t, wantErr, err)
		if err == nil {
			require.Equal(t, want, got)
		}
	})
}

func TestParse(t *testing.T) {
	at := time.Date(2015, 5, 17, 10, 5, 3, 0, time.UTC).Unix()
	get := func(target string, status int, size int64) Record {
		return Record{[]byte("192.0.2.1"), at, status, size, []byte("GET"), []byte(target)}
	}
	junk := func(status int, size int64) Record {
		return Record{Client: []byte("192.0.2.1"), Time: at, Status: status, Size: size}
	}
	timed := func(year int, month time.Month, day, hour, minute, second int) Record {
		r := get("/", 200, 5)
		r.Time = time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix()
		return r
	}
	for name, want := range map[string]Record{
		"common":                get("/a", 200, 5),
		"combined":              get("/a", 200, 5),
		"agent cut short":       get("/a", 200, 5),
		"escaped quotes":        get(`/\"a\\\"`, 200, 5),
		"escape before the end": get(`/a\\`, 200, 5),
		"size -":                {[]byte("192.0.2.1"), at, 304, 0, []byte("HEAD"), []byte("/")},
		"status -":              get("/", NoStatus, 0),
		"status 000":            get("/", 0, 0),
		"ipv6":                  {[]byte("2001:db8::1"), at, 200, 5, []byte("GET"), []byte("/")},
		"zone ahead":            timed(2015, 12, 31, 19, 35, 3),
		"zone behind":           timed(2016, 3, 1, 9, 29, 59),
		"leap second":           timed(2017, 1, 1, 0, 0, 0),
		"user with spaces":      get("/", 200, 5),
		"size is the largest":   get("/", 200, 1<<63-1),
		"HTTP/0.9":              get("/", 200, 5),
		"target with spaces":    get("/a b", 404, 5),
		"target is missing":     junk(400, 5),
		"target is empty":       junk(400, 5),
		"request -":             junk(408, 0),
		"request is empty":      junk(400, 0),
		"TLS to a plain port":   junk(400, 226),
		"not UTF-8":             {[]byte("\xff\xfe"), at, 200, 5, []byte("GET"), []byte("/\xc3\x28\x00")},
	} {
		var got Record
		require.NoError(t, got.Parse([]byte(lines[name])), name)
		assert.Equal(t, want, got, name)
	}
}

func TestParseMalformed(t *testing.T) {
	for name, want := range map[string]error{
		"client is missing":  ErrClient,
		"blank":              ErrClient,
		"user is missing":    ErrTime,
		"user is empty":      ErrTime,
		"identity is empty":  ErrTime,
		"time is missing":    ErrTime,
		"no 29 February":     ErrTime,
		"31 April":           ErrTime,
		"day 00":             ErrTime,
		"unknown month":      ErrTime,
		"zone without sign":  ErrTime,
		"binary":             ErrTime,
		"request is missing": ErrRequest,
		"quote not closed":   ErrRequest,
		"bare quote inside":  ErrRequest,
		"status is missing":  ErrStatus,
		"size is missing":    ErrStatus,
		"size is empty":      ErrSize,
		"size is too large":  ErrSize,
		"size is negative":   ErrSize,
	} {
		var r Record
		assert.Equal(t, want, r.Parse([]byte(lines[name])), name)
	}
}

// However a line is cut short, Parse answers as the oracle does.
func TestParseEveryPrefix(t *testing.T) {
	for name, line := range lines {
		for end := range len(line) {
			prefix := []byte(line[:end])
			want, wantErr := oracle(prefix)
			var got Record
			err := got.Parse(prefix)
			require.Equal(t, wantErr, err, "%s, %d bytes", name, end)
			if err == nil {
				require.Equal(t, want, got, "%s, %d bytes", name, end)
			}
		}
	}
}

// The calendar is that of package time, over a whole cycle of 400 years and to
// the ends of what four digits can say.
func TestCalendar(t *testing.T) {
	for _, from := range []int{0, 1600, 1800, 9599} {
		day := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC)
		for end := day.AddDate(401, 0, 0); day.Before(end); day = day.AddDate(0, 0, 1) {
			y, m, d := day.Date()
			last := day.AddDate(0, 0, 1).Day() == 1
			if daysSince1970(y, m, d)*86400 != day.Unix() || (d == daysIn(m, y)) != last {
				t.Fatalf("%v is day %d since 1970 of a month of %d days", day, daysSince1970(y, m, d), daysIn(m, y))
			}
		}
	}
}

// The time a hostile line takes grows with its length, not with its square: a
// megabyte of openings that lead nowhere is done within the test's timeout.
func TestParseHostile(t *testing.T) {
	const head = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] `
	for name, line := range map[string]string{
		"brackets":    "192.0.2.1 - - " + strings.Repeat("[", MaxLine),
		"times":       "192.0.2.1 - - " + strings.Repeat(" [17/May/2015:10:05:99 +0000] ", MaxLine/30),
		"backslashes": head + `"` + strings.Repeat(`\`, MaxLine),
		"escapes":     head + `"` + strings.Repeat(`\"`, MaxLine/2),
		"spaces":      strings.Repeat(" ", MaxLine),
	} {
		var r Record
		assert.Error(t, r.Parse([]byte(line)), name)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	for name, line := range lines {
		var r Record
		b := []byte(line)
		assert.Zero(t, testing.AllocsPerRun(100, func() { _ = r.Parse(b) }), name)
	}
}

func BenchmarkParse(b *testing.B) {
	line := []byte(lines["combined"])
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var r Record
	for b.Loop() {
		if err := r.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOracle(b *testing.B) {
	line := bytes.Clone([]byte(lines["combined"]))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := oracle(line); err != nil {
			b.Fatal(err)
		}
	}
}
