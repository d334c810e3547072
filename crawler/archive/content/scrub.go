package content

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/disk"
)

// Scrub examines all packs again and again, reading at most bytesPerSecond (0: no limit), and mends damage, until ctx
// ends. A round starts an hour after the start of the one before, or a minute if a reader met damage. Errors that end a
// round are logged, and the next round tries again. The only error that Scrub returns is ErrClosed.
func (s *Store) Scrub(ctx context.Context, bytesPerSecond int64) error {
	slow := disk.NewThrottle(bytesPerSecond)
	for {
		began := time.Now()
		if err := s.scrubRound(ctx, slow); err != nil && ctx.Err() == nil {
			if errors.Is(err, ErrClosed) {
				return err
			}
			s.log.Warn("scrub of packs ended early", "error", err)
		}
		if !s.rest(ctx, began) {
			return nil
		}
	}
}

// rest waits for the next round. It returns false if ctx ends.
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

// scrubRound examines and mends all packs once.
func (s *Store) scrubRound(ctx context.Context, slow *disk.Throttle) error {
	s.fixity.BeginRound(0)
	if s.writable() == nil {
		if err := s.describeOld(ctx); err != nil {
			return err
		}
	}
	for _, job := range s.parity.missing() {
		s.parity.enqueue(job)
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
