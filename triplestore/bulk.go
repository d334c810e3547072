package triplestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// bulk runs work that writes blocks, and then reclaims the space it has freed.
func (s *Store) bulk(ctx context.Context, doing string, work func(*blockWriter, *partWriter) error) error {
	if err := s.bulkWork(ctx, work); err != nil {
		return fmt.Errorf("triplestore: %s: %w", doing, err)
	}
	if err := s.reclaim(ctx); err != nil { // the work itself is committed
		s.opts.Log.Warn("cannot reclaim space now; trying again later", "error", err)
	}
	return nil
}

// bulkWork runs work while no commit happens, on a state whose quads are all in blocks, and commits the result.
func (s *Store) bulkWork(ctx context.Context, work func(*blockWriter, *partWriter) error) (err error) {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.gate.Acquire(ctx, gateUnits); err != nil {
		return err
	}
	defer s.gate.Release(gateUnits)
	if err := s.merge(ctx); err != nil {
		return err
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	defer s.db.SaveRarely()()
	sn := s.Snapshot()
	defer sn.Release()
	if sn.state.overlay.Len() > 0 {
		return errors.New("concurrent commits") // cannot happen: the gate keeps commits out
	}
	w := &blockWriter{s: s, sn: sn}
	parts := &partWriter{batch: s.db.Batch(), position: sn.state.position + 1, limit: s.recordLimit()}
	defer func() {
		if err != nil {
			err = errors.Join(err, parts.discard(), w.abandon())
		}
	}()
	if err := work(w, parts); err != nil {
		return err
	}
	if err := parts.finish(); err != nil {
		return err
	}
	if parts.total == 0 {
		return w.abandon() // nothing has changed
	}
	if err := w.prepare(); err != nil {
		return err
	}
	var next *state
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		var err error
		next, err = w.installAll(kt, time.Now().UnixMilli(), parts)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.tidy(ctx, next); err != nil {
		s.opts.Log.Warn("cannot tidy up now; the next merge tries again", "error", err)
	}
	return nil
}
