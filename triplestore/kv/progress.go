package kv

import (
	"log/slog"
	"sync"
	"time"
)

// progress tells the log every few seconds how far long work is.
type progress struct {
	log  *slog.Logger
	what string

	mu   sync.Mutex // guards the fields below
	done int64
	last time.Time
}

const sayEvery = 3 * time.Second

func newProgress(log *slog.Logger, what string) *progress {
	return &progress{log: log, what: what, last: time.Now()}
}

// add counts bytes; total is 0 where it is not known.
func (p *progress) add(n, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if time.Since(p.last) < sayEvery {
		return
	}
	p.last = time.Now()
	p.log.Info(p.what, "done_bytes", p.done, "total_bytes", total)
}
