package crawler

import (
	"context"
	"time"
)

const (
	joinMany  = 256         // new versions that are worth indexing at once: many at a time cost less each
	joinLater = 5           // seconds that fewer may wait
	joinRest  = time.Minute // how long indexing rests after a failure; the versions stay marked
)

// KeepJoined takes new versions into the index of columns until ctx ends. Its failures hold up nothing else: they are
// logged, and it tries again.
func (p *Pipeline) KeepJoined(ctx context.Context) {
	pause := time.Second
	for waited := 0; ; waited++ {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if n := p.Archive.Unjoined(); n == 0 || n < joinMany && waited < joinLater {
			continue
		}
		pause, waited = time.Second, 0
		if err := p.joinAll(ctx, nil); err != nil && ctx.Err() == nil {
			p.Log.Warn("columns not indexed", "left", p.Archive.Unjoined(), "error", err)
			pause = joinRest
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
