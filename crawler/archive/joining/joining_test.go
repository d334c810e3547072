package archive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/kv"

	"odarchive/crawler/catalog"
)

func TestAVersionWhoseRecordIsDamagedHoldsUpNoOtherInTheIndexOfColumns(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	for i := range 5 {
		url := fmt.Sprintf("http://data.example/%d.csv", i)
		register(t, a, catalog.Seed{URL: url})
		visit(t, a, url, "code\n"+strings.ReplaceAll("A%B%C%D%E%F%G%H%", "%", "x\n")+fmt.Sprint("Z", i, "\n"), now.Add(time.Duration(i)*time.Minute))
	}
	id, err := ResourceID("http://data.example/2.csv")
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceArchive, key(tableInside, rid(id), 0), []byte{insidePieces, 9, 9, 9})
	})
	if err != nil {
		t.Fatal(err)
	}
	a.joining.recent = nil // as after a restart
	for n := 1; n > 0; {
		if n, err = a.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if a.Unjoined() != 0 {
		t.Errorf("%d versions still wait", a.Unjoined())
	}
	found, err := a.Joins(t.Context(), latest(t, a, "http://data.example/0.csv"))
	if err != nil || len(found) != 3 {
		t.Errorf("matches: %+v, %v; want those of the three sound versions", found, err)
	}
	// The next version of the damaged one is kept.
	visit(t, a, "http://data.example/2.csv", "code\nA\nB\n", now.Add(time.Hour))
	if r, err := a.Resource(t.Context(), "http://data.example/2.csv"); err != nil || r.Versions != 2 {
		t.Errorf("%d versions, %v", r.Versions, err)
	}
}

func TestAVersionThatCannotBeJoinedIsGivenUpAndListed(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	register(t, a, catalog.Seed{URL: "http://data.example/a.csv"})
	visit(t, a, "http://data.example/a.csv", "code\nA\nB\nC\n", now)
	marks, err := a.waiting(t.Context())
	if err != nil || len(marks) != 1 {
		t.Fatal(marks, err)
	}
	if err := a.joinAlone(t.Context(), marks[0], &Panic{Value: "index out of range"}); err != nil {
		t.Fatal(err)
	}
	list, total, err := a.InternalFailures(t.Context(), 0)
	if err != nil || total != 1 || !list[0].Kept || !strings.Contains(list[0].Why, "index out of range") || a.Unjoined() != 0 {
		t.Errorf("listed: %+v, %v, %d wait", list, err, a.Unjoined())
	}
	if marks, err := a.waiting(t.Context()); err != nil || len(marks) != 0 {
		t.Errorf("%d marks are left, %v", len(marks), err)
	}
}
