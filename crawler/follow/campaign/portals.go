package campaign

import (
	"context"
	"errors"

	"odarchive/crawler/archive"
	"odarchive/triplestore/kv"
)

// Portals may have the setting that their files have content graphs (graphs.Store.Want). A visit of such a file reads
// it as that of a campaign does, but follows no links, and its redirects are limited by no scope.

// wantedByPortal reports whether a resource is listed by a portal whose files have graphs, and whether its statements
// were read before.
func (s *Store) wantedByPortal(ctx context.Context, resource string) (wanted, seen bool, err error) {
	some := false
	if err := s.view(ctx, func(txn *kv.Txn) (err error) { some, err = s.Graphs.AnyWanted(txn); return err }); err != nil || !some {
		return false, false, err
	}
	r, err := s.Archive.Resource(ctx, resource)
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrBadRecord) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	err = s.view(ctx, func(txn *kv.Txn) error {
		if wanted, err = s.Graphs.Wanted(txn, r.Portals); err != nil || !wanted {
			return err
		}
		seen, err = s.Graphs.HasRead(txn, resource)
		return err
	})
	return wanted, seen, err
}
