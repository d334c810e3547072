package archive

import (
	"context"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// Txn is a write transaction over all parts of the archive. It is valid during the call that received it, which may be
// repeated.
type Txn struct{ u *update }

// Update runs f as one transaction.
func (a *Archive) Update(ctx context.Context, f func(Txn) error) error {
	return a.update(ctx, func(u *update) error { return f(Txn{u}) })
}

// KV returns the transaction of the database.
func (t Txn) KV() *kv.Txn { return t.u.records.Txn }

// Triples returns the transaction of the triple store.
func (t Txn) Triples() *triplestore.Txn { return t.u.triples }

// IsWithdrawn reports whether a version was withdrawn.
func (t Txn) IsWithdrawn(version string) (bool, error) {
	v, known, err := t.u.records.Version(version)
	return known && v.Withdrawn != nil, err
}

// Register is Archive.Register inside the transaction. After an error the transaction must not be committed.
func (t Txn) Register(ctx context.Context, now time.Time, listing Listing) (fresh []bool, err error) {
	fresh = make([]bool, len(listing.Seeds))
	if err := describe.Replace(t.u.triples, nil, listing.Quads); err != nil {
		return nil, err
	}
	r := registering{t.u, map[[2]string]bool{}}
	for i, seed := range listing.Seeds {
		if seed, err = BoundSeed(seed); err != nil {
			return nil, err
		}
		if fresh[i], err = r.register(ctx, now, seed); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}
