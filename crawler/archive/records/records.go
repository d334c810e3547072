package archive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// The archive's keyspace, by first byte. Values are JSON, but for tableInside (insiderecord.go) and the
// indexes, which have none.
const (
	tableResource   = 'r' // resource id                       -> record
	tableVersion    = 'v' // resource id, N (4 bytes)          -> catalog.Version
	tableInside     = 'p' // resource id, N (4 bytes)          -> inspect.Inside; with a number (4 bytes) more: a piece of it
	tableChange     = 'x' // resource id, N (4 bytes)          -> diff.Summary, against the version before
	tableActivity   = 'a' // start (8 bytes, newest first), resource id -> catalog.Activity
	tableByResource = 'b' // resource id, start (newest first) -> index of activities
	tableByDigest   = 'd' // SHA-256, resource id, N           -> index of versions
	tableByHost     = 'h' // host, 0, resource id              -> index of resources
	tableByType     = 't' // media type, 0, resource id        -> index of resources, by their latest version
	tableByPortal   = 'o' // portal, 0, dataset, 0, resource id -> index of resources
	tableByDataset  = 's' // dataset, 0, resource id           -> index of resources
	tableUnjoined   = 'j' // resource id, N                    -> mark: not in the index of columns yet
	tableInternal   = 'e' // resource id                       -> catalog.InternalFailure
	tableCount      = 'c' // name, 0, key                      -> count
)

// record is a resource as it is kept: what readers see, and what only the archive needs.
type record struct {
	catalog.Resource
	Latest   catalog.Digests
	Internal bool `json:",omitempty"` // it is in tableInternal
}

// rid is a resource id as a part of a key: of fixed width, so it needs no end mark.
type rid string

const ridLen = 24

// tables reads and writes the archive's keyspace within one transaction.
type tables struct {
	txn     *kv.Txn
	finding *finding    // nil where nothing is written
	tallies *tallyCache // likewise
}

func key(table byte, parts ...any) []byte {
	k := []byte{table}
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			k = append(k, p...)
			if i < len(parts)-1 {
				k = append(k, 0)
			}
		case rid:
			k = append(k, p...)
		case int:
			k = binary.BigEndian.AppendUint32(k, uint32(p))
		case time.Time:
			k = binary.BigEndian.AppendUint64(k, ^uint64(p.UnixMilli())) // the newest comes first
		case []byte:
			k = append(k, p...)
		}
	}
	return k
}

func (t tables) get(k []byte, value any) (bool, error) {
	raw, ok, err := t.txn.Get(kv.SpaceArchive, k)
	if err != nil || !ok {
		return false, err
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return false, badRecord(k, err)
	}
	return true, nil
}

func badRecord(k []byte, err error) error {
	return fmt.Errorf("archive: record %q: %w: %w", k, ErrBadRecord, err)
}

func (t tables) set(k []byte, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("archive: record %q: %w", k, err)
	}
	return t.txn.Set(kv.SpaceArchive, k, raw)
}

func (t tables) mark(k []byte) error { return t.txn.Set(kv.SpaceArchive, k, nil) }

func (t tables) drop(k []byte) error { return t.txn.Delete(kv.SpaceArchive, k) }

func (t tables) resource(id string) (record, bool, error) {
	var r record
	ok, err := t.get(key(tableResource, rid(id)), &r)
	return r, ok, err
}

func (t tables) version(id string) (catalog.Version, bool, error) {
	resource, n, ok := ns.SplitVersionID(id)
	if !ok {
		return catalog.Version{}, false, nil
	}
	var v catalog.Version
	ok, err := t.get(key(tableVersion, rid(resource), n), &v)
	return v, ok, err
}

// inside of a version; nil where there is nothing to tell.
func (t tables) inside(versionID string) (*inspect.Inside, error) {
	resource, n, _ := ns.SplitVersionID(versionID)
	var in *inspect.Inside
	k := key(tableInside, rid(resource), n)
	_, err := t.txn.Read(kv.SpaceArchive, k, func(raw []byte) (err error) {
		if in, err = unpackInside(raw, t.insidePiecesOf(resource, n)); err != nil {
			return badRecord(k, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// change of a version against the one before; nil where it is not known.
func (t tables) change(versionID string) (*diff.Summary, error) {
	resource, n, _ := ns.SplitVersionID(versionID)
	var s diff.Summary
	ok, err := t.get(key(tableChange, rid(resource), n), &s)
	if !ok || err != nil {
		return nil, err
	}
	return &s, nil
}

// scan calls f with each key (without the prefix's table byte) and value at or after from that has the prefix.
func (t tables) scan(ctx context.Context, prefix, from []byte, f func(k, v []byte) (more bool, err error)) error {
	return t.txn.Scan(kv.SpaceArchive, prefix, from, func(k, v []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return f(k, v)
	})
}

func eachValue[T any](ctx context.Context, t tables, prefix, from []byte, f func(T) error) error {
	return t.scan(ctx, prefix, from, func(k, raw []byte) (bool, error) {
		var value T
		if err := json.Unmarshal(raw, &value); err != nil {
			return false, badRecord(k, err)
		}
		return true, f(value)
	})
}

// eachResource goes through the resources in the order of their ids, after the given one.
func (t tables) eachResource(ctx context.Context, after string, f func(record) error) error {
	return eachValue(ctx, t, key(tableResource), key(tableResource, after+"\x00"), f)
}

func (t tables) eachVersion(ctx context.Context, f func(catalog.Version) error) error {
	return eachValue(ctx, t, key(tableVersion), nil, f)
}

func (t tables) eachActivity(ctx context.Context, f func(catalog.Activity) error) error {
	return eachValue(ctx, t, key(tableActivity), nil, f)
}

// versions of one resource, oldest first.
func (t tables) versions(ctx context.Context, resource string) ([]catalog.Version, error) {
	var all []catalog.Version
	err := eachValue(ctx, t, key(tableVersion, rid(resource)), nil, func(v catalog.Version) error {
		all = append(all, v)
		return nil
	})
	return all, err
}

// versionOfDigest reads a key of tableByDigest.
func versionOfDigest(k []byte) (resource string, n int) {
	return tail(k[:len(k)-4], ridLen), int(binary.BigEndian.Uint32(k[len(k)-4:]))
}

// behind is the resource id behind a prefix of an index's key; false where something else follows, as it does in records of
// older programs behind names with zero bytes.
func behind(k, prefix []byte) (id string, ok bool) {
	if len(k) != len(prefix)+ridLen {
		return "", false
	}
	return string(k[len(prefix):]), true
}

// tail is the last n bytes of a key: where an index keeps the id it points to.
func tail(k []byte, n int) string { return string(k[len(k)-n:]) }
