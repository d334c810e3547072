package transparency

import (
	"errors"
	"fmt"
	"testing"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// versionAt returns a version of a URL of its own, with what was on the wire. Of every fifth that is not known.
func versionAt(i int) (v catalog.Version, x *catalog.Exchange) {
	link := fmt.Sprint("http://data.example/", i)
	key, err := address.Key(link)
	if err != nil {
		panic(err)
	}
	v = catalog.Version{ID: ns.VersionID(ns.ResourceID(key), 0), URL: link, At: leafAt(i).At}
	v.Digests.SHA256 = leafAt(i).SHA256
	if i%5 > 0 {
		x = &catalog.Exchange{Head: fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nETag: %d\r\n\r\n", i)}
	}
	return v, x
}

// record appends versions with their records until the log has n.
func record(t testing.TB, db *kv.DB, n int) {
	t.Helper()
	for size := sizeOf(t, db); size < n; {
		err := db.Update(t.Context(), func(txn *kv.Txn) error {
			for end := min(n, size+200); size < end; size++ {
				v, x := versionAt(size)
				packed, err := records.PackExchange(x, v.URL)
				if err != nil {
					return err
				}
				var head [32]byte
				if x != nil {
					head = HeadDigest(x.Head)
				}
				r := records.Txn{Txn: txn}
				if err := errors.Join(r.SetVersion(v), r.AddExchange(v.ID, packed)); err != nil {
					return err
				}
				if _, err := (Txn{txn}).AppendRecorded(v.ID, LeafOf(v, head, byte(size%4))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func update(t testing.TB, db *kv.DB, f func(Txn) error) {
	t.Helper()
	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return f(Txn{txn}) }); err != nil {
		t.Fatal(err)
	}
}

// published returns what others see of a log: its tree, and its bundles of entries.
func published(t testing.TB, db *kv.DB) string {
	t.Helper()
	size := int64(sizeOf(t, db))
	all := fmt.Sprint(treeOf(t, db, size), treeOf(t, db, size/2), treeOf(t, db, size-1))
	for _, tile := range tilesOf(0, size) {
		b, err := OfArchive(db)(t.Context(), tile.path())
		if err != nil {
			t.Fatal(tile.path(), err)
		}
		all += fmt.Sprintf("%s %x\n", tile.path(), b)
	}
	return all
}

func TestALeafIsReadFromTheRecordOfItsVersion(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	record(t, db, 600)
	plain := newDB(t) // the same leaves, stored whole
	err := View(db, func(from Txn) error {
		for i := range int64(600) {
			l, err := from.Leaf(i)
			if err != nil || int64(l.Flags) != i%4 {
				return fmt.Errorf("leaf %d: %+v, %w", i, l, err)
			}
			v, _ := versionAt(int(i))
			if index, found, err := from.Find(v.ID, v.N, v.Digests.SHA256); err != nil || index != i || found != l {
				return fmt.Errorf("version %s: leaf %d, %w", v.ID, index, err)
			}
			update(t, plain, func(to Txn) error { _, err := to.Append(v.ID, l); return err })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if published(t, db) != published(t, plain) {
		t.Error("the log is not that of the same leaves when they are stored whole")
	}
	if c := checked(t, db); c.Found > 0 || c.Leaves != 600 {
		t.Errorf("%+v", c)
	}
}

// losses are ways in which a record stops leading to its leaf.
var losses = map[string]func(Txn, int) error{
	"no record": func(t Txn, i int) error {
		v, _ := versionAt(i)
		return t.Delete(kv.SpaceArchive, records.VersionKey('v', v.ID[:24], 0))
	},
	"a record that cannot be read": func(t Txn, i int) error {
		v, _ := versionAt(i)
		return t.Set(kv.SpaceArchive, records.VersionKey('v', v.ID[:24], 0), []byte{4, 255, 255})
	},
	"another digest": func(t Txn, i int) error {
		v, _ := versionAt(i)
		v.Digests.SHA256[5] ^= 1
		return records.Txn{Txn: t.Txn}.SetVersion(v)
	},
	"a lost head": func(t Txn, i int) error {
		v, _ := versionAt(i)
		return records.Txn{Txn: t.Txn}.DropExchange(v.ID)
	},
	"no entry":         func(t Txn, i int) error { return t.Delete(space, leafKey(int64(i))) },
	"an unknown entry": func(t Txn, i int) error { return t.Set(space, leafKey(int64(i)), []byte{9}) },
}

func TestALeafThatIsLostComesBackFromParity(t *testing.T) {
	t.Parallel()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			record(t, db, 400)
			before := published(t, db)
			update(t, db, func(txn Txn) error { return errors.Join(lose(txn, 77), lose(txn, 399)) }) // one in each tile
			if c := checked(t, db); c.Found < 2 || c.Leaves != 400 {
				t.Errorf("%+v", c)
			}
			if published(t, db) != before {
				t.Error("another log is published")
			}
			if n, err := Mend(t.Context(), db); err != nil || n != 2 {
				t.Errorf("%d mended, %v", n, err)
			}
			if c := checked(t, db); c.Found > 0 || c.Leaves != 400 {
				t.Errorf("mended: %+v", c)
			}
			update(t, db, func(txn Txn) error { return lose(txn, 78) }) // a second one, now that the first is stored whole
			if published(t, db) != before {
				t.Error("another log is published once it is mended")
			}
			record(t, db, 520)
			if c := checked(t, db); c.Found != 1 {
				t.Errorf("after more versions: %+v", c)
			}
		})
	}
}

func TestATileThatLostTwoLeavesIsNotPublished(t *testing.T) {
	t.Parallel()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			record(t, db, 300)
			update(t, db, func(txn Txn) error { return errors.Join(lose(txn, 77), lose(txn, 78)) })
			for _, file := range []string{"tile/entries/000", "tile/0/000"} {
				if b, err := OfArchive(db)(t.Context(), file); !errors.Is(err, ErrDamaged) {
					t.Errorf("%s: %d bytes, %v", file, len(b), err)
				}
			}
			if _, err := OfArchive(db)(t.Context(), "tile/entries/001.p/44"); err != nil {
				t.Error(err)
			}
			if c := checked(t, db); c.Found == 0 {
				t.Errorf("%+v", c)
			}
			if n, err := Mend(t.Context(), db); err != nil || n != 0 {
				t.Errorf("%d mended, %v", n, err)
			}
			record(t, db, 600) // the log goes on
			treeOf(t, db, 600)
		})
	}
}

func TestALeafIsKeptWholeWhereItsRecordGoes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	record(t, db, 300)
	before := published(t, db)
	for i := range 300 {
		v, _ := versionAt(i)
		update(t, db, func(txn Txn) error { return errors.Join(txn.KeepWhole(v.ID), losses["no record"](txn, i)) })
	}
	if c := checked(t, db); c.Found > 0 || published(t, db) != before {
		t.Errorf("%+v", c)
	}
}

// FuzzEntry reads entries of the log that may say anything.
func FuzzEntry(f *testing.F) {
	v, _ := versionAt(3)
	ref, err := referTo(v.ID, leafAt(3).Encode())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ref.encode())
	f.Add(leafAt(3).Encode())
	db := newDB(f)
	record(f, db, 5)
	f.Fuzz(func(t *testing.T, entry []byte) {
		if r, err := parseReference(entry); err == nil {
			if again, err := parseReference(r.encode()); err != nil || again != r {
				t.Errorf("%x is read as %+v, and then as %+v, %v", entry, r, again, err)
			}
		}
		_ = View(db, func(txn Txn) error {
			raw, err := txn.leaf(entry)
			if _, bad := ParseLeaf(raw); err == nil && bad != nil {
				t.Errorf("%x leads to %x", entry, raw)
			}
			return nil
		})
	})
}
