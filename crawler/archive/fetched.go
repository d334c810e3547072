package archive

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// Fetched is a version with the visit that stored it.
type Fetched struct {
	catalog.Version
	Visit    catalog.Activity  // the zero value if its record is gone
	Format   string            // of the resource, as its sources declare it
	Exchange *catalog.Exchange // nil if it is not known, or its record cannot be read
}

// Fetched returns a version by its id, with the visit that stored it. The error wraps ErrNotFound for an unknown id.
func (a *Archive) Fetched(id string) (f Fetched, err error) {
	err = a.view(func(t records.Txn) (err error) {
		f, err = fetched(t, id)
		return err
	})
	return f, err
}

// EachFetched calls f with each version in turn, until an error; i is the index of its id. digest returns the digest
// that KeepBlockDigests stored for the version and a head; it is valid only during the call. Ids in ascending order are
// read fastest. The archive's state is held until the last version, so neither should f be slow nor the list long.
func (a *Archive) EachFetched(ids []string,
	f func(i int, v Fetched, digest func(head [8]byte) (sum [32]byte, ok bool, err error)) error) error {
	return a.db.ViewAscending(func(txn *kv.Txn) error {
		t := records.Txn{Txn: txn}
		for i, id := range ids {
			v, err := fetched(t, id)
			if err != nil {
				return fmt.Errorf("archive: version %s: %w", id, err)
			}
			err = f(i, v, func(head [8]byte) (sum [32]byte, ok bool, err error) { return t.BlockDigest(id, head) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func fetched(t records.Txn, id string) (f Fetched, err error) {
	v, known, err := t.Version(id)
	if err != nil || !known {
		return f, records.OrNotFound(err, "version", id)
	}
	f.Version = v
	resource, _, _ := ns.SplitVersionID(id)
	if f.Visit, _, err = (diary.Txn{Txn: t.Txn}).Visit(resource, v.At); err != nil {
		return f, err
	}
	if f.Exchange, err = t.Exchange(v); err != nil && !errors.Is(err, ErrBadRecord) {
		return f, err
	}
	r, _, err := t.Resource(resource)
	f.Format, f.Visit.URL = r.Format, r.URL
	return f, err
}

// BlockDigest is the SHA-256 of a version's record in a WARC file: of its HTTP head and its bytes. Head identifies the
// HTTP head, so that a digest of another head is not used.
type BlockDigest struct {
	Version string // its id
	Head    [8]byte
	SHA256  [32]byte
}

// KeepBlockDigests stores digests, so that the next export of the versions need not read their bytes. It does nothing
// if the archive accepts no writes, because the digests can always be computed again.
func (a *Archive) KeepBlockDigests(ctx context.Context, sums []BlockDigest) error {
	err := a.db.Update(ctx, func(txn *kv.Txn) error {
		for _, s := range sums {
			if err := (records.Txn{Txn: txn}).SetBlockDigest(s.Version, s.Head, s.SHA256); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrReadOnly) || errors.Is(err, kv.ErrWritesStopped) || errors.Is(err, kv.ErrDiskFull) {
		return nil
	}
	return err
}
