package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// formerArchive writes resources with two versions each, as older programs did: every third in format 2, whose JSON is
// packed.
func formerArchive(t *testing.T, db *kv.DB, in *inspect.Inside, n int) {
	t.Helper()
	for from := 0; from < n; from += 500 {
		err := db.Update(t.Context(), func(txn *kv.Txn) error {
			for i := from; i < min(from+500, n); i++ {
				resource := fmt.Sprintf("%024x", i)
				r := fmt.Sprintf(`{"ID":%q,"URL":"http://data.example/%d.csv","Host":"data.example","Versions":2,"Title":"a title as long as titles are"}`, resource, i)
				former := func(text string) []byte {
					if i%3 > 0 {
						return []byte(text)
					}
					value, err := pack([]byte(text))
					if err != nil || value[0] != packed {
						t.Fatalf("%q, %v", value, err)
					}
					return value
				}
				if err := txn.Set(kv.SpaceArchive, key(tableResource, id(resource)), former(r)); err != nil {
					return err
				}
				for v := range 2 {
					text := fmt.Sprintf(`{"ID":"%s_%d","URL":"http://data.example/%d.csv","N":%d,"Size":77,"Type":"text/csv"}`, resource, v, i, v)
					if err := txn.Set(kv.SpaceArchive, VersionKey(tableVersion, resource, v), former(text)); err != nil {
						return err
					}
					if i%10 != 0 {
						continue
					}
					if err := txn.Set(kv.SpaceArchive, VersionKey(tableInside, resource, v), formerInside(t, in)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheRecordsOfOlderProgramsAreUpgradedInParts(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	in := insides(t)[1]
	const resources = 3000
	formerArchive(t, db, in, resources)
	read := func() (all []string) {
		t.Helper()
		err := View(db, func(txn Txn) error {
			if err := txn.EachResource(t.Context(), "", func(r Resource) (bool, error) {
				all = append(all, fmt.Sprintf("%+v", r))
				return true, nil
			}); err != nil {
				return err
			}
			return txn.EachVersion(t.Context(), "", func(v catalog.Version) (bool, error) {
				all = append(all, fmt.Sprintf("%+v", v))
				return true, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := read()
	parts := 0
	for done := false; !done; parts++ {
		err := db.Update(t.Context(), func(txn *kv.Txn) (err error) { done, err = upgradeSome(t.Context(), Txn{txn}, whole); return err })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(read(), before) { // as after an interruption
			t.Fatalf("after %d parts, records are not what they were", parts)
		}
	}
	if parts < 4 || len(before) != 3*resources {
		t.Errorf("%d parts, %d records", parts, len(before))
	}
	err := View(db, func(txn Txn) error {
		for table, first := range map[byte]byte{tableResource: binaryRecord, tableVersion: binaryRecord, tableInside: packed} {
			if err := txn.scan(t.Context(), key(table), nil, func(k, v []byte) (bool, error) {
				if v[0] != first {
					t.Errorf("%q begins with %d", k, v[0])
				}
				return true, nil
			}); err != nil {
				return err
			}
		}
		for v, want := range [][]uint32{nil, in.Tables[1].Columns[1].Sketch} {
			resource := fmt.Sprintf("%024x", 10)
			got, err := txn.InsideSketched(ns.VersionID(resource, v))
			if err != nil {
				return err
			}
			if s := got.Tables[1].Columns[1].Sketch; !slices.Equal(s, want) {
				t.Errorf("version %d has the sketch %v, want %v", v, s, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Upgrade(t.Context(), db, whole); err != nil {
		t.Error(err)
	}
}

// TestBinaryRecordsThatAnOlderProgramPackedAreRead packs binary records, as programs of format 2 did that opened the
// directory of a newer one.
func TestBinaryRecordsThatAnOlderProgramPackedAreRead(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	resource := fmt.Sprintf("%024x", 7)
	var r Resource
	r.ID, r.Host, r.URL = resource, "data.example", "http://data.example/"+strings.Repeat("directory/", 40)
	v := catalog.Version{URL: r.URL, Type: "text/csv", Because: strings.Repeat("because ", 40)}
	keys := [][]byte{key(tableResource, id(resource)), VersionKey(tableVersion, resource, 0)}
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		for i, binary := range [][]byte{encodeResource(r), encodeVersion(resource, 0, v)} {
			value, err := pack(binary)
			if err != nil || value[0] != packed {
				t.Fatalf("%q, %v", value, err)
			}
			if err := txn.Set(kv.SpaceArchive, keys[i], value); err != nil {
				return err
			}
		}
		return txn.Set(kv.SpaceMeta, []byte(upgradeKey), []byte("2"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := View(db, func(txn Txn) error {
			got, ok, err := txn.Resource(resource)
			if err != nil || !ok || got.URL != r.URL {
				t.Errorf("%+v, %v, %v", got, ok, err)
			}
			return txn.EachVersion(t.Context(), resource, func(got catalog.Version) (bool, error) {
				if got.Because != v.Because {
					t.Errorf("%+v", got)
				}
				return true, nil
			})
		})
		if err != nil {
			t.Error(err)
		}
		if err := Upgrade(t.Context(), db, whole); err != nil {
			t.Fatal(err)
		}
	}
	err = View(db, func(txn Txn) error {
		for _, k := range keys {
			if value, _, err := txn.Get(kv.SpaceArchive, k); err != nil || value[0] != binaryRecord {
				t.Errorf("%q begins with %d, %v", k, value[0], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
