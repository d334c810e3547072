package crawler

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/queue/supervise"
)

// Versions are indexed many at a time, because each then costs less.
const (
	minJoinWait = 5 * time.Second // how long fewer than one Join adds wait
	joinShare   = 20              // or this many times as long as the last indexing took, since it reads much of a large index
	maxJoinWait = 2 * time.Minute // but no longer
)

// KeepJoined adds new versions to the index of columns until ctx ends, as the background job "joining". Versions that
// it does not finish stay marked for the next run.
func (p *Pipeline) KeepJoined(ctx context.Context) {
	_ = p.Jobs.Run(ctx, "joining", p.keepJoined) // Jobs lists its failure
}

// textsWait is how long new descriptions and values wait to be indexed, so that many are indexed together.
const textsWait = 2 * time.Second

// KeepIndexed adds new descriptions and values to the search index until ctx ends, as the background job "indexing".
// What it does not finish stays marked for the next run.
func (p *Pipeline) KeepIndexed(ctx context.Context) {
	_ = p.Jobs.Run(ctx, "indexing", func(ctx context.Context) error {
		for {
			if err := p.IndexAll(ctx); err != nil {
				return err
			}
			select {
			case <-time.After(textsWait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// IndexAll adds all descriptions and values that are new to the search index.
func (p *Pipeline) IndexAll(ctx context.Context) error {
	for {
		n, err := p.Archive.IndexTexts(ctx)
		if err != nil || n == 0 {
			return err
		}
	}
}

func (p *Pipeline) keepJoined(ctx context.Context) error {
	wait := minJoinWait
	for last := time.Now(); ; {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		for n := p.Archive.Unjoined(); n >= archive.MaxJoined || n > 0 && time.Since(last) >= wait; n = p.Archive.Unjoined() {
			begun := time.Now()
			done, err := p.Archive.Join(ctx)
			last = time.Now()
			wait = min(max(minJoinWait, joinShare*last.Sub(begun)), maxJoinWait)
			if err != nil {
				return fmt.Errorf("index columns: %w", err)
			}
			if done == 0 {
				break
			}
		}
	}
}

// joinAll adds all marked versions to the index of columns and calls progress, if not nil, with the number of those
// left. An error that concerns single versions is logged only: they stay marked, and must not end the next crawl too.
func (p *Pipeline) joinAll(ctx context.Context, progress func(left int)) error {
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
		if err == nil && n == 0 {
			err = p.IndexAll(ctx)
		}
		if err != nil || n == 0 {
			return err
		}
		if progress != nil {
			progress(p.Archive.Unjoined())
		}
	}
}
