package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// A recorder is the http.ResponseWriter that a handler below a Middleware gets.
// It notes what goes through it. It is not reused for another request: a handler
// that keeps its writer too long would then write into a stranger's response.
//
// Whatever the writer below can do, http.ResponseController reaches through
// Unwrap. A handler that looks for http.Flusher or http.Hijacker itself finds
// them just if they are there, see as. io.ReaderFrom and io.StringWriter work on
// any writer. http.Pusher and http.CloseNotifier, which are out of use, are not
// passed on.
type recorder struct {
	w        http.ResponseWriter
	body     countedBody
	status   int       // of the final header, 0 until that is written
	written  int64     // bytes of the response's body
	hijacked time.Time // zero if the connection was not
	route    string    // as a handler of Route reports it
}

// The ways in which a recorder is passed on. Each is as small as a pointer, so
// that it takes no memory as an interface.
type (
	flusher         struct{ *recorder }
	hijacker        struct{ *recorder }
	flusherHijacker struct{ *recorder }
)

func (f flusher) Flush()                                                { _ = f.flush() }
func (f flusher) FlushError() error                                     { return f.flush() }
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error)         { return h.hijack() }
func (fh flusherHijacker) Flush()                                       { _ = fh.flush() }
func (fh flusherHijacker) FlushError() error                            { return fh.flush() }
func (fh flusherHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) { return fh.hijack() }

// as returns the recorder with the interfaces that its writer has, or one that
// this wraps: http.ResponseController would find them there and pass the
// recorder by.
func (rec *recorder) as() http.ResponseWriter {
	flushes, hijacks := reaches[http.Flusher](rec.w), reaches[http.Hijacker](rec.w)
	switch {
	case flushes && hijacks:
		return flusherHijacker{rec}
	case flushes:
		return flusher{rec}
	case hijacks:
		return hijacker{rec}
	}
	return rec
}

type unwrapper interface{ Unwrap() http.ResponseWriter }

// reaches reports whether w, or a writer that it wraps, is a T.
func reaches[T any](w http.ResponseWriter) bool {
	_, ok := find[T](w)
	return ok
}

func find[T any](w http.ResponseWriter) (found T, ok bool) {
	for {
		if found, ok = w.(T); ok {
			return found, true
		}
		u, wraps := w.(unwrapper)
		if !wraps {
			return found, false
		}
		w = u.Unwrap()
	}
}

// self makes a recorder known to Route, whatever wraps it.
func (rec *recorder) self() *recorder { return rec }

// Unwrap is for http.ResponseController.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.w }

func (rec *recorder) Header() http.Header { return rec.w.Header() }

// WriteHeader notes the first code that is final. It does so afterwards, since
// net/http panics on codes that are none.
func (rec *recorder) WriteHeader(code int) {
	rec.w.WriteHeader(code)
	informational := 100 <= code && code < 200 && code != http.StatusSwitchingProtocols
	if !informational {
		rec.begin(code)
	}
}

// begin notes that the header is written.
func (rec *recorder) begin(code int) {
	if rec.status == 0 {
		rec.status = code
	}
}

func (rec *recorder) Write(b []byte) (int, error) {
	rec.begin(http.StatusOK)
	n, err := rec.w.Write(b)
	rec.written += int64(n)
	return n, err
}

func (rec *recorder) WriteString(s string) (int, error) {
	rec.begin(http.StatusOK)
	n, err := io.WriteString(rec.w, s)
	rec.written += int64(n)
	return n, err
}

// ReadFrom leaves it to the writer below to send a file without copying it.
func (rec *recorder) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(rec.w, src)
	if n > 0 { // else the header may still be open
		rec.begin(http.StatusOK)
	}
	rec.written += n
	return n, err
}

func (rec *recorder) flush() error {
	err := http.NewResponseController(rec.w).Flush()
	if err == nil {
		rec.begin(http.StatusOK)
	}
	return err
}

func (rec *recorder) hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(rec.w).Hijack()
	if err == nil {
		rec.hijacked = time.Now()
		rec.begin(http.StatusSwitchingProtocols)
	}
	return conn, rw, err
}

// A countedBody is a request's body that counts what is read from it. A client's
// transport, to which a proxy has given the body, may read on after the handler
// has returned.
type countedBody struct {
	io.ReadCloser
	read atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}
