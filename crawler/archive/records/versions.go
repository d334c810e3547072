package records

import (
	"context"
	"encoding/binary"
	"fmt"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/packed"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// VersionKey returns the key of version n of a resource in a table.
func VersionKey(table byte, resource string, n int) []byte { return key(table, id(resource), n) }

// VersionAt reads the resource id and the version number at the end of a key.
func VersionAt(k []byte) (resource string, n int) {
	end := len(k) - 4
	return string(k[end-IDLen : end]), int(binary.BigEndian.Uint32(k[end:]))
}

// Version returns a version by its id.
func (t Txn) Version(versionID string) (v catalog.Version, ok bool, err error) {
	resource, n, ok := ns.SplitVersionID(versionID)
	if ok {
		ok, err = t.get(VersionKey(tableVersion, resource, n), &v)
	}
	return v, ok, err
}

// Versions returns the versions of a resource, oldest first.
func (t Txn) Versions(ctx context.Context, resource string) (all []catalog.Version, err error) {
	err = eachValue(ctx, t, key(tableVersion, id(resource)), nil, func(v catalog.Version) (bool, error) {
		all = append(all, v)
		return true, nil
	})
	return all, err
}

// EachVersion calls f with all versions, resource by resource, starting with the version of the given id ("": the
// first), until f returns false or an error.
func (t Txn) EachVersion(ctx context.Context, from string, f func(catalog.Version) (more bool, err error)) error {
	resource, n, _ := ns.SplitVersionID(from)
	return eachValue(ctx, t, key(tableVersion), VersionKey(tableVersion, resource, n), f)
}

// NextArchived returns the first resource id after the given one that has a version, or "".
func (t Txn) NextArchived(ctx context.Context, after string) (next string, err error) {
	from := append(key(tableVersion, id(after)), 0xff) // after all versions of the resource
	if after == "" {
		from = nil
	}
	err = t.scan(ctx, key(tableVersion), from, func(k, _ []byte) (bool, error) {
		next, _ = VersionAt(k)
		return false, nil
	})
	return next, err
}

// OfDigest calls f with the versions that have the same bytes, until f returns false or an error.
func (t Txn) OfDigest(ctx context.Context, sha256 [32]byte, f func(resource string, n int) (more bool, err error)) error {
	return t.scan(ctx, key(tableByDigest, sha256[:]), nil, func(k, _ []byte) (bool, error) { return f(VersionAt(k)) })
}

// PackedVersion is the encoded record of a version, and of how it differs from the version before.
type PackedVersion struct {
	version, change []byte // change is nil if it is unknown
}

// PackVersion encodes the records of a version, before a transaction writes them. change is nil if it is unknown.
func PackVersion(v catalog.Version, change *diff.Summary) (p PackedVersion, err error) {
	resource, n, _ := ns.SplitVersionID(v.ID)
	p.version = encodeVersion(resource, n, v)
	if change != nil {
		p.change, err = encode(VersionKey(tableChange, resource, n), change)
	}
	if err != nil {
		return p, fmt.Errorf("archive: record of version %s: %w", v.ID, err)
	}
	return p, nil
}

// AddVersion writes a new version, its packed records, and what is inside it.
func (t Txn) AddVersion(v catalog.Version, record PackedVersion, inside packed.Inside) error {
	resource, n, _ := ns.SplitVersionID(v.ID)
	if err := t.Set(kv.SpaceArchive, VersionKey(tableVersion, resource, n), record.version); err != nil {
		return err
	}
	if err := t.saveInside(resource, n, inside); err != nil {
		return err
	}
	if record.change != nil {
		if err := t.Set(kv.SpaceArchive, VersionKey(tableChange, resource, n), record.change); err != nil {
			return err
		}
	}
	return t.mark(key(tableByDigest, v.Digests.SHA256[:], id(resource), n))
}

// SetChange writes how a version differs from the one before, or removes it if change is nil.
func (t Txn) SetChange(versionID string, change *diff.Summary) error {
	resource, n, _ := ns.SplitVersionID(versionID)
	if change == nil {
		return t.drop(VersionKey(tableChange, resource, n))
	}
	return t.set(VersionKey(tableChange, resource, n), change)
}

// SetVersion writes the record of a version.
func (t Txn) SetVersion(v catalog.Version) error {
	resource, n, _ := ns.SplitVersionID(v.ID)
	return t.set(VersionKey(tableVersion, resource, n), v)
}

// Inside returns what is inside a version, nil if nothing is known. Columns have no sketches.
func (t Txn) Inside(versionID string) (in *inspect.Inside, err error) {
	resource, n, _ := ns.SplitVersionID(versionID)
	k := VersionKey(tableInside, resource, n)
	_, err = t.Read(kv.SpaceArchive, k, func(raw []byte) (err error) {
		if in, err = packed.Unpack(raw, t.insidePiecesOf(resource, n)); err != nil {
			return badRecord(k, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// InsideSketched returns the same with the sketches that are kept: those of the latest version of a resource.
func (t Txn) InsideSketched(versionID string) (in *inspect.Inside, err error) {
	in, err = t.Inside(versionID)
	if in == nil || err != nil {
		return nil, err
	}
	resource, n, _ := ns.SplitVersionID(versionID)
	return in, t.addSketches(resource, n, in)
}

// InsidePacked returns the same as it is stored, too, for another process. It is empty if nothing is known.
func (t Txn) InsidePacked(versionID string) (p packed.Inside, err error) {
	resource, n, _ := ns.SplitVersionID(versionID)
	k := VersionKey(tableInside, resource, n)
	record, ok, err := t.Get(kv.SpaceArchive, k)
	if !ok || err != nil {
		return packed.Inside{}, err
	}
	piece := t.insidePiecesOf(resource, n)
	p.Record = record
	p.Inside, err = packed.Unpack(record, func(i int) ([]byte, error) {
		part, err := piece(i)
		p.Pieces = append(p.Pieces, part)
		return part, err
	})
	if err != nil {
		return packed.Inside{}, badRecord(k, err)
	}
	if p.Sketches, _, err = t.Get(kv.SpaceArchive, VersionKey(tableSketches, resource, n)); err != nil {
		return packed.Inside{}, err
	}
	return p, t.addSketches(resource, n, p.Inside)
}

// Change returns how a version differs from the one before, nil if unknown.
func (t Txn) Change(versionID string) (*diff.Summary, error) {
	resource, n, _ := ns.SplitVersionID(versionID)
	var s diff.Summary
	ok, err := t.get(VersionKey(tableChange, resource, n), &s)
	if !ok || err != nil {
		return nil, err
	}
	return &s, nil
}
