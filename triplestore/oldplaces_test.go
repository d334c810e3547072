package triplestore

import (
	"testing"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/geometry"
	"odarchive/triplestore/internal/sealed"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
	"odarchive/vocab/geosparql"
)

// The index of geometries of an older build lacks the literals that were none for it. It is built again.
func TestAnOldIndexOfGeometriesIsBuiltAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session := func(f func(db *kv.DB, s *Store)) {
		t.Helper()
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s, err := Open(db, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f(db, s)
	}
	here, err := geometry.Parse("POINT(1 2)", geosparql.WKTLiteral)
	if err != nil {
		t.Fatal(err)
	}
	find := func(s *Store) (n int) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Release()
		v, err := sn.Places(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		found, err := v.Search(spatial.Meeting(here), nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	listKey := []byte("segments")
	session(func(db *kv.DB, s *Store) {
		place := term.Quad{S: term.IRI("http://e/d"), P: term.IRI("http://e/at"), O: term.Typed("<gml:Point><gml:pos>1 2</gml:pos></gml:Point>", geosparql.GMLLiteral)}
		if err := s.Update(t.Context(), func(tx *Txn) error { return tx.Insert(place) }); err != nil {
			t.Fatal(err)
		}
		if err := s.IndexLiterals(t.Context()); err != nil || find(s) != 1 {
			t.Fatal(err)
		}
		mark, ok, err := spatial.Mark(db)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		list := append(fields.AppendText([]byte{1}, string(mark)), 7, 0) // version 1, the next segment's number, no segments
		if err := db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceSpatial, listKey, sealed.Append(list, 0)) }); err != nil {
			t.Fatal(err)
		}
	})
	for range 2 {
		session(func(_ *kv.DB, s *Store) {
			if n := find(s); n != 1 {
				t.Errorf("found %d literals, want 1", n)
			}
			if err := s.IndexLiterals(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
