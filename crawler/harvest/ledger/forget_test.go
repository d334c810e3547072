package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"

	"pgregory.net/rapid"
)

// activities returns how many statements each harvest's activity has.
func (w *world) activities() map[string]int {
	w.t.Helper()
	all := map[string]int{}
	err := w.triples.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		all[q.S.Value()]++
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) insert(q term.Quad) {
	w.t.Helper()
	if err := w.triples.Update(context.Background(), func(txn *triplestore.Txn) error { return txn.Insert(q) }); err != nil {
		w.t.Fatal(err)
	}
}

// The model: of each source the last reports stay; of the others those that are young, changed something, or are named.
func TestForgetKeepsWhatChangedSomethingAndTheLastOfEachSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		before := noon.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "before")) * time.Hour)
		var all []harvest.Report // the oldest first
		used := map[string]bool{}
		for i := range rapid.IntRange(0, 150).Draw(t, "reports") {
			r := harvest.Report{ID: fmt.Sprint("harvest-", i),
				Source:  "ckan http://s.example/" + rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "source"),
				Started: noon.Add(time.Duration(i) * time.Hour)}
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0:
				r.Inserted, r.Ended = catalog.Counted(1), r.Started.Add(time.Minute)
			case 1:
				r.Withdrawn, r.Ended = catalog.Counted(2), r.Started.Add(time.Minute)
			case 2:
				r.Added, r.Ended = 3, r.Started.Add(time.Minute)
			case 3:
				used[r.ID], r.Ended = true, r.Started.Add(time.Minute)
				w.insert(term.Quad{S: term.IRI("http://o.example/"), P: term.IRI("http://o.example/p"),
					O: term.IRI(w.ledger.mint.Activity(r.ID)), G: term.IRI("http://o.example/g")})
			case 4: // the process was killed
			default:
				r.Ended = r.Started.Add(time.Minute)
			}
			if err := w.ledger.Record(context.Background(), r, nil); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		var want []string
		of := map[string]int{}
		for i := len(all) - 1; i >= 0; i-- {
			r := all[i]
			of[r.Source]++
			if of[r.Source] <= KeptReports || r.Ended.IsZero() || !r.Started.Before(before) || r.Inserted.N()+r.Withdrawn.N()+r.Added > 0 ||
				used[r.ID] {
				want = append(want, r.ID)
			}
		}
		dropped, err := w.ledger.Forget(context.Background(), before)
		if err != nil || dropped != len(all)-len(want) {
			t.Fatalf("dropped %d, %v, want %d", dropped, err, len(all)-len(want))
		}
		left, err := w.ledger.Harvests(context.Background(), time.Time{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range left {
			got = append(got, r.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("left %v, want %v", got, want)
		}
		said := w.activities()
		delete(said, "http://o.example/")
		if len(said) != len(want) {
			t.Fatalf("%d activities in the graph, want %d", len(said), len(want))
		}
		for _, id := range want {
			if said[w.ledger.mint.Activity(id)] == 0 {
				t.Fatalf("nothing is said of %s", id)
			}
		}
		if again, err := w.ledger.Forget(context.Background(), before); again != 0 || err != nil {
			t.Fatalf("a second time: %d, %v", again, err)
		}
	})
}

// The harvest that wrote a portal's graph last is named by it, even if it found nothing new.
func TestForgetKeepsTheHarvestThatAPortalsGraphComesFrom(t *testing.T) {
	w := newWorld(t)
	w.run(true, about("one"))
	for i := range 2 * KeptReports {
		r := harvest.Report{ID: fmt.Sprint("harvest-", i+1), Source: "s", Started: noon.Add(time.Duration(i) * time.Hour),
			Ended: noon.Add(time.Duration(i)*time.Hour + 1)}
		if err := w.ledger.Record(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := w.ledger.Forget(t.Context(), noon.Add(1000*time.Hour)); n != KeptReports-1 || err != nil {
		t.Fatalf("dropped %d, %v; want all but the last %d, and the first", n, err, KeptReports)
	}
	if w.activities()[w.ledger.mint.Activity("harvest-1")] == 0 {
		t.Fatal("the graph says that it comes from a harvest that nothing is said of")
	}
}

// Of an older program: statements that today's reports do not make go too, and a record that cannot be read stays.
func TestForgetDropsWhatAnOlderProgramSaidOfAHarvest(t *testing.T) {
	w := newWorld(t)
	for i := range KeptReports + 2 {
		r := harvest.Report{ID: fmt.Sprint("harvest-", i+1), Source: "s", Started: noon.Add(time.Duration(i) * time.Hour),
			Ended: noon.Add(time.Duration(i)*time.Hour + 1)}
		if err := w.ledger.Record(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	first := harvest.Report{ID: "harvest-1", Started: noon}
	w.insert(term.Quad{S: term.IRI(w.ledger.mint.Activity("harvest-1")), P: term.IRI("http://old.example/count"), O: term.String("3")})
	bad := activityKey(harvest.Report{ID: "bad", Started: noon.Add(-time.Hour)})
	if err := w.db.Update(t.Context(), func(txn *kv.Txn) error { return txn.Set(kv.SpaceHarvest, bad, []byte("{")) }); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := w.ledger.Forget(ended, noon.Add(1000*time.Hour)); n != 0 || err == nil {
		t.Fatalf("after the end: %d, %v", n, err)
	}
	if n, err := w.ledger.Forget(t.Context(), noon.Add(1000*time.Hour)); n != 2 || err != nil {
		t.Fatalf("dropped %d, %v", n, err)
	}
	if n := w.activities()[w.ledger.mint.Activity("harvest-1")]; n != 0 {
		t.Fatalf("%d statements are left", n)
	}
	err := w.db.View(func(txn *kv.Txn) error {
		if _, ok, err := txn.Get(kv.SpaceHarvest, bad); err != nil || !ok {
			t.Errorf("the damaged record: %v, %v", ok, err)
		}
		if _, ok, err := txn.Get(kv.SpaceHarvest, activityKey(first)); err != nil || ok {
			t.Errorf("the first record: %v, %v", ok, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
