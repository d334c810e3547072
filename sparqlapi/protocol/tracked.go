package protocol

import (
	"time"
)

// trackedWriter is the body of an answer. It can hold the beginning back.
type trackedWriter struct {
	w       *spool
	flushed time.Time

	hold      int       // bytes to hold back until release
	until     time.Time // push releases them from this time on; if zero, it does not
	held      []byte    // what is held back
	discard   bool      // what exceeds hold is discarded with what is held, instead of being sent
	discarded bool
}

func newTracked(w *spool, contentType string) *trackedWriter {
	w.Header().Set("Content-Type", contentType)
	return &trackedWriter{w: w}
}

func (t *trackedWriter) Write(p []byte) (int, error) {
	switch {
	case t.discarded:
		return len(p), nil
	case t.hold > 0 && len(t.held)+len(p) <= t.hold:
		t.held = append(t.held, p...)
		return len(p), nil
	case t.hold > 0 && t.discard:
		t.held, t.discarded = nil, true
		return len(p), nil
	case t.hold > 0:
		if err := t.release(); err != nil {
			return 0, err
		}
	}
	return t.w.Write(p)
}

// release sends what is held back and holds nothing back from then on.
func (t *trackedWriter) release() error {
	held := t.held
	t.hold, t.held = 0, nil
	if len(held) == 0 {
		return nil
	}
	_, err := t.w.Write(held)
	return err
}

// push sends what has been written so far, unless it did so a moment ago or the beginning is held back.
func (t *trackedWriter) push(buffered func() error) error {
	if t.discarded {
		return nil
	}
	if t.hold > 0 {
		if t.until.IsZero() || time.Now().Before(t.until) {
			return nil
		}
		if err := t.release(); err != nil {
			return err
		}
	}
	if now := time.Now(); now.Sub(t.flushed) > 5*time.Millisecond {
		if err := buffered(); err != nil {
			return err
		}
		t.flushed = now
		t.w.Flush()
	}
	return nil
}
