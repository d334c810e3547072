package archive

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func TestBytesAndVersionBecomeTrueInOneTransactionOrNotAtAll(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const address, body = "http://data.example/1.csv", "a,b\n1,x\n2,y\n"
	register(t, a, catalog.Seed{URL: address})
	stored := func() bool {
		_, ok, err := a.Bytes().Stat(sha256.Sum256([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	commit := func(also func(*kv.Txn, catalog.Activity) error) (catalog.Activity, error) {
		placed, err := a.Bytes().Place(t.Context(), strings.NewReader(body), content.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer placed.Release()
		return a.Commit(t.Context(), Visit{
			Activity: catalog.Activity{URL: address, Start: day, End: day.Add(time.Second), Outcome: catalog.Archived, Status: 200},
			Kept:     &Kept{Placed: placed, Type: "text/csv", FileName: "1.csv"},
		}, also)
	}
	refused := errors.New("the frontier cannot write")
	if _, err := commit(func(*kv.Txn, catalog.Activity) error { return refused }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if _, err := a.Newest(t.Context(), address); stored() || !errors.Is(err, ErrNotFound) {
		t.Errorf("after a commit that failed its bytes are stored: %v; its version: %v", stored(), err)
	}
	act, err := commit(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Newest(t.Context(), address)
	if err != nil || v.ID != act.Version || v.Size != int64(len(body)) || !stored() {
		t.Errorf("%+v, %v, stored: %v", v, err, stored())
	}
	found, err := a.Find(t.Context(), []Wanted{{v.ID[:records.IDLen], 0}})
	if ref, err2 := a.Ref(t.Context(), v); err != nil || err2 != nil || found[0].Ref != ref {
		t.Errorf("found %+v, %v; the bytes are %+v, %v", found, err, ref, err2)
	}
	if act, err = commit(nil); err != nil || act.Outcome != catalog.Unchanged {
		t.Errorf("the same bytes again: %+v, %v", act, err)
	}
}
