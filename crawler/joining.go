package crawler

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/supervise"
)

const (
	joinMany   = 256             // new versions that are worth indexing at once: many at a time cost less each
	joinLater  = 5 * time.Second // how long fewer may wait
	joinShare  = 20              // and as many times as long as the last time took, for it reads much of a large index
	joinLatest = 2 * time.Minute // but no longer
)

// KeepJoined takes new versions into the index of columns until ctx ends. Its failures hold up nothing else: it is a job
// of its own, and what it did not finish stays marked.
func (p *Pipeline) KeepJoined(ctx context.Context) {
	_ = p.Jobs.Run(ctx, "joining", p.keepJoined) // Jobs tells its failure
}

func (p *Pipeline) keepJoined(ctx context.Context) error {
	later := joinLater
	for last := time.Now(); ; {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		for n := p.Archive.Unjoined(); n >= joinMany || n > 0 && time.Since(last) >= later; n = p.Archive.Unjoined() {
			begun := time.Now()
			done, err := p.Archive.Join(ctx)
			last = time.Now()
			later = min(max(joinLater, joinShare*last.Sub(begun)), joinLatest)
			if err != nil {
				return fmt.Errorf("index columns: %w", err)
			}
			if done == 0 {
				break
			}
		}
	}
}

// joinAll takes all versions that wait into the index of columns. A failure that is not the archive's as a whole is
// logged: the versions stay marked for the next crawl, which must not end in the same way because of one of them.
func (p *Pipeline) joinAll(ctx context.Context, tell func(left int)) error {
	for {
		n := 0
		err := supervise.Contain(func() (err error) {
			n, err = p.Archive.Join(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil && !wholeArchive(err) {
			p.Log.Error("columns not indexed; the next crawl tries again", "left", p.Archive.Unjoined(), "error", err)
			return nil
		}
		if err != nil || n == 0 {
			return err
		}
		if tell != nil {
			tell(p.Archive.Unjoined())
		}
	}
}
