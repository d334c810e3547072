package frontier

import (
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func TestWhatAServerIsAskedForIsPartOfTheURL(t *testing.T) {
	t.Parallel()
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	add := func(s catalog.Seed) {
		t.Helper()
		if _, err := f.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	get := func(raw string) *URL {
		t.Helper()
		u, err := f.Get(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	const page, table = "http://a.example/page", "http://a.example/table"
	add(catalog.Seed{URL: page, Accept: catalog.AcceptRDF})
	add(catalog.Seed{URL: table, Format: "CSV"})
	add(catalog.Seed{URL: table, Accept: catalog.AcceptRDF})
	if got := get(page).Accept; got != catalog.AcceptRDF {
		t.Errorf("a new URL is asked for %q", got)
	}
	if got := get(table).Accept; got != "" {
		t.Errorf("a URL that is listed as a table is asked for %q", got)
	}
	f = open(t, db, c, Options{}) // as stored
	if got := get(page).job().Accept; got != catalog.AcceptRDF {
		t.Errorf("after opening again, a job says %q", got)
	}
	u := get(page)
	u.ETag, u.LastModified = "\"x\"", "then"
	u.note(Result{Accept: catalog.AcceptCSV})
	if u.Accept != catalog.AcceptCSV || u.ETag != "" || u.LastModified != "" {
		t.Errorf("validators belong to what was asked for: %+v", u)
	}
}

// TestFormat4IsReadAsItIs opens a directory as the program before wrote it: nothing in it was asked for.
func TestFormat4IsReadAsItIs(t *testing.T) {
	t.Parallel()
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	if _, err := f.Add(t.Context(), catalog.Seed{URL: "http://a.example/x", Format: "CSV"}); err != nil {
		t.Fatal(err)
	}
	err := db.Update(t.Context(), func(txn *kv.Txn) error { return setCounter(txn, keyFormat, 4) })
	if err != nil {
		t.Fatal(err)
	}
	f = open(t, db, c, Options{})
	if u, err := f.Get("http://a.example/x"); err != nil || u.Accept != "" || u.Format != "CSV" {
		t.Errorf("%+v, %v", u, err)
	}
	err = db.View(func(txn *kv.Txn) error {
		v, err := counter(txn, keyFormat)
		_, migrating, _ := txn.Get(kv.SpaceHosts, []byte(keyMigrating))
		if v != formatVersion || migrating {
			t.Errorf("format %d, migrating: %v", v, migrating)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
