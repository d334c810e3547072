package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Stored is what is needed of a version to serve its bytes.
type Stored struct {
	ID       string // "" if the version or its bytes do not exist
	URL      string
	N        int
	FileName string
	Type     string
	At       time.Time
	Ref      content.Ref
}

// latestN stands for the latest version that is not an error page.
const latestN = -1

// Wanted is a version that Find looks for.
type Wanted struct {
	resource string
	n        int
}

// WantVersion returns the version with an id; ok is false if the id is malformed.
func WantVersion(id string) (w Wanted, ok bool) {
	resource, n, ok := ns.SplitVersionID(id)
	return Wanted{resource, n}, ok
}

// WantLatest returns the latest version of a resource, by its id, that is not an error page.
func WantLatest(resource string) Wanted { return Wanted{resource, latestN} }

// The space of stored records: resource id, ^N (4 bytes) -> stored record; resource id, 0 (4 bytes) -> the number of
// the latest version, if versions with greater numbers are older (pastversions.go). The latest version of a resource
// comes first. A stored record holds in few bytes what Find would otherwise gather from version, file and family. Error
// pages have none. Find gathers what has no stored record.
const (
	storedSpace  = kv.SpaceArchiveIdx
	storedFormat = 1
	storedKeyLen = records.IDLen + 4
)

func storedKey(resource string, n int) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, storedKeyLen), resource...), ^uint32(n))
}

// encodeStored returns: format (1 byte), SHA-256, MD5, CRC-32; family, layout, size, deflate size (uvarint each); time
// in nanoseconds since 1970 (varint); and type, file name and URL, each as its length and bytes.
func encodeStored(v catalog.Version, ref content.Ref) []byte {
	b := make([]byte, 1, 128+len(v.Type)+len(v.FileName)+len(v.URL))
	b[0] = storedFormat
	b = append(b, ref.SHA256[:]...)
	b = append(b, ref.MD5[:]...)
	b = binary.BigEndian.AppendUint32(b, ref.CRC32)
	for _, n := range [...]uint64{ref.Family, ref.Layout, uint64(ref.Size), uint64(ref.DeflateSize)} {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendVarint(b, v.At.UnixNano())
	for _, s := range [...]string{v.Type, v.FileName, v.URL} {
		b = fields.AppendText(b, s)
	}
	return b
}

const storedFixed = 1 + 32 + 16 + 4

// decodeStored reads a stored record, except ID and N, which its key holds. ok is false if the record is unreadable.
func decodeStored(b []byte) (s Stored, ok bool) {
	if len(b) < storedFixed || b[0] != storedFormat {
		return s, false
	}
	copy(s.Ref.SHA256[:], b[1:])
	copy(s.Ref.MD5[:], b[33:])
	s.Ref.CRC32 = binary.BigEndian.Uint32(b[49:])
	r := fields.Reader{B: b[storedFixed:]}
	s.Ref.Family, s.Ref.Layout, s.Ref.Size, s.Ref.DeflateSize = r.Uvarint(), r.Uvarint(), int64(r.Uvarint()), int64(r.Uvarint())
	s.At = time.Unix(0, r.Varint()).UTC()
	s.Type, s.FileName, s.URL = r.Text(), r.Text(), r.Text()
	return s, !r.Bad()
}

func saveStored(txn *kv.Txn, resource string, v catalog.Version, ref content.Ref) error {
	return txn.Set(storedSpace, storedKey(resource, v.N), encodeStored(v, ref))
}

// Find looks up many versions in one ordered pass over their records, on all processors. found[i] is wanted[i], with an
// empty ID if the archive has no such version or its bytes are lost. To keep the returned layouts readable, hold the
// content store from before the call until the bytes are read.
func (a *Archive) Find(ctx context.Context, wanted []Wanted) (found []Stored, err error) {
	order := keyOrder(wanted)
	found = make([]Stored, len(wanted))
	snap := a.db.Snapshot()
	defer snap.Close()
	finders, ctx := errgroup.WithContext(ctx)
	for part := range slices.Chunk(order, max(minFindPart, len(order)/runtime.GOMAXPROCS(0)+1)) {
		finders.Go(func() error { return a.findSome(ctx, snap, wanted, part, found) })
	}
	if err := finders.Wait(); err != nil {
		return nil, fmt.Errorf("archive: find versions: %w", err)
	}
	return found, nil
}

// spot is a position in a list of wanted versions.
type spot struct {
	prefix uint64 // of the resource id
	at     int32
}

// keyOrder returns the positions of wanted in key order. latestN, for which the cursor steps back, comes last of its
// resource.
func keyOrder(wanted []Wanted) []spot {
	order := make([]spot, len(wanted))
	for i, w := range wanted {
		order[i] = spot{idPrefix(w.resource), int32(i)}
	}
	slices.SortFunc(order, func(x, y spot) int {
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		a, b := &wanted[x.at], &wanted[y.at]
		return cmp.Or(strings.Compare(a.resource, b.resource), cmp.Compare(b.n, a.n))
	})
	return order
}

// idPrefix returns the first 16 digits of a resource id as a number.
func idPrefix(resource string) (n uint64) {
	for i := range min(16, len(resource)) {
		c := resource[i]
		if c >= 'a' {
			c -= 'a' - '0' - 10
		}
		n |= uint64(c-'0') << (60 - 4*i)
	}
	return n
}

// minFindPart is the number of versions that are worth a goroutine.
const minFindPart = 256

// findSome looks up the versions at some positions of wanted, which are in key order.
func (a *Archive) findSome(ctx context.Context, snap *kv.Snapshot, wanted []Wanted, spots []spot, found []Stored) error {
	cursor, err := snap.Cursor(storedSpace)
	if err != nil {
		return err
	}
	defer cursor.Close()
	refs := make([]*content.Ref, 0, len(spots))
	for i, spot := range spots {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := &found[spot.at]
		if *s, err = seekStored(cursor, wanted[spot.at]); err != nil {
			return err
		}
		if s.ID == "" {
			if *s, err = a.gather(ctx, wanted[spot.at]); err != nil {
				return err
			}
		}
		if s.ID != "" {
			refs = append(refs, &s.Ref)
		}
	}
	return a.content.Refresh(ctx, refs)
}

// seekStored reads a stored record; ID is empty if there is none.
func seekStored(c *kv.Cursor, w Wanted) (s Stored, err error) {
	key := storedKey(w.resource, w.n)
	if w.n == latestN {
		key = key[:records.IDLen]
	}
	marked, isMarked := 0, false
	_, err = c.Seek(key, func(k, val []byte) error {
		if len(k) != storedKeyLen || string(k[:records.IDLen]) != w.resource || (w.n != latestN && !bytes.Equal(k, key)) {
			return nil
		}
		if isLatestMark(k) {
			marked, isMarked = latestMarked(val)
			return nil
		}
		if one, ok := decodeStored(val); ok {
			s = one
			s.N = int(^binary.BigEndian.Uint32(k[records.IDLen:]))
			s.ID = ns.VersionID(w.resource, s.N)
		}
		return nil
	})
	if err == nil && isMarked {
		return seekStored(c, Wanted{w.resource, marked})
	}
	return s, err
}

// gather returns what a stored record would hold, from the version and its bytes. ID is empty if either does not exist.
func (a *Archive) gather(ctx context.Context, w Wanted) (s Stored, err error) {
	var v catalog.Version
	if w.n == latestN {
		v, err = a.Latest(ctx, w.resource)
	} else {
		v, err = a.Version(ctx, ns.VersionID(w.resource, w.n))
	}
	if err == nil {
		s = Stored{ID: v.ID, URL: v.URL, N: v.N, FileName: v.FileName, Type: v.Type, At: v.At}
		s.Ref, err = a.Ref(ctx, v)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, catalog.ErrWithdrawn) {
		return Stored{}, nil
	}
	return s, err
}

// Lose records that some bytes are lost: their versions stay, but Find no longer returns them unless the bytes are
// stored again.
func (a *Archive) Lose(ctx context.Context, sha [32]byte) error {
	return a.db.Update(ctx, func(txn *kv.Txn) error {
		return records.Txn{Txn: txn}.OfDigest(ctx, sha, func(resource string, n int) (bool, error) {
			return true, txn.Delete(storedSpace, storedKey(resource, n))
		})
	})
}

// IsLost reports whether Lose recorded that the bytes of a version are lost.
func (a *Archive) IsLost(v catalog.Version) (lost bool, err error) {
	resource, n, _ := ns.SplitVersionID(v.ID)
	err = a.view(func(t records.Txn) error {
		there, err := t.Read(storedSpace, storedKey(resource, n), func([]byte) error { return nil })
		lost = !there && v.IsData()
		return err
	})
	return lost, err
}
