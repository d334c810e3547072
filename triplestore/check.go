package triplestore

import (
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Checked counts what a Check has read.
type Checked struct {
	Quads   uint64
	Terms   uint64
	Blocks  uint64 // blocks of quads
	Commits uint64 // commits in the log
	Orphans uint64 // unreferenced blocks: wasted space, but no damage
}

// Check reads one state completely. It compares every block of quads with its fence and each layout with the others,
// looks every term up by its text, checks that every id belongs to a term allowed in its position, and reads all
// records of the log and the checksums of the database below. It stops at the first fault and returns it as an
// ErrDamaged.
func (s *Store) Check(ctx context.Context) (done Checked, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			if !errors.Is(err, ErrDamaged) {
				err = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			err = fmt.Errorf("triplestore: check: %w", err)
		}
	}()
	err = s.viewBetweenMerges(ctx, func(sn *Snapshot) error {
		tags, err := sn.state.dict.Verify(ctx, sn.kv, sn.state.terms)
		if err != nil {
			return err
		}
		done.Terms = sn.state.dict.Terms(sn.state.terms)
		valid := func(id term.ID) bool {
			if id.Inline() {
				_, ok := id.Key()
				return ok
			}
			return id.Payload() < uint64(len(tags)) && id.Payload() > 0 && tags[id.Payload()] == id.Tag()
		}
		blocks, err := sn.index.Verify(ctx, func(rows []term.IDQuad) error {
			for _, q := range rows {
				s, p, g := q.S.Tag(), q.P.Tag(), q.G.Tag()
				if !valid(q.S) || !valid(q.P) || !valid(q.O) || q.G != term.DefaultGraph && !valid(q.G) ||
					s != term.TagIRI && s != term.TagBlank || p != term.TagIRI || q.G != term.DefaultGraph && g != term.TagIRI &&
					g != term.TagBlank {
					return fmt.Errorf("%x is not a quad", q)
				}
			}
			return nil
		})
		done.Blocks = uint64(blocks)
		if err != nil {
			return err
		}
		done.Quads = uint64(int(sn.state.base.Rows()) + sn.state.overlay.Total())
		orphans, err := sn.state.base.Orphans(sn.kv)
		if err != nil {
			return err
		}
		done.Orphans = uint64(orphans)
		if err := s.literals.verify(ctx, sn); err != nil {
			return err
		}
		if err := s.places.verify(ctx, sn); err != nil {
			return err
		}
		return sn.kv.Scan(kv.SpaceTripleLog, nil, nil, func(key, val []byte) (bool, error) {
			position, part, ok := parseRecordKey(key)
			if ok && position > sn.state.position {
				return false, nil
			}
			if ok {
				_, _, err = decodeRecord(val)
			}
			if !ok || err != nil {
				return false, fmt.Errorf("log record %d, part %d: %w", position, part, err)
			}
			if part == 0 {
				done.Commits++
			}
			return true, ctx.Err()
		})
	})
	if err != nil {
		return done, err
	}
	return done, s.db.Verify()
}

// viewBetweenMerges calls f with a state taken while no merge was writing blocks.
func (s *Store) viewBetweenMerges(ctx context.Context, f func(*Snapshot) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	// Obsolete blocks would count as orphans, so delete them first. If the database cannot be written, they do count.
	if err := s.tidyNow(ctx); err != nil && !errors.Is(err, errGiveUp) && !errors.Is(err, kv.ErrWritesStopped) &&
		!errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrReadOnly) {
		return err
	}
	s.merging.Lock()
	sn := s.Snapshot()
	s.merging.Unlock()
	defer sn.Release()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	return f(sn)
}
