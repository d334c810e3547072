package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Stored is what has to be known of a version to hand its bytes out.
type Stored struct {
	ID       string // "" where nothing is stored
	URL      string
	N        int
	FileName string
	Type     string
	At       time.Time
	Ref      content.Ref
}

// latestN stands for the newest version that is no error page.
const latestN = -1

// Wanted is a version that Find looks for.
type Wanted struct {
	resource string
	n        int
}

// WantVersion reads a version's id; ok is false where it is none.
func WantVersion(id string) (w Wanted, ok bool) {
	resource, n, ok := ns.SplitVersionID(id)
	return Wanted{resource, n}, ok
}

// WantLatest is the newest version of a resource, by its id, that is no error page.
func WantLatest(resource string) Wanted { return Wanted{resource, latestN} }

// The space of archive/stored: resource id, ^N (4 bytes) -> stored record. The newest version of a resource comes first.
// It has in few bytes what Find would else gather from version, file and family. Error pages have none; what is not here is
// gathered.
const (
	storedSpace  = kv.SpaceArchiveIdx
	storedFormat = 1
	storedKeyLen = ridLen + 4
)

func storedKey(resource string, n int) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, storedKeyLen), resource...), ^uint32(n))
}

// encodeStored writes: format (1 byte), SHA-256, MD5, CRC-32, family, layout, size, deflate size
// (uvarint each), time in nanoseconds since 1970 (varint), and length and bytes of type, file name and URL.
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

// decodeStored leaves ID and N to the caller. ok is false for what this program cannot read.
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

func (t tables) saveStored(resource string, v catalog.Version, ref content.Ref) error {
	return t.txn.Set(storedSpace, storedKey(resource, v.N), encodeStored(v, ref))
}

// Find looks many versions up, in one pass over their records in order, on all processors: found[i] is what wanted[i] is,
// with an empty ID where the archive has no such version or its bytes are lost. Hold the content store from before the call for as long as the layouts
// that come with it are to stay readable.
func (a *Archive) Find(ctx context.Context, wanted []Wanted) (found []Stored, err error) {
	order := keyOrder(wanted)
	found = make([]Stored, len(wanted))
	snap := a.db.Snapshot()
	defer snap.Close()
	finders, ctx := errgroup.WithContext(ctx)
	for part := range slices.Chunk(order, max(findAtLeast, len(order)/runtime.GOMAXPROCS(0)+1)) {
		finders.Go(func() error { return a.findSome(ctx, snap, wanted, part, found) })
	}
	if err := finders.Wait(); err != nil {
		return nil, fmt.Errorf("archive: find versions: %w", err)
	}
	return found, nil
}

// spot is where in a list a version is wanted, and how its key begins.
type spot struct {
	begins uint64
	at     int32
}

// keyOrder lists the places of wanted in the order of the keys; latestN, which is one step back, comes last of its resource.
func keyOrder(wanted []Wanted) []spot {
	order := make([]spot, len(wanted))
	for i, w := range wanted {
		order[i] = spot{begins(w.resource), int32(i)}
	}
	slices.SortFunc(order, func(x, y spot) int {
		if x.begins != y.begins {
			return cmp.Compare(x.begins, y.begins)
		}
		a, b := &wanted[x.at], &wanted[y.at]
		return cmp.Or(strings.Compare(a.resource, b.resource), cmp.Compare(b.n, a.n))
	})
	return order
}

// begins reads the first 16 of a resource id's digits.
func begins(resource string) (n uint64) {
	for i := range min(16, len(resource)) {
		c := resource[i]
		if c >= 'a' {
			c -= 'a' - '0' - 10
		}
		n |= uint64(c-'0') << (60 - 4*i)
	}
	return n
}

// findAtLeast is how many versions are worth a goroutine.
const findAtLeast = 256

// findSome looks up what stands at some places of wanted, which come in the order of the keys.
func (a *Archive) findSome(ctx context.Context, snap *kv.Snapshot, wanted []Wanted, places []spot, found []Stored) error {
	cursor, err := snap.Cursor(storedSpace)
	if err != nil {
		return err
	}
	defer cursor.Close()
	refs := make([]*content.Ref, 0, len(places))
	for i, place := range places {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := &found[place.at]
		if *s, err = seekStored(cursor, wanted[place.at]); err != nil {
			return err
		}
		if s.ID == "" {
			if *s, err = a.gather(ctx, wanted[place.at]); err != nil {
				return err
			}
		}
		if s.ID != "" {
			refs = append(refs, &s.Ref)
		}
	}
	return a.content.Settle(ctx, refs)
}

// seekStored reads a stored record; an empty ID where there is none.
func seekStored(c *kv.Cursor, w Wanted) (s Stored, err error) {
	key := storedKey(w.resource, w.n)
	if w.n == latestN {
		key = key[:ridLen]
	}
	_, err = c.Seek(key, func(k, val []byte) error {
		if len(k) != storedKeyLen || string(k[:ridLen]) != w.resource || (w.n != latestN && !bytes.Equal(k, key)) {
			return nil
		}
		if one, ok := decodeStored(val); ok {
			s = one
			s.N = int(^binary.BigEndian.Uint32(k[ridLen:]))
			s.ID = ns.VersionID(w.resource, s.N)
		}
		return nil
	})
	return s, err
}

// gather puts together what is stored of a version without its stored record. An empty ID where there is no such version, or
// no bytes of it.
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
	if errors.Is(err, ErrNotFound) {
		return Stored{}, nil
	}
	return s, err
}

// Lose notes that the bytes of some content are gone: the versions that had them stay, but nothing is handed out of them
// unless they are stored anew.
func (a *Archive) Lose(ctx context.Context, sha [32]byte) error {
	return a.db.Update(ctx, func(txn *kv.Txn) error {
		t := tables{txn: txn}
		return t.scan(ctx, key(tableByDigest, sha[:]), nil, func(k, _ []byte) (bool, error) {
			return true, txn.Delete(storedSpace, storedKey(versionOfDigest(k)))
		})
	})
}

// IsLost tells whether the bytes of a version were given up by Lose.
func (a *Archive) IsLost(v catalog.Version) (lost bool, err error) {
	resource, n, _ := ns.SplitVersionID(v.ID)
	err = a.view(func(t tables) error {
		there, err := t.txn.Read(storedSpace, storedKey(resource, n), func([]byte) error { return nil })
		lost = !there && v.ErrorPage == ""
		return err
	})
	return lost, err
}

// storedAll is set once every version has its stored record.
const (
	storedAll    = "archive/stored"
	storedDone   = "done"
	storedPerTxn = 500
)

// storeAll makes the stored records of a directory that an older program wrote. It goes on where it was stopped.
func (a *Archive) storeAll(ctx context.Context) error {
	var from []byte
	err := a.db.View(func(txn *kv.Txn) (err error) {
		from, _, err = txn.Get(kv.SpaceMeta, []byte(storedAll))
		return err
	})
	for err == nil && string(from) != storedDone {
		from, err = a.storeSome(ctx, from)
	}
	return err
}

// storeSome makes some of them, from a key of tableVersion on, and gives the next one, or storedDone.
func (a *Archive) storeSome(ctx context.Context, from []byte) (next []byte, err error) {
	err = a.db.Update(ctx, func(txn *kv.Txn) error {
		t := tables{txn: txn}
		var some []catalog.Version
		next = []byte(storedDone)
		err := t.scan(ctx, key(tableVersion), from, func(k, raw []byte) (bool, error) {
			if len(some) == storedPerTxn {
				next = bytes.Clone(k)
				return false, nil
			}
			var v catalog.Version
			if err := json.Unmarshal(raw, &v); err != nil {
				return false, fmt.Errorf("archive: record %q: %w", k, err)
			}
			some = append(some, v)
			return true, nil
		})
		if err != nil {
			return err
		}
		for _, v := range some {
			ref, ok, err := a.content.Stat(v.Digests.SHA256)
			if err != nil && !errors.Is(err, content.ErrDamaged) { // check speaks of damage
				return err
			}
			resource, _, isID := ns.SplitVersionID(v.ID)
			if ok && isID && v.ErrorPage == "" {
				if err := t.saveStored(resource, v, ref); err != nil {
					return err
				}
			}
		}
		return txn.Set(kv.SpaceMeta, []byte(storedAll), next)
	})
	return next, err
}
