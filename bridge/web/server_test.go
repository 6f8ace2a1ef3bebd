package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
)

// listen serves h behind a Middleware on loopback. counted waits until n requests
// have ended, which for a client that has its answer may be a moment later.
func listen(t *testing.T, h http.Handler, http2 bool) (srv *httptest.Server, e *hotcount.Engine, counted func(n int)) {
	t.Helper()
	e = enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{ExactCodes: true})
	wrapped := m.Wrap(h)
	ended := make(chan struct{}, 100)
	srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		wrapped.ServeHTTP(w, r)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	if http2 {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv, e, func(n int) {
		for range n {
			<-ended
		}
		assert.Zero(t, m.InFlight())
	}
}

func one(code int) map[string]int64 {
	return map[string]int64{fmt.Sprintf(`{code="%d",method="GET",route="unmatched"}`, code): 1}
}

// A handler finds in its writer what was there without the Middleware, under
// HTTP/1 and HTTP/2 and behind other wrappers.
func TestWriterKeepsItsInterfaces(t *testing.T) {
	look := func(w http.ResponseWriter) string {
		_, flusher := w.(http.Flusher)
		_, flushError := w.(interface{ FlushError() error })
		_, hijacker := w.(http.Hijacker)
		_, readerFrom := w.(io.ReaderFrom)
		_, stringWriter := w.(io.StringWriter)
		return fmt.Sprint(flusher, flushError, hijacker, readerFrom, stringWriter)
	}
	for name, c := range map[string]struct {
		http2 bool
		want  string
	}{
		"HTTP/1": {false, "true true true true true"},
		"HTTP/2": {true, "true true false true true"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			srv, _, counted := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				rc := http.NewResponseController(w)
				assert.NoError(t, rc.SetReadDeadline(time.Now().Add(time.Hour)))
				assert.NoError(t, rc.SetWriteDeadline(time.Now().Add(time.Hour)))
				assert.NoError(t, rc.EnableFullDuplex())
				assert.NoError(t, rc.Flush())
				got <- look(w)
			}), c.http2)
			resp, err := srv.Client().Get(srv.URL)
			require.NoError(t, err)
			resp.Body.Close()
			counted(1)
			assert.Equal(t, c.want, <-got)
			assert.Equal(t, c.http2, resp.ProtoMajor == 2)
		})
	}
	assert.Equal(t, "false false false true true", look((&recorder{w: full{}}).as()))
	assert.Equal(t, "true true false true true", look((&recorder{w: wrapped{httptest.NewRecorder()}}).as()))
	assert.Equal(t, "false false true true true", look((&recorder{w: onlyHijacker{}}).as()))
}

type onlyHijacker struct {
	http.ResponseWriter
	http.Hijacker
}

// A hijacked connection counts once, as what it became, and is in flight until its
// handler returns.
func TestHijack(t *testing.T) {
	for name, wrap := range map[string]func(http.Handler) http.Handler{
		"direct":  func(h http.Handler) http.Handler { return h },
		"wrapped": wrapping,
	} {
		t.Run(name, func(t *testing.T) {
			srv, e, counted := listen(t, wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, rw, err := http.NewResponseController(w).Hijack()
				if !assert.NoError(t, err) {
					return
				}
				defer conn.Close()
				rw.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\nhello\n")
				rw.Flush()
				rw.ReadString('\n')
			})), false)
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			br := bufio.NewReader(conn)
			for line := ""; line != "hello\n"; {
				line, err = br.ReadString('\n')
				require.NoError(t, err)
			}
			assert.Empty(t, requests(e))
			fmt.Fprint(conn, "bye\n")
			counted(1)
			assert.Equal(t, one(101), requests(e))
		})
	}
}

// What was hijacked and then panics is a panic.
func TestHijackThenPanic(t *testing.T) {
	srv, e, counted := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			conn.Close()
		}
		panic(http.ErrAbortHandler)
	}), false)
	_, err := srv.Client().Get(srv.URL)
	require.Error(t, err)
	counted(1)
	assert.Equal(t, one(500), requests(e))
}

// Informational headers reach the client and are not what counts.
func TestEarlyHints(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		srv, e, counted := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
		}), http2)
		var hints []int
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { hints = append(hints, code); return nil },
		})
		r, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
		require.NoError(t, err)
		resp, err := srv.Client().Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		counted(1)
		assert.Equal(t, []int{103, 103}, hints)
		assert.Equal(t, one(202), requests(e))
	}
}

// A client that goes away before there is an answer counts as nginx counts it.
func TestClientGone(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		arrived := make(chan struct{})
		srv, e, counted := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			<-r.Context().Done()
		}), http2)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		r, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
		require.NoError(t, err)
		_, err = srv.Client().Do(r)
		require.ErrorIs(t, err, context.Canceled)
		counted(1)
		assert.Equal(t, one(499), requests(e))
	}
}

// A file is handed to the writer below, which can send it without copying.
func TestReadFrom(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	below := &readerFrom{ResponseRecorder: httptest.NewRecorder()}
	newMiddleware(t, e, Options{}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(w, io.LimitReader(strings.NewReader("0123456789"), 4))
		assert.NoError(t, err)
		assert.EqualValues(t, 4, n)
	})).ServeHTTP(below, httptest.NewRequest("GET", "/", nil))
	assert.Equal(t, 1, below.calls)
	assert.Equal(t, "0123", below.Body.String())
	assert.EqualValues(t, 4, sum(totals(e, "http_response_bytes_total")))
}

type readerFrom struct {
	*httptest.ResponseRecorder
	calls int
}

func (r *readerFrom) ReadFrom(src io.Reader) (int64, error) {
	r.calls++
	return io.Copy(r.ResponseRecorder, src)
}

// A timeout inside counts as the answer that the client gets.
func TestTimeoutHandlerInside(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	srv, e, counted := listen(t, http.TimeoutHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-release
	}), time.Nanosecond, "late"), false)
	resp, err := srv.Client().Get(srv.URL)
	require.NoError(t, err)
	resp.Body.Close()
	counted(1)
	assert.Equal(t, 503, resp.StatusCode)
	assert.Equal(t, one(503), requests(e))
}

// A proxy's transport may read the body while the request ends. Bytes that
// clients announce and do not send are not counted.
func TestReverseProxy(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/early": // answers before it has the body
			w.WriteHeader(413)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "short")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			body, _ := io.ReadAll(r.Body) // all of it: HTTP/1 ends it when the answer begins
			w.Write(body)
		}
	}))
	defer backend.Close()
	target, err := url.Parse(backend.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	srv, e, counted := listen(t, proxy, false)

	for _, c := range []struct {
		path string
		size int // a backend that leaves much unread may reset the connection
		code int
	}{{"/echo", 1 << 20, 200}, {"/early", 1, 413}, {"/cut", 1, 500}} {
		resp, err := srv.Client().Post(srv.URL+c.path, "text/plain", strings.NewReader(strings.Repeat("x", c.size)))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		counted(1)
		if c.path == "/cut" {
			assert.Error(t, err)
		}
		key := fmt.Sprintf(`{code="%d",method="POST",route="unmatched"}`, c.code)
		assert.EqualValues(t, 1, requests(e)[key], c.path)
		if c.path == "/echo" {
			assert.EqualValues(t, 1<<20, totals(e, "http_request_bytes_total")[key])
			assert.EqualValues(t, 1<<20, totals(e, "http_response_bytes_total")[key])
		}
	}

	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	require.NoError(t, err)
	fmt.Fprint(conn, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775807\r\n\r\nabc")
	conn.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, conn)
	conn.Close()
	counted(1)
	assert.LessOrEqual(t, sum(totals(e, "http_request_bytes_total")), int64(1<<20+2+3))
}

// A flush that the writer below refuses is an error, and begins no response.
func TestFlushThatFails(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	newMiddleware(t, e, Options{ExactCodes: true}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		assert.ErrorIs(t, http.NewResponseController(w).Flush(), errFlush)
		_, _, err := http.NewResponseController(w).Hijack()
		assert.ErrorIs(t, err, http.ErrNotSupported)
		w.WriteHeader(http.StatusTeapot)
	})).ServeHTTP(noFlush{httptest.NewRecorder()}, httptest.NewRequest("GET", "/", nil))
	assert.Equal(t, one(418), requests(e))
}

var errFlush = errors.New("no")

type noFlush struct{ http.ResponseWriter }

func (noFlush) Flush()            {}
func (noFlush) FlushError() error { return errFlush }
