package records

import (
	"context"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// Refusal says that some bytes were withdrawn, so that they are not kept again.
type Refusal struct {
	Version string `json:"version"`           // id of a version that had them
	Pending bool   `json:"pending,omitempty"` // the data directory may still have them
	Round   uint64 `json:"round,omitempty"`   // how often they became pending
	Returns bool   `json:"returns,omitempty"` // the refusal ends when they are no longer in the data directory
	// Withdrawal says why, if that is not the record of a version of this archive.
	Withdrawal *catalog.Withdrawal `json:"withdrawal,omitempty"`
}

// SetRefusal writes the refusal of some bytes.
func (t Txn) SetRefusal(sha256 [32]byte, r Refusal) error {
	return t.set(key(tableRefused, sha256[:]), r)
}

// DropRefusal ends the refusal of some bytes.
func (t Txn) DropRefusal(sha256 [32]byte) error {
	return t.Delete(kv.SpaceArchive, key(tableRefused, sha256[:]))
}

// Refusal returns the refusal of some bytes; ok is false if they may be kept.
func (t Txn) Refusal(sha256 [32]byte) (r Refusal, ok bool, err error) {
	ok, err = t.get(key(tableRefused, sha256[:]), &r)
	return r, ok, err
}

// EachRefusal calls f with all refused bytes, in the order of their digests, until f returns false or an error.
func (t Txn) EachRefusal(ctx context.Context, f func(sha256 [32]byte, r Refusal) (more bool, err error)) error {
	prefix := key(tableRefused)
	return t.scan(ctx, prefix, nil, func(k, raw []byte) (bool, error) {
		var r Refusal
		if err := decode(k, raw, &r); err != nil {
			return false, err
		}
		if len(k) != len(prefix)+32 {
			return true, nil
		}
		return f([32]byte(k[len(prefix):]), r)
	})
}

// DropContent removes what the records have of a version's content: what is inside it, how it differs from the version
// before, and the digest of its WARC record. The record of the version stays.
func (t Txn) DropContent(ctx context.Context, v catalog.Version) error {
	resource, n, _ := ns.SplitVersionID(v.ID)
	var keys [][]byte
	inside := VersionKey(tableInside, resource, n)
	err := t.scan(ctx, inside, nil, func(k, _ []byte) (bool, error) { // with its pieces
		keys = append(keys, append([]byte{}, k...))
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, table := range []byte{tableSketches, tableChange, tableBlock} {
		keys = append(keys, VersionKey(table, resource, n))
	}
	for _, k := range keys {
		if err := t.Delete(kv.SpaceArchive, k); err != nil {
			return err
		}
	}
	return nil
}
