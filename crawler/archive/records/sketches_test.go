package records

import (
	"fmt"
	"slices"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/packed"
	"odarchive/triplestore/kv"
)

func TestTheSketchOfOneColumnIsReadAlone(t *testing.T) {
	t.Parallel()
	p := &csvprofile.Profile{Version: 1, Rows: 10}
	for i := range 20 {
		p.Columns = append(p.Columns, csvprofile.Column{Name: fmt.Sprintf("column %d", i), Sketch: csvprofile.Sketch{uint32(i), 1000,
			4_000_000}})
	}
	in := &inspect.Inside{Tables: []*csvprofile.Profile{p}}
	inside, err := packed.Pack(in, func(c csvprofile.Column) csvprofile.Sketch {
		if c.Name == "column 7" {
			return nil
		}
		return c.Sketch
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	const resource = "0123456789abcdef01234567"
	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return Txn{txn}.saveInside(resource, 3, inside) }); err != nil {
		t.Fatal(err)
	}
	check := func(at int, want csvprofile.Sketch) {
		t.Helper()
		err := View(db, func(txn Txn) error {
			all, err := txn.Sketches(resource, 3)
			if err != nil {
				return err
			}
			s, err := all.Column(at)
			if !slices.Equal(s, want) {
				t.Errorf("column %d: %v, want %v", at, s, want)
			}
			return err
		})
		if err != nil {
			t.Errorf("column %d: %v", at, err)
		}
	}
	for _, at := range []int{0, 6, 8, 19} {
		check(at, in.Tables[0].Columns[at].Sketch)
	}
	check(7, nil)
	check(20, nil)
	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return Txn{txn}.DropSketches(resource, 3) }); err != nil {
		t.Fatal(err)
	}
	check(0, nil)
}
