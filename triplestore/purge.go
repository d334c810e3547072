package triplestore

import (
	"context"
	"fmt"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/term"
)

// Purge removes quads that were removed before from everything that still has them: the change log, of which nothing is
// left, the blocks, and the dictionary, where it deletes the terms that no quad uses. Readers of changes that have not
// come to the end get ErrTrimmed. It reads and writes the whole store; commits continue for most of the time. The
// database below still has the deleted entries; kv.DB.Purge removes them there.
func (s *Store) Purge(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	err := s.fillBlock(ctx)
	if err == nil {
		err = s.merge(ctx)
	}
	if err == nil {
		err = s.dropLog(ctx)
	}
	if err == nil {
		_, err = s.Sweep(ctx)
	}
	if err == nil {
		err = s.foldAll(ctx)
	}
	if err != nil {
		return fmt.Errorf("triplestore: purge: %w", err)
	}
	return nil
}

// fillBlock adds and removes quads with new terms, so that the terms before them are in complete blocks of the
// dictionary: the incomplete one is not swept.
func (s *Store) fillBlock(ctx context.Context) error {
	p := term.IRI("urn:odarchive:purge")
	var fill []term.Quad
	for i := range dict.BlockTerms {
		fill = append(fill, term.Quad{S: term.Blank(fmt.Sprintf("purge-%d-%d", s.Position(), i)), P: p, O: p})
	}
	for _, change := range []func(*Txn, term.Quad) error{(*Txn).Insert, (*Txn).Delete} {
		err := s.Update(ctx, func(txn *Txn) error {
			for _, q := range fill {
				if err := change(txn, q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropLog deletes the commits of the change log that are in blocks.
func (s *Store) dropLog(ctx context.Context) error {
	s.merging.Lock()
	defer s.merging.Unlock()
	last := s.current.Load().root.merged
	for {
		st := s.current.Load()
		if err := s.trimLog(ctx, st, 0, last); err != nil {
			return err
		}
		if s.current.Load().root.trimmed == st.root.trimmed {
			return nil
		}
	}
}
