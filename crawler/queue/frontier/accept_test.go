package frontier

import (
	"strings"
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

func TestAFrontierOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	db, c := memory(t), &clock{noon}
	open(t, db, c, Options{})
	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return setCounter(txn, keyFormat, formatVersion+1) }); err != nil {
		t.Fatal(err)
	}
	if _, err := New(db, Options{}); err == nil ||
		!strings.Contains(err.Error(), "the frontier has format 2, and this program reads format 1") {
		t.Error(err)
	}
}
