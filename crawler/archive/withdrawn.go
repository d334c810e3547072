package archive

import (
	"context"

	"odarchive/crawler/archive/records"
	"odarchive/ns"
)

// WithdrawnResources calls f with the id of each resource of which a version was withdrawn, perhaps more than once.
func (a *Archive) WithdrawnResources(ctx context.Context, f func(id string)) error {
	return a.view(func(t records.Txn) error {
		return t.EachRefusal(ctx, func(sha256 [32]byte, _ records.Refusal) (bool, error) {
			err := t.OfDigest(ctx, sha256, func(resource string, n int) (bool, error) {
				v, known, err := t.Version(ns.VersionID(resource, n))
				if err == nil && known && v.Withdrawn != nil {
					f(resource)
				}
				return true, err
			})
			return true, err
		})
	})
}
