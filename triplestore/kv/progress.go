package kv

import (
	"log/slog"
	"sync"
	"time"
)

// progress logs the progress of long work every few seconds.
type progress struct {
	log  *slog.Logger
	what string

	mu   sync.Mutex // guards the fields below
	done int64
	last time.Time
}

const logEvery = 3 * time.Second

func newProgress(log *slog.Logger, what string) *progress {
	return &progress{log: log, what: what, last: time.Now()}
}

// add adds n bytes. total is 0 if unknown.
func (p *progress) add(n, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if time.Since(p.last) < logEvery {
		return
	}
	p.last = time.Now()
	p.log.Info(p.what, "done_bytes", p.done, "total_bytes", total)
}
