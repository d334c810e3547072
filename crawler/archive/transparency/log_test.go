package transparency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/address"
	"odarchive/ns"
	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/tlog"
)

var day = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

func newDB(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func leafAt(i int) Leaf {
	return Leaf{At: day.Add(time.Duration(i) * time.Second), N: i % 7, SHA256: sha256.Sum256(fmt.Append(nil, "bytes ", i)),
		Identity: Identity(fmt.Sprint("http://data.example/", i), HeadDigest([]byte("HTTP/1.1 200 OK\r\n\r\n")))}
}

func idAt(i int) string {
	key, err := address.Key(fmt.Sprint("http://data.example/", i))
	if err != nil {
		panic(err)
	}
	return ns.VersionID(ns.ResourceID(key), i%7)
}

// grow appends leaves until the log has n.
func grow(t testing.TB, db *kv.DB, n int) {
	t.Helper()
	size := sizeOf(t, db)
	for size < n {
		err := db.Update(t.Context(), func(txn *kv.Txn) error {
			for end := min(n, size+300); size < end; size++ {
				if index, err := (Txn{txn}).Append(idAt(size), leafAt(size)); err != nil || index != int64(size) {
					return fmt.Errorf("leaf %d: %d, %w", size, index, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func sizeOf(t testing.TB, db *kv.DB) int {
	t.Helper()
	var size int64
	if err := View(db, func(txn Txn) (err error) { size, err = txn.Size(); return err }); err != nil {
		t.Fatal(err)
	}
	return int(size)
}

func treeOf(t testing.TB, db *kv.DB, size int64) (tree tlog.Tree) {
	t.Helper()
	if err := View(db, func(txn Txn) (err error) { tree, err = txn.Tree(size); return err }); err != nil {
		t.Fatal(err)
	}
	return tree
}

// rfcRoot is the root of leaves from to to-1, as RFC 6962 §2.1 defines it.
func rfcRoot(from, to int) [32]byte {
	n := to - from
	if n == 1 {
		return sha256.Sum256(append([]byte{0}, leafAt(from).Encode()...))
	}
	k := 1
	for k*2 < n {
		k *= 2
	}
	left, right := rfcRoot(from, from+k), rfcRoot(from+k, to)
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func TestTheRootIsThatOfRFC6962ForEverySize(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for _, size := range []int{1, 2, 3, 7, 8, 255, 256, 257, 300, 511, 512, 700} {
		grow(t, db, size)
		if got, want := treeOf(t, db, int64(size)).Hash, tlog.Hash(rfcRoot(0, size)); got != want {
			t.Errorf("root of %d leaves is %v, want %v", size, got, want)
		}
	}
	for _, size := range []int{1, 100, 256, 499} { // as it was
		if got, want := treeOf(t, db, int64(size)).Hash, tlog.Hash(rfcRoot(0, size)); got != want {
			t.Errorf("former root of %d leaves is %v, want %v", size, got, want)
		}
	}
}

func TestLevelsAboveTheSecondAreStoredAndProved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("66,000 leaves")
	}
	db := newDB(t)
	grow(t, db, tileWidth*tileWidth+500)
	size := int64(sizeOf(t, db))
	tree := treeOf(t, db, size)
	err := View(db, func(txn Txn) error {
		for _, i := range []int64{0, 255, 256, 40_000, 65_535, 65_536, size - 1} {
			proof, err := tlog.ProveRecord(size, i, txn)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, size, tree.Hash, i, leafAt(int(i)).Hash()); err != nil {
				return err
			}
		}
		c, err := txn.Check(t.Context())
		if err == nil && (c.Found > 0 || c.Leaves != size) {
			err = fmt.Errorf("%+v", c)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Consistent(t.Context(), treeOf(t, db, 61_234), tree, OfArchive(db)); err != nil {
		t.Error(err)
	}
	sign(t, newSigner(t, db))
	if a, err := Audit(t.Context(), OfArchive(db), AuditOptions{}); err != nil || a.AllFaults > 0 {
		t.Errorf("%+v %v", a, err)
	}
}

func TestTilesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 700)
	files := OfArchive(db)
	read := func(name string) []byte {
		b, err := files(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var hashes []byte
	for i := range 700 {
		h := leafAt(i).Hash()
		hashes = append(hashes, h[:]...)
	}
	for name, want := range map[string][]byte{
		"tile/0/000":       hashes[:8192],
		"tile/0/001":       hashes[8192:16384],
		"tile/0/002.p/188": hashes[16384:],
		"tile/0/002.p/5":   hashes[16384 : 16384+160],
	} {
		if got := read(name); string(got) != string(want) {
			t.Errorf("%s: %d bytes are not the hashes of its leaves", name, len(got))
		}
	}
	r0, r1 := rfcRoot(0, 256), rfcRoot(256, 512)
	if got := read("tile/1/000.p/2"); string(got) != string(r0[:])+string(r1[:]) {
		t.Errorf("tile of level 1: %x", got)
	}
	bundle := read("tile/entries/002.p/188")
	for i := 512; i < 700; i++ {
		n := int(binary.BigEndian.Uint16(bundle))
		if string(bundle[2:2+n]) != string(leafAt(i).Encode()) {
			t.Fatalf("entry %d is not its leaf", i)
		}
		bundle = bundle[2+n:]
	}
	if len(bundle) != 0 {
		t.Errorf("%d bytes behind the last entry", len(bundle))
	}
	for _, name := range []string{"tile/0/003", "tile/0/002", "tile/0/002.p/189", "tile/1/000", "tile/1/000.p/3", "tile/2/000.p/1",
		"tile/0/0", "tile/0/x000/000", "tile/00/000", "tile/0/000.p/0",
		"tile/0/000.p/256", "tile/-1/000", "tile/5/000", "tile/entries/-01", "tile/0/000/", "tile/0/x/000", "checkpoint", "", "tile/",
		"tile/0/" + strings.Repeat("x999/", 30) + "000"} {
		if b, err := files(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %d bytes, %v", name, len(b), err)
		}
	}
	for _, n := range []int64{0, 5, 999, 1000, 1234067, 999999999} {
		want := tile{1, n, 256}
		if got, ok := parseTile(want.path()); !ok || got != want {
			t.Errorf("%s is parsed as %+v, %v", want.path(), got, ok)
		}
	}
	if got := (tile{0, 1234067, 256}).path(); got != "tile/0/x001/x234/067" {
		t.Error(got)
	}
}

func TestEveryLeafIsProvedInEveryTreeAndNoOtherIs(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 600)
	random := rand.New(rand.NewPCG(1, 2))
	err := View(db, func(txn Txn) error {
		for range 200 {
			size := 1 + random.Int64N(600)
			i := random.Int64N(size)
			tree, err := txn.Tree(size)
			if err != nil {
				return err
			}
			proof, err := tlog.ProveRecord(size, i, txn)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, size, tree.Hash, i, leafAt(int(i)).Hash()); err != nil {
				return fmt.Errorf("leaf %d of %d: %w", i, size, err)
			}
			if tlog.CheckRecord(proof, size, tree.Hash, i, leafAt(int(i)+1).Hash()) == nil {
				return fmt.Errorf("another leaf is proved at %d of %d", i, size)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestALeafIsFoundByItsVersion(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 300)
	err := View(db, func(txn Txn) error {
		for _, i := range []int{0, 8, 299} {
			index, leaf, err := txn.Find(idAt(i), i%7, leafAt(i).SHA256)
			if err != nil || index != int64(i) || leaf != leafAt(i) {
				t.Errorf("version %s: leaf %d, %v", idAt(i), index, err)
			}
		}
		if _, _, err := txn.Find(idAt(300), 300%7, leafAt(300).SHA256); !errors.Is(err, ErrNotLogged) {
			t.Errorf("a version without a leaf: %v", err)
		}
		if _, _, err := txn.Find(idAt(8), 1, leafAt(9).SHA256); !errors.Is(err, ErrNotLogged) {
			t.Errorf("a version with other bytes: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckFindsEveryFlippedBitAndEveryMissingRecord(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(Txn) error{
		"a bit of a leaf":       func(t Txn) error { return flip(t, leafKey(77), 30) },
		"a bit of a parity":     func(t Txn) error { return errors.Join(flip(t, parityKey(0), 40), t.Delete(space, leafKey(5))) },
		"two are missing":       func(t Txn) error { return errors.Join(t.Delete(space, leafKey(300)), t.Delete(space, leafKey(301))) },
		"one too many":          func(t Txn) error { return t.Set(space, leafKey(700), leafAt(700).Encode()) },
		"the format of a leaf":  func(t Txn) error { return flip(t, leafKey(3), 0) },
		"a bit of a hash":       func(t Txn) error { return flip(t, hashKey(1, 1), 5) },
		"a leaf is missing":     func(t Txn) error { return t.Delete(space, leafKey(400)) },
		"the last is missing":   func(t Txn) error { return t.Delete(space, leafKey(699)) },
		"a hash is missing":     func(t Txn) error { return t.Delete(space, hashKey(1, 0)) },
		"two leaves swapped":    func(t Txn) error { return swap(t, leafKey(10), leafKey(11)) },
		"the log is truncated":  func(t Txn) error { return truncate(t, 500) },
		"history is rewritten":  func(t Txn) error { return rewrite(t, 200) },
		"a checkpoint is other": func(t Txn) error { return flip(t, checkpointKey(600, "archive.example/log"), 60) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			grow(t, db, 600)
			s := newSigner(t, db)
			if _, err := s.Sign(t.Context()); err != nil {
				t.Fatal(err)
			}
			grow(t, db, 700)
			if c := checked(t, db); c.Found > 0 || c.Leaves != 700 || c.Checkpoints != 1 {
				t.Fatalf("a sound log: %+v", c)
			}
			if err := db.Update(t.Context(), func(txn *kv.Txn) error { return harm(Txn{txn}) }); err != nil {
				t.Fatal(err)
			}
			if c := checked(t, db); c.Found == 0 {
				t.Errorf("not found: %+v", c)
			}
		})
	}
}

func checked(t *testing.T, db *kv.DB) (c Checked) {
	t.Helper()
	err := View(db, func(txn Txn) (err error) { c, err = txn.Check(context.Background()); return err })
	if err != nil {
		c.Fault("%v", err)
	}
	return c
}

func flip(t Txn, key []byte, at int) error {
	raw, ok, err := t.Get(space, key)
	if err != nil || !ok {
		return fmt.Errorf("no record %x: %w", key, err)
	}
	raw[at] ^= 4
	return t.Set(space, key, raw)
}

func swap(t Txn, a, b []byte) error {
	x, _, _ := t.Get(space, a)
	y, _, err := t.Get(space, b)
	return errors.Join(err, t.Set(space, a, y), t.Set(space, b, x))
}

// truncate makes the log as if the leaves from size on had never been added.
func truncate(t Txn, size int64) error {
	s, err := t.state()
	for i := size; i < s.size; i++ {
		err = errors.Join(err, t.Delete(space, leafKey(i)))
	}
	for i := size / tileWidth; i < s.size/tileWidth; i++ {
		err = errors.Join(err, t.Delete(space, hashKey(1, i)), t.Delete(space, parityKey(i)))
	}
	s = state{size: size - size%tileWidth}
	for s.size < size {
		s.add(leafAt(int(s.size)).Encode())
	}
	return errors.Join(err, t.setState(s))
}

// rewrite makes a log of the same size with one other leaf, and all hashes right.
func rewrite(t Txn, at int64) error {
	s, err := t.state()
	var leaves []Leaf
	for i := int64(0); i < s.size; i++ {
		l, err := t.Leaf(i)
		if err != nil {
			return err
		}
		leaves = append(leaves, l)
	}
	leaves[at].SHA256[0] ^= 1
	err = errors.Join(err, truncate(t, 0))
	for i, l := range leaves {
		if _, e := t.Append(idAt(i), l); e != nil {
			return e
		}
	}
	return err
}
