package ui

import (
	"context"
	"sync"
	"time"

	"odarchive/crawler/catalog"
)

// statsFresh is how long figures are cached. Counting takes longer in a larger archive, and the live page asks every
// few seconds for each reader.
const statsFresh = 2 * time.Second

// recentStats caches the archive's figures.
type recentStats struct {
	mu    sync.Mutex // guards the fields below; held during a count, so that it runs once
	stats catalog.Stats
	at    time.Time
}

func (u *UI) stats(ctx context.Context) (catalog.Stats, error) {
	r := &u.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	now := u.now()
	if !r.at.IsZero() && now.Sub(r.at) < statsFresh && !now.Before(r.at) {
		return r.stats, nil
	}
	s, err := u.archive.Stats(ctx)
	if err == nil {
		r.stats, r.at = s, now
	}
	return s, err
}
