package content

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/disk"
)

// Scrub examines all packs again and again, reading at most bytesPerSecond (0: no limit), and mends what it finds, until
// ctx ends. A round begins an hour after the beginning of the one before it, or a minute if a reader has met damage. What
// keeps a round from going on is logged, and the next one tries again.
func (s *Store) Scrub(ctx context.Context, bytesPerSecond int64) error {
	slow := disk.NewThrottle(bytesPerSecond)
	for {
		began := time.Now()
		if err := s.scrubRound(ctx, slow); err != nil && ctx.Err() == nil {
			if errors.Is(err, ErrClosed) {
				return err
			}
			s.log.Warn("packs not scrubbed to the end", "error", err)
		}
		if !s.rest(ctx, began) {
			return nil
		}
	}
}

// rest waits for the next round; false if ctx has ended.
func (s *Store) rest(ctx context.Context, began time.Time) bool {
	long := time.NewTimer(time.Until(began.Add(s.opts.pause)))
	defer long.Stop()
	short := time.NewTimer(time.Until(began.Add(s.opts.pause / 60)))
	defer short.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-long.C:
		return true
	case <-short.C:
	}
	select {
	case <-ctx.Done():
		return false
	case <-long.C:
	case <-s.fixity.Woken():
	}
	return true
}

// scrubRound goes through all packs once.
func (s *Store) scrubRound(ctx context.Context, slow *disk.Throttle) error {
	s.fixity.BeginRound(0)
	if s.writable() == nil {
		if err := s.tellOld(ctx); err != nil {
			return err
		}
	}
	for _, job := range s.parity.missing() {
		s.parity.want(job)
	}
	err := s.eachPack(ctx, slow, s.fixity.Progress, func(num uint64, x *examined) error {
		s.noteAll(x)
		if s.writable() != nil {
			return nil
		}
		return s.mendPack(ctx, num, x)
	})
	if err != nil {
		return err
	}
	s.fixity.EndRound()
	return nil
}
