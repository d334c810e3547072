package triplestore

import (
	"context"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
)

// ForgetTerms runs the first half of Sweep.
func (s *Store) ForgetTerms(ctx context.Context) (uint64, error) { return s.forgetTerms(ctx) }

// WriteNewerRoot writes a root as a later version of the program might write it.
func WriteNewerRoot(ctx context.Context, db *kv.DB) error {
	b := (&root{}).encode()
	b = b[:len(b)-8]
	b[0] = rootVersion + 1
	return db.Update(ctx, func(tx *kv.Txn) error { return tx.Set(kv.SpaceTripleMeta, rootKey, segments.AppendSeal(b, 0)) })
}
