package crawler

import (
	"context"
	"time"
)

const (
	joinMany   = 256             // new versions that are worth indexing at once: many at a time cost less each
	joinLater  = 5 * time.Second // how long fewer may wait
	joinShare  = 20              // and as many times as long as the last time took, for it reads much of a large index
	joinLatest = 2 * time.Minute // but no longer
	joinRest   = time.Minute     // how long indexing rests after a failure; the versions stay marked
)

// KeepJoined takes new versions into the index of columns until ctx ends. Its failures hold up nothing else: they are
// logged, and it tries again.
func (p *Pipeline) KeepJoined(ctx context.Context) {
	pause, later := time.Second, joinLater
	for last := time.Now(); ; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = time.Second
		for n := p.Archive.Unjoined(); n >= joinMany || n > 0 && time.Since(last) >= later; n = p.Archive.Unjoined() {
			begun := time.Now()
			done, err := p.Archive.Join(ctx)
			last = time.Now()
			later = min(max(joinLater, joinShare*last.Sub(begun)), joinLatest)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				p.Log.Warn("columns not indexed", "left", p.Archive.Unjoined(), "error", err)
				pause = joinRest
			}
			if err != nil || done == 0 {
				break
			}
		}
	}
}

// joinAll takes all versions that wait into the index of columns.
func (p *Pipeline) joinAll(ctx context.Context, tell func(left int)) error {
	for {
		n, err := p.Archive.Join(ctx)
		if err != nil || n == 0 {
			return err
		}
		if tell != nil {
			tell(p.Archive.Unjoined())
		}
	}
}
