package tallies

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/triplestore/kv"
)

var day = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

func open(t *testing.T) (*kv.DB, *Tallies) {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, New(db)
}

// update runs f and writes what it counted.
func update(t *testing.T, db *kv.DB, s *Tallies, f func(*Update) error) error {
	t.Helper()
	return db.Update(t.Context(), func(txn *kv.Txn) error {
		u := s.Begin(txn)
		return errors.Join(f(u), u.Write())
	})
}

func get(t *testing.T, db *kv.DB, group Group, name string) (n Tally) {
	t.Helper()
	err := db.View(func(txn *kv.Txn) (err error) {
		n, err = Get(txn, group, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// resource returns a record with some versions, the last one of 10 bytes.
func resource(versions, errorPages int) (r records.Resource) {
	r.Host, r.Portals, r.MediaType = "data.example", []string{"http://portal.example/"}, "text/csv"
	r.Versions, r.ErrorPages, r.Size = versions, errorPages, 10
	return r
}

func TestAVisitCountsInEveryTallyOfItsResource(t *testing.T) {
	t.Parallel()
	db, s := open(t)
	err := update(t, db, s, func(u *Update) error {
		act := catalog.Activity{Start: day, Outcome: catalog.Archived}
		return errors.Join(u.AddResource("data.example"), u.AddToPortal("http://portal.example/", catalog.Resource{}),
			u.AddVisit(resource(0, 0), resource(1, 0), act, nil),
			u.AddVisit(resource(1, 0), resource(2, 0), act, &diff.Summary{RowsAdded: 3}),
			u.AddVisit(resource(2, 0), resource(2, 0), catalog.Activity{Start: day, Outcome: catalog.Unchanged}, nil))
	})
	if err != nil {
		t.Fatal(err)
	}
	visits := Tally{Crawled: 1, Versions: 2, Visits: 3, Bytes: 20,
		Outcomes: map[catalog.Outcome]int{catalog.Archived: 2, catalog.Unchanged: 1}, Changes: Changes{Versions: 1, RowsAdded: 3}}
	withResource, ofType := visits, visits
	withResource.Resources = 1
	ofType.Visits, ofType.Outcomes = 2, map[catalog.Outcome]int{catalog.Archived: 2}
	for _, c := range []struct {
		group Group
		name  string
		want  Tally
	}{{All, "", withResource}, {ByHost, "data.example", withResource}, {ByPortal, "http://portal.example/", withResource},
		{ByDay, "2026-11-21", visits}, {ByType, "text/csv", ofType}, {ByHost, "other.example", Tally{}}} {
		if got := get(t, db, c.group, c.name); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %q: %+v, want %+v", c.group, c.name, got, c.want)
		}
	}
}

func TestAVersionThatIsAnErrorPageCountsNoMore(t *testing.T) {
	t.Parallel()
	db, s := open(t)
	err := update(t, db, s, func(u *Update) error {
		return errors.Join(u.AddVisit(resource(0, 0), resource(1, 0), catalog.Activity{Start: day, Outcome: catalog.Archived}, nil),
			u.RemoveVersion(resource(1, 1), catalog.Version{At: day, Type: "text/csv", Size: 10}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for group, name := range map[Group]string{All: "", ByHost: "data.example", ByType: "text/csv", ByDay: "2026-11-21"} {
		if n := get(t, db, group, name); n.Versions != 0 || n.Bytes != 0 || n.Crawled != 0 || n.Visits != 1 {
			t.Errorf("%s: %+v", group, n)
		}
	}
}

func TestATransactionThatFailsCountsNothing(t *testing.T) {
	t.Parallel()
	db, s := open(t)
	failed := errors.New("the transaction fails")
	for range 3 {
		err := update(t, db, s, func(u *Update) error { return errors.Join(u.AddResource("data.example"), failed) })
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		if err := update(t, db, s, func(u *Update) error { return u.AddResource("data.example") }); err != nil {
			t.Fatal(err)
		}
	}
	if n := get(t, db, ByHost, "data.example"); n.Resources != 3 {
		t.Errorf("%d resources, want 3", n.Resources)
	}
}

func TestAPortalKeepsItsCountsWhenItsTitleChanges(t *testing.T) {
	t.Parallel()
	db, s := open(t)
	for i, title := range []string{"Data", "Open Data"} {
		err := update(t, db, s, func(u *Update) error {
			before, err := u.SetPortalTitle("http://portal.example/", title)
			if want := []string{"", "Data"}[i]; before != want {
				t.Errorf("the title before %q is %q, want %q", title, before, want)
			}
			return errors.Join(err, u.AddDataset("http://portal.example/", 1))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := get(t, db, ByPortal, "http://portal.example/"); n.Title != "Open Data" || n.Datasets != 2 {
		t.Errorf("%+v", n)
	}
}
