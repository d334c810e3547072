package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
)

// headOf returns the digest of the head of an exchange, which may be nil, as its record keeps it.
func headOf(e *catalog.Exchange) [32]byte {
	if e == nil {
		return [32]byte{}
	}
	return transparency.HeadDigest(e.Head[:min(len(e.Head), catalog.MaxExchangeHead)])
}

// logLeaf appends a new version, whose records the transaction has written, to the transparency log.
func (u *update) logLeaf(v catalog.Version, kept *Kept) error {
	_, err := u.leaves.AppendRecorded(v.ID, transparency.LeafOf(v, kept.head, kept.leafFlags))
	return err
}

// leavesPerTxn is the number of versions that one transaction of MendLeaves adds.
const leavesPerTxn = 500

// MendLeaves adds leaves for the versions that have none, in the order in which they were committed, as far as the log
// of events tells it, and returns their number. Leaves to which no record leads any more come back from parity, as far
// as it goes. If it was interrupted, the next call continues. Nothing else may write meanwhile.
func (a *Archive) MendLeaves(ctx context.Context) (added int, err error) {
	if _, err := transparency.Mend(ctx, a.db); err != nil {
		return 0, fmt.Errorf("archive: transparency log: %w", err)
	}
	var end uint64
	err = a.view(func(t records.Txn) (err error) { end, err = (events.Txn{Txn: t.Txn}).Next(); return err })
	if err != nil {
		return 0, fmt.Errorf("archive: transparency log: %w", err)
	}
	return a.logLeaves(ctx, end)
}

// logLeaves adds the versions of the events up to end that have no leaf.
func (a *Archive) logLeaves(ctx context.Context, end uint64) (added int, err error) {
	for from := uint64(0); from < end; from += leavesPerTxn {
		n := 0
		err := a.update(ctx, func(u *update) (err error) {
			n, err = u.logOldLeaves(ctx, from, min(from+leavesPerTxn, end))
			return err
		})
		if err != nil {
			return added, fmt.Errorf("archive: transparency log: %w", err)
		}
		added += n
	}
	return added, nil
}

// logOldLeaves adds the versions of some events that have no leaf.
func (u *update) logOldLeaves(ctx context.Context, from, to uint64) (added int, err error) {
	some, err := u.events.Range(ctx, from, to)
	if err != nil {
		return 0, err
	}
	for _, e := range some {
		if !e.IsVersion() {
			continue
		}
		v, known, err := u.records.Version(e.VersionID())
		if err != nil {
			return 0, err
		}
		if !known { // CheckLog reports it
			continue
		}
		_, _, err = u.leaves.Find(v.ID, v.N, v.Digests.SHA256)
		if err == nil {
			continue
		}
		if !errors.Is(err, transparency.ErrNotLogged) {
			return 0, err
		}
		flags := byte(transparency.FromRecords)
		if e.Kinds&events.Past != 0 {
			flags |= transparency.FromOthers
		}
		x, err := u.records.Exchange(v)
		if errors.Is(err, records.ErrBadRecord) { // it will be removed, so the leaf must not depend on it
			_, err = u.leaves.Append(v.ID, transparency.LeafOf(v, [32]byte{}, flags))
		} else if err == nil {
			_, err = u.leaves.AppendRecorded(v.ID, transparency.LeafOf(v, headOf(x), flags))
		}
		if err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// CheckLeaves computes the tree of the transparency log anew, compares it with all checkpoints, and the leaves with the
// records of the versions. The result has the faults; an error means that the check could not be completed.
func (a *Archive) CheckLeaves(ctx context.Context) (c transparency.Checked, err error) {
	err = a.view(func(t records.Txn) error {
		leaves := transparency.Txn{Txn: t.Txn}
		if c, err = leaves.Check(ctx); err != nil {
			return err
		}
		versions := int64(0)
		err := t.EachVersion(ctx, "", func(v catalog.Version) (bool, error) {
			versions++
			return true, compareLeaf(t, &c, v)
		})
		if err == nil && c.Found == 0 && c.Leaves != versions {
			c.Fault("it has %d leaves, and there are %d versions", c.Leaves, versions)
		}
		return err
	})
	return c, err
}

// compareLeaf looks for the leaf of a version. One that is a reference to the version's record needs no comparison:
// Check has compared the leaf to which the record leads with the tree.
func compareLeaf(t records.Txn, c *transparency.Checked, v catalog.Version) error {
	leaves := transparency.Txn{Txn: t.Txn}
	if referred, err := leaves.Refers(v.ID); err != nil || referred {
		return err
	}
	_, leaf, err := leaves.Find(v.ID, v.N, v.Digests.SHA256)
	switch {
	case errors.Is(err, transparency.ErrNotLogged):
		c.Fault("version %s of %s has no leaf with its digest", v.ID, v.URL)
		return nil
	case err != nil:
		return err
	case leaf.At.UnixMilli() != v.At.UnixMilli():
		c.Fault("version %s of %s has the time %s, and its leaf %s", v.ID, v.URL, v.At.UTC().Format(timeForm), leaf.At.Format(timeForm))
	}
	x, err := t.Exchange(v)
	if errors.Is(err, records.ErrBadRecord) { // reported elsewhere
		return nil
	}
	if err != nil || x == nil { // a repair may have dropped the head
		return err
	}
	if transparency.Identity(v.URL, headOf(x)) != leaf.Identity {
		c.Fault("the leaf of version %s is not of %s with the head that is recorded", v.ID, v.URL)
	}
	return nil
}

const timeForm = "2006-01-02T15:04:05.000Z"

// Prove returns the proof that a version is in the tree of the latest checkpoint, or of the one in checkpoint, a signed
// note, unless that is nil. That of a version that was withdrawn has its digests only. The error is
// transparency.ErrNotLogged if the tree does not have the version, or if nothing has been signed yet, and
// transparency.ErrForked if the checkpoint is not of a tree that this archive has.
func (a *Archive) Prove(versionID string, checkpoint []byte, keys []string) (p transparency.Proof, err error) {
	err = a.view(func(t records.Txn) error {
		v, known, err := t.Version(versionID)
		if err != nil || !known {
			return records.OrNotFound(err, "version", versionID)
		}
		log := transparency.Txn{Txn: t.Txn}
		index, leaf, err := log.Find(v.ID, v.N, v.Digests.SHA256)
		if err != nil {
			return err
		}
		subject := transparency.Subject{Version: a.mint.Version(v.ID), Leaf: leaf.Encode(), Keys: keys}
		x, err := t.Exchange(v)
		if err != nil && !errors.Is(err, records.ErrBadRecord) {
			return err
		}
		head := headOf(x)
		if v.Withdrawn == nil && transparency.Identity(v.URL, head) == leaf.Identity { // of what was withdrawn, digests only
			subject.URL = v.URL
			subject.SetHead(head)
		}
		c, err := log.CheckpointFor(checkpoint)
		if err != nil {
			return err
		}
		p, err = log.Prove(index, c, subject)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("prove version %s: %w", versionID, err)
	}
	return p, nil
}

// LeafOf returns the index and the hash, in hexadecimal digits, of a version's leaf, and the size of the tree of the
// latest checkpoint, 0 if none was signed.
func (a *Archive) LeafOf(v catalog.Version) (index int64, hash string, signed int64, err error) {
	err = a.view(func(t records.Txn) error {
		log := transparency.Txn{Txn: t.Txn}
		i, leaf, err := log.Find(v.ID, v.N, v.Digests.SHA256)
		if err != nil {
			return err
		}
		c, _, err := log.Latest()
		sum := leaf.Hash()
		index, hash, signed = i, hex.EncodeToString(sum[:]), c.Size
		return err
	})
	return index, hash, signed, err
}
