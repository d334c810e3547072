package archive

import (
	"encoding/json"
	"slices"
	"testing"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/triplestore/kv"
)

func TestWhatOlderProgramsFoundInsideIsStillRead(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const address = "http://data.example/1.csv"
	register(t, a, catalog.Seed{URL: address})
	v := visit(t, a, address, "a,b\n1,x\n2,y\n", day)
	in := &inspect.Inside{Faults: []string{"it could not be read"},
		Members: []inspect.Member{{Path: "a.txt", Size: -1}, {Path: "b.csv", Size: 7}}}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	id, err := records.ResourceID(address)
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.Update(t.Context(), func(txn *kv.Txn) error { return txn.Set(kv.SpaceArchive, records.VersionKey('p', id, 0), raw) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Inside(t.Context(), v.Version)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(got); err != nil || !slices.Equal(again, raw) {
		t.Errorf("%s, %v, want %s", again, err, raw)
	}
}
