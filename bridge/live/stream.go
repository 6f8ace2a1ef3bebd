package live

import (
	"bytes"
	"errors"
	"net/http"
	"time"
)

const (
	// heartbeat is the longest silence of a stream, so that nothing between
	// takes it for dead.
	heartbeat = 15 * time.Second

	// writeTimeout is how long a client may take for one message before its
	// place is given to others. It replaces the server's WriteTimeout, which
	// would end every stream.
	writeTimeout = 10 * time.Second

	// retryAfter is when those may come again who found no place, in seconds.
	retryAfter = "5"
)

// stream sends updates, as server-sent events of one JSON object each.
func (p *Page) stream(w http.ResponseWriter, r *http.Request) {
	q, ok := parseQuery(r.URL.Query())
	if !ok {
		http.Error(w, "q must have 200 bytes at most, and by must be rate, total or name.", http.StatusBadRequest)
		return
	}
	h := w.Header()
	if r.Method == http.MethodHead {
		h.Set("Content-Type", "text/event-stream")
		return
	}
	c, ok := p.join(q)
	if !ok {
		h.Set("Retry-After", retryAfter)
		http.Error(w, "Too many pages are open, or the server is about to end.", http.StatusServiceUnavailable)
		return
	}
	defer p.hub.leave(c)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx would collect messages

	out := sender{w: w, control: http.NewResponseController(w)}
	if !out.send([]byte("retry: 2000\n\n")) { // milliseconds
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for ok := true; ok; {
		select {
		case frame := <-c.frames:
			ok = out.send(frame)
			beat.Reset(heartbeat)
		case <-beat.C:
			ok = out.send([]byte(":\n\n"))
		case <-r.Context().Done():
			return
		case <-p.hub.done:
			return
		}
	}
}

// A sender sends messages to one client.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send sends a message at once. It reports false when the client has gone or is
// too slow.
func (s sender) send(message []byte) bool {
	err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	if _, err := s.w.Write(message); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

// event returns a JSON text, which has no line breaks, as a message.
func event(json []byte) []byte {
	return bytes.Join([][]byte{[]byte("data: "), json, []byte("\n\n")}, nil)
}
