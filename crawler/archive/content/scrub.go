package content

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/disk"

	"golang.org/x/sync/errgroup"
)

// coldShare is the share of its rate at which Scrub reads packs that are only in the bucket, which costs money there.
const coldShare = 16

// Scrub examines all packs again and again, reading at most bytesPerSecond (0: no limit), and mends damage, until ctx
// ends. Packs that are only in a bucket have rounds of their own, a sixteenth as fast. A round starts an hour after the
// start of the one before, or a minute if a reader met damage. Errors that end a round are logged, and the next round
// tries again. The only error that Scrub returns is ErrClosed.
func (s *Store) Scrub(ctx context.Context, bytesPerSecond int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.scrubRounds(ctx, disk.NewThrottle(bytesPerSecond), s.scrubRound) })
	if s.tier != nil {
		group.Go(func() error {
			return s.scrubRounds(ctx, disk.NewThrottle((bytesPerSecond+coldShare-1)/coldShare), s.scrubCold)
		})
	}
	return group.Wait()
}

func (s *Store) scrubRounds(ctx context.Context, slow *disk.Throttle, round func(context.Context, *disk.Throttle) error) error {
	for {
		began := time.Now()
		if err := round(ctx, slow); err != nil && ctx.Err() == nil {
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

// scrubCold examines and mends the packs that are only in the bucket, once.
func (s *Store) scrubCold(ctx context.Context, slow *disk.Throttle) error {
	return s.eachPackIf(ctx, slow, s.cold, nil, s.scrubbed(ctx))
}

// scrubbed notes damage of a pack, and mends it.
func (s *Store) scrubbed(ctx context.Context) func(num uint64, x *examined) error {
	return func(num uint64, x *examined) error {
		s.noteAll(x)
		if s.writable() != nil {
			return nil
		}
		return s.mendPack(ctx, num, x)
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

// scrubRound examines and mends all packs once, except those that are only in a bucket.
func (s *Store) scrubRound(ctx context.Context, slow *disk.Throttle) error {
	s.fixity.BeginRound(0)
	for _, job := range s.parity.missing() {
		s.parity.enqueue(job)
	}
	err := s.eachPackIf(ctx, slow, func(name string) bool { return !s.cold(name) }, s.fixity.Progress, s.scrubbed(ctx))
	if err != nil {
		return err
	}
	s.fixity.EndRound()
	return nil
}
