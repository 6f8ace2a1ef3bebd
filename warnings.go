package hotcount

import (
	"sync"
	"sync/atomic"
)

// warnings holds what is to be logged once no lock is held. A handler of the
// program's may count what it logs, in this very engine.
type warnings struct {
	any     atomic.Bool // read by every creation, so that few take the lock
	mu      sync.Mutex
	pending []warning
}

type warning struct {
	msg  string
	args []any
}

// warn takes a warning for the Logger, for which logWarnings has to be called.
func (e *Engine) warn(msg string, args ...any) {
	e.warnings.mu.Lock()
	defer e.warnings.mu.Unlock()
	e.warnings.pending = append(e.warnings.pending, warning{msg, args})
	e.warnings.any.Store(true)
}

// logWarnings logs what warn has taken. The caller holds no lock but, at most,
// Engine.mu.
func (e *Engine) logWarnings() {
	if !e.warnings.any.Load() {
		return
	}
	for _, w := range e.warnings.take() {
		e.log.Warn(w.msg, w.args...)
	}
}

func (w *warnings) take() []warning {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.pending
	w.pending = nil
	w.any.Store(false)
	return pending
}
