package ui

import (
	"context"
	"sync"
	"time"

	"odarchive/crawler/catalog"
)

// statsFresh is how long figures are shown before the archive is asked again: counting takes longer the more there is,
// and the live page asks every few seconds for each reader.
const statsFresh = 2 * time.Second

// recentStats keeps the archive's figures for a moment.
type recentStats struct {
	mu    sync.Mutex // guards the rest; held while asking, so that only one reader asks
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
