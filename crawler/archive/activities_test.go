package archive

import (
	"maps"
	"testing"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// belowAnotherBase returns the same archive, used with another base.
func belowAnotherBase(a *Archive) *Archive {
	return New(ns.Mint{Base: "https://moved.example/", Former: []string{a.mint.Base}}, a.db, a.triples, a.content)
}

// describeAgain describes the stretches as an older program did when a visit extended them below another base.
func describeAgain(t *testing.T, a *Archive, m ns.Mint) {
	t.Helper()
	var quads []term.Quad
	err := a.view(func(r records.Txn) error {
		return diary.Txn{Txn: r.Txn}.Stretches(t.Context(), func(s diary.Stretch) error {
			if s.Visits > 1 {
				quads = append(quads, describe.Activity(m, s.Activity(file))...)
			}
			return nil
		})
	})
	if err == nil {
		err = a.triples.Update(t.Context(), func(txn *triplestore.Txn) error { return describe.Replace(txn, nil, quads) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAStretchGoesOnBelowTheBaseWhereItBegan(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	visit(t, a, file, ours, hours(1))
	unchangedVisits(t, a, file, 2, 3, 4)
	moved := belowAnotherBase(a)
	unchangedVisits(t, moved, file, 5, 6)
	unchangedVisits(t, a, file, 7)
	stored := triplesOf(t, a)
	if n := statement(stored, "visits"); len(n) != 1 || !hasObject(n, `"6"`) {
		t.Errorf("visits: %v", n)
	}
	if ends := statement(stored, "endedAtTime"); len(ends) != 2 {
		t.Errorf("ends: %v", ends)
	}
	holds(t, a, file)
	visit(t, moved, file, "a,b\n3,4\n5,6\n", hours(8))
	unchangedVisits(t, moved, file, 9, 10)
	if n := statement(triplesOf(t, a), "visits"); len(n) != 2 {
		t.Errorf("with a stretch below the new base: %v", n)
	}
}

func TestAStretchThatIsDescribedTwiceIsFoundAndDescribedOnce(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{"below two bases": "https://moved.example/", "below one base": "http://archive.example/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchive(t)
			register(t, a, listed)
			visit(t, a, file, ours, hours(1))
			unchangedVisits(t, a, file, 2, 3, 4)
			three := statement(triplesOf(t, a), "visits")
			unchangedVisits(t, a, file, 5)
			if err := a.triples.Update(t.Context(), func(txn *triplestore.Txn) error {
				for q := range three {
					if below == a.mint.Base {
						return txn.Insert(q)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if below != a.mint.Base {
				describeAgain(t, a, ns.Mint{Base: below})
			}
			moved := belowAnotherBase(a)
			if twice, one, err := moved.CheckActivities(t.Context()); err != nil || twice != 1 || one == "" {
				t.Errorf("%d are described twice, such as %q, %v", twice, one, err)
			}
			if n, err := moved.MendActivities(t.Context()); err != nil || n != 1 {
				t.Errorf("%d were mended, %v", n, err)
			}
			if twice, _, err := moved.CheckActivities(t.Context()); err != nil || twice != 0 {
				t.Errorf("then %d, %v", twice, err)
			}
			stored := triplesOf(t, a)
			if n := statement(stored, "visits"); len(n) != 1 || !hasObject(n, `"4"`) {
				t.Errorf("visits: %v", n)
			}
			if n := statement(stored, "startedAtTime"); len(n) != 2 {
				t.Errorf("starts: %v", n)
			}
			if below == a.mint.Base {
				holds(t, a, file)
			}
			unchangedVisits(t, moved, file, 6)
			if n := statement(triplesOf(t, a), "visits"); len(n) != 1 || !hasObject(n, `"5"`) {
				t.Errorf("after another visit: %v", n)
			}
		})
	}
}

func TestMendingActivitiesChangesNothingWhereNoneIsDescribedTwice(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	visit(t, a, file, ours, hours(1))
	unchangedVisits(t, a, file, 2, 3)
	before := triplesOf(t, a)
	if n, err := belowAnotherBase(a).MendActivities(t.Context()); err != nil || n != 0 || !maps.Equal(triplesOf(t, a), before) {
		t.Errorf("%d mended, %v", n, err)
	}
}

func TestAStretchGoesOnBelowAnotherBase(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	for i := range 3 {
		if i == 2 {
			a.mint.Base = "http://other.example/"
		}
		at := day.Add(time.Duration(i) * time.Hour)
		act := catalog.Activity{URL: file, Start: at, End: at, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404,
			Why: "it is gone"}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	stored := triplesOf(t, a)
	err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			if !stored[q] {
				t.Errorf("not stored: %v", q)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
