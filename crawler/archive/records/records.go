// Package records reads and writes the archive's records: resources, their versions, what is inside the versions, how
// they changed, and the indexes that find them. Package diary does the same for the visits.
//
// A Txn is a database transaction with these records as its vocabulary. The other parts of the archive read and write
// them through it, so this package alone knows their keys and encodings (the exceptions are below). A record and its
// index entries change together. The package decides nothing: package archive decides how a fetch changes a record.
package records

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/packed"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The archive's keyspace, by first byte. Values are JSON, mostly packed (package packed), except those of tableResource
// and tableVersion (binary.go), tableInside, tableSketches (package packed), tableExchange, tableBlock, and of the
// indexes, which are empty. Package joining owns 'j', package tallies 'c', and package diary 'a', 'b', 'u', 'w' and
// 'y'.
const (
	tableResource  = 'r' // resource id                           -> Resource
	tableVersion   = 'v' // resource id, N (4 bytes)              -> catalog.Version
	tableInside    = 'p' // resource id, N (4 bytes)              -> inspect.Inside; with a number (4 bytes): a piece of it
	tableSketches  = 'q' // resource id, N (4 bytes)              -> sketches of the columns (package packed)
	tableChange    = 'x' // resource id, N (4 bytes)              -> diff.Summary, against the version before
	tableExchange  = 'z' // resource id, N (4 bytes)              -> catalog.Exchange (exchange.go)
	tableByDigest  = 'd' // SHA-256, resource id, N               -> index of versions
	tableByHost    = 'h' // host, 0, resource id                  -> index of resources
	tableByType    = 't' // media type, 0, resource id            -> index of resources, by their latest version
	tableByPortal  = 'o' // portal, 0, dataset, 0, resource id    -> index of resources
	tableByDataset = 's' // dataset, 0, resource id               -> index of resources
	tableFailure   = 'e' // resource id                           -> catalog.InternalFailure
	tableBlock     = 'k' // resource id, N (4 bytes)              -> digest of the version's WARC record (blockdigest.go)
	tableRefused   = 'f' // SHA-256                               -> Refusal (withdrawal.go)
)

// Errors that callers decide on.
var (
	// ErrNotFound is in the chain of every error about a thing that the archive does not hold.
	ErrNotFound = errors.New("not in the archive")
	// ErrBadRecord is in the chain of errors about one record that the database returned and that cannot be decoded.
	ErrBadRecord = errors.New("the record cannot be read")
)

// NotFound returns an error about a missing thing of the given kind, with ErrNotFound in its chain.
func NotFound(kind, name string) error {
	return fmt.Errorf("%s %s: %w", kind, name, ErrNotFound)
}

// OrNotFound returns err, or a NotFound error if err is nil.
func OrNotFound(err error, kind, name string) error {
	if err != nil {
		return err
	}
	return NotFound(kind, name)
}

// Resource is the record of a resource: what readers see, and what only the archive needs.
type Resource struct {
	catalog.Resource
	Latest   catalog.Digests
	Internal bool  `json:",omitempty"` // it is listed as an internal failure
	Stretch  int64 `json:",omitempty"` // when the stretch of its last visit began, in milliseconds since 1970 (package diary)
}

// ResourceID returns the id of a URL's resource, whether it is registered or not. The error wraps address.ErrBad.
func ResourceID(link string) (string, error) {
	key, err := address.Key(link)
	if err != nil {
		return "", err
	}
	return ns.ResourceID(key), nil
}

// IDLen is the length of a resource id.
const IDLen = 24

// Txn reads and writes records within one transaction. Methods that look up one record report whether it exists.
type Txn struct{ *kv.Txn }

// View runs f over one unchanging state of the records.
func View(db *kv.DB, f func(Txn) error) error {
	return db.View(func(txn *kv.Txn) error { return f(Txn{txn}) })
}

// id is a resource id as a part of a key. It has a fixed width, so no end mark follows it.
type id string

func key(table byte, parts ...any) []byte {
	k := []byte{table}
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			k = append(k, p...)
			if i < len(parts)-1 {
				k = append(k, 0)
			}
		case id:
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

// idAfter returns the resource id that follows prefix in an index's key. It reports false if something else follows.
func idAfter(k, prefix []byte) (resource string, ok bool) {
	if len(k) != len(prefix)+IDLen {
		return "", false
	}
	return string(k[len(prefix):]), true
}

func (t Txn) get(k []byte, value any) (bool, error) {
	return t.Read(kv.SpaceArchive, k, func(raw []byte) error { return decode(k, raw, value) })
}

// decode reads a record from its key and value.
func decode(k, raw []byte, value any) error {
	switch value.(type) {
	case *Resource, *catalog.Version:
		if len(raw) == 0 || raw[0] != binaryRecord {
			return badRecord(k, fields.ErrBad)
		}
		return decodeBinary(k, raw, value)
	}
	text, err := packed.Plain(raw)
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		return badRecord(k, err)
	}
	return nil
}

func badRecord(k []byte, err error) error {
	return fmt.Errorf("archive: record %q: %w: %w", k, ErrBadRecord, err)
}

func (t Txn) set(k []byte, value any) error {
	raw, err := encode(k, value)
	if err != nil {
		return fmt.Errorf("archive: record %q: %w", k, err)
	}
	return t.Set(kv.SpaceArchive, k, raw)
}

// encode returns the record for a key: binary, or JSON, packed.
func encode(k []byte, value any) ([]byte, error) {
	switch value := value.(type) {
	case Resource:
		return encodeResource(value), nil
	case catalog.Version:
		resource, n := VersionAt(k)
		return encodeVersion(resource, n, value), nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return packed.JSON(raw)
}

func (t Txn) mark(k []byte) error { return t.Set(kv.SpaceArchive, k, nil) }

func (t Txn) drop(k []byte) error { return t.Delete(kv.SpaceArchive, k) }

// scan calls f with the keys that have the prefix, and their values, starting at from, until f returns false or an
// error.
func (t Txn) scan(ctx context.Context, prefix, from []byte, f func(k, v []byte) (more bool, err error)) error {
	return t.Scan(kv.SpaceArchive, prefix, from, func(k, v []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return f(k, v)
	})
}

// eachValue calls f with the decoded values of the keys that have the prefix, starting at from.
func eachValue[T any](ctx context.Context, t Txn, prefix, from []byte, f func(T) (more bool, err error)) error {
	return t.scan(ctx, prefix, from, func(k, raw []byte) (bool, error) {
		var value T
		if err := decode(k, raw, &value); err != nil {
			return false, err
		}
		return f(value)
	})
}

// Resource returns a resource by its id.
func (t Txn) Resource(resource string) (r Resource, ok bool, err error) {
	ok, err = t.get(key(tableResource, id(resource)), &r)
	return r, ok, err
}

// EachResource calls f with the resources after the given id, in the order of their ids, until f returns false or an
// error.
func (t Txn) EachResource(ctx context.Context, after string, f func(Resource) (more bool, err error)) error {
	return eachValue(ctx, t, key(tableResource), key(tableResource, after+"\x00"), f)
}

// HasResources reports whether there is any resource.
func (t Txn) HasResources() (bool, error) { return t.has(key(tableResource)) }

// SaveResource writes a resource and its entries in the indexes. before is the record as it is stored, zero if there is
// none. Sources may only have been appended.
func (t Txn) SaveResource(before, after Resource) error {
	resource := id(after.ID)
	if before.ID == "" {
		if err := t.mark(key(tableByHost, after.Host, resource)); err != nil {
			return err
		}
	}
	if before.MediaType != after.MediaType {
		if before.MediaType != "" {
			if err := t.drop(key(tableByType, before.MediaType, resource)); err != nil {
				return err
			}
		}
		if after.MediaType != "" {
			if err := t.mark(key(tableByType, after.MediaType, resource)); err != nil {
				return err
			}
		}
	}
	for _, s := range after.Sources[len(before.Sources):] {
		if err := t.mark(key(tableByPortal, s.Portal, s.Dataset, resource)); err != nil {
			return err
		}
		if err := t.mark(key(tableByDataset, s.Dataset, resource)); err != nil {
			return err
		}
	}
	return t.set(key(tableResource, resource), after)
}

// OfHost calls f with the ids of a host's resources after the given id, in their order, until f returns false or an
// error.
func (t Txn) OfHost(ctx context.Context, host, after string, f func(id string) (more bool, err error)) error {
	return t.eachID(ctx, key(tableByHost, host, ""), after, f)
}

// HasHost reports whether a host has a resource.
func (t Txn) HasHost(host string) (bool, error) { return t.has(key(tableByHost, host, "")) }

// OfType does the same as OfHost for the resources whose latest version has a media type.
func (t Txn) OfType(ctx context.Context, mediaType, after string, f func(id string) (more bool, err error)) error {
	return t.eachID(ctx, key(tableByType, mediaType, ""), after, f)
}

// OfDataset does the same for the resources that a dataset lists or listed.
func (t Txn) OfDataset(ctx context.Context, dataset string, f func(id string) (more bool, err error)) error {
	return t.eachID(ctx, key(tableByDataset, dataset, ""), "", f)
}

func (t Txn) eachID(ctx context.Context, prefix []byte, after string, f func(id string) (more bool, err error)) error {
	from := append(append([]byte{}, prefix...), after+"\x00"...)
	if after == "" {
		from = nil
	}
	return t.scan(ctx, prefix, from, func(k, _ []byte) (bool, error) {
		resource, ok := idAfter(k, prefix)
		if !ok {
			return true, nil
		}
		return f(resource)
	})
}

// IsListed reports whether a portal lists a resource under a dataset, or did.
func (t Txn) IsListed(portal, dataset string) (bool, error) {
	return t.has(key(tableByPortal, portal, dataset, ""))
}

func (t Txn) has(prefix []byte) (found bool, err error) {
	err = t.Scan(kv.SpaceArchive, prefix, nil, func(_, _ []byte) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}
