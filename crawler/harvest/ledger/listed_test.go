package ledger

import (
	"context"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// listed tests how many datasets the portal can be expected to list.
func (w *world) listed(when string, want int) {
	w.t.Helper()
	if n, err := w.ledger.Listed(context.Background(), w.portal); err != nil || n != want {
		w.t.Fatalf("%s: %d datasets are known to be listed, want %d; %v", when, n, want, err)
	}
}

func TestWhatAPortalCanBeExpectedToListIsKnownBeforeTheCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listed("a portal that nobody knows", 0)
	w.ask(true, datasets(1, 9)...)
	w.listed("after a whole harvest", 9)
	w.begin()
	w.stage(append(datasets(8, 9), about("new"))...)
	w.stage(harvest.Entry{Dataset: datasets(1, 1)[0].Dataset, Gone: true}, harvest.Entry{Dataset: "http://unknown.example/", Gone: true})
	w.listed("one is new, one is gone", 9)
	w.commit(false)
	w.end()
	w.listed("after the commit", 9)
	w.ask(true, datasets(1, 9)...)
	w.listed("one is listed again, one is withdrawn", 9)
	w.ask(true, datasets(1, 3)...)
	w.listed("those that wait for an answer are not at the portal", 3)
}

func TestAPortalThatCountsOthersThanItReturnsIsNotReadWholeEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	w.begin()
	w.stage(datasets(1, 9)...)
	if _, err := w.ledger.Commit(t.Context(), "harvest-9", w.portal, harvest.Ending{Whole: true, Total: catalog.Counted(12)},
		w.now()); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.listed("it says 12 and returns 9", 12)
	w.ask(false, about("new"))
	w.listed("with a new one", 13)
}

// lacking tests how many of the datasets that are known are not among names; -1 means that nobody can tell.
func (w *world) lacking(when string, names []harvest.Entry, want int) {
	w.t.Helper()
	var iris []string
	for _, e := range names {
		iris = append(iris, e.Dataset)
	}
	n, err := w.ledger.Lacking(context.Background(), w.portal, iris)
	if err != nil || n.Known() != (want >= 0) || n.Known() && n.N() != want {
		w.t.Fatalf("%s: %v are lacking, want %d; %v", when, n, want, err)
	}
}

func TestADatasetThatAPortalNoLongerNamesIsFoundThoughAnotherWasAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	w.begin()
	w.lacking("all", datasets(1, 9), 0)
	w.lacking("all and a source of harvests", append(datasets(1, 9), about("source")), 0)
	w.lacking("one removed, one added", append(datasets(2, 9), about("old")), 1)
	w.lacking("other names", []harvest.Entry{about("1-2-3"), about("4-5-6")}, -1)
	w.stage(about("new"), datasets(1, 1)[0], gone("none"), harvest.Entry{Dataset: datasets(2, 2)[0].Dataset, Gone: true})
	w.lacking("one that the harvest brought, and one that it reported as gone", datasets(3, 9), 0)
	w.commit(false)
	w.end()
}

func TestAPortalThatDoesNotNameAllThatItReturnsIsNotReadWholeEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	w.begin()
	w.stage(datasets(1, 9)...)
	var names []string
	for _, e := range datasets(3, 9) {
		names = append(names, e.Dataset)
	}
	ending := harvest.Ending{Whole: true, Total: catalog.Counted(9), Names: names}
	if _, err := w.ledger.Commit(t.Context(), "harvest-9", w.portal, ending, w.now()); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.begin()
	w.lacking("the same two", datasets(3, 9), -1)
	w.lacking("and a third", datasets(4, 9), 3)
	w.lacking("none", datasets(1, 9), 0)
	w.end()
}

// TestAHarvestThatCannotTellWhatWasRemovedSaysSo: a portal that says that it lists five more than it returns may have
// lost any of those that it returned before. When it fails in the same way again, what it no longer returns is
// withdrawn.
func TestAHarvestThatCannotTellWhatWasRemovedSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 20)...)
	short := harvest.Entry{Kept: true, Fault: harvest.Short(5)}
	for _, c := range []struct {
		last, withdrawn int
		blind           bool
	}{{20, 0, true}, {18, 2, false}, {18, 0, false}} {
		changes := w.ask(true, append(datasets(1, c.last), short)...)
		if changes.Withdrawn != c.withdrawn || changes.Blind != c.blind {
			t.Errorf("up to %d: %+v", c.last, changes)
		}
	}
	short.Fault = harvest.Short(9)
	if changes := w.ask(true, append(datasets(1, 14), short)...); changes.Withdrawn != 0 || !changes.Blind {
		t.Errorf("another failure: %+v", changes)
	}
}

func TestWhatWaitsForAnAnswerIsCountedByEachHarvest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	for _, c := range []struct {
		whole         bool
		from, waiting int
	}{{true, 1, 6}, {false, 3, 6}, {false, 9, 5}, {true, 1, 6}} {
		brought := datasets(c.from, 3)
		if !c.whole {
			brought = datasets(c.from, c.from)
		}
		if changes := w.ask(c.whole, brought...); changes.Waiting != c.waiting {
			t.Errorf("%+v: %+v", c, changes)
		}
	}
}

// TestWhatAPortalAlwaysCountsAndNeverShowsIsHidden: a whole harvest that misses as many as the one before is complete,
// unless the portal names more datasets than came or many are missing.
func TestWhatAPortalAlwaysCountsAndNeverShowsIsHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about        string
		short, named int
		blind        bool
		withdrawn    int
	}{{"hidden", 2, 0, false, 3}, {"hidden, not named", 2, 37, false, 3}, {"named", 2, 42, true, 0}, {"many", 9, 0, true, 0}} {
		w := newWorld(t)
		w.ask(true, datasets(1, 40)...)
		for _, last := range []int{40, 40, 37} {
			w.begin()
			w.stage(append(datasets(1, last), harvest.Entry{Kept: true, Fault: harvest.Short(c.short)})...)
			changes, err := w.ledger.Commit(t.Context(), "harvest", w.portal, harvest.Ending{Whole: true, Short: c.short, Named: c.named},
				w.now())
			w.end()
			if last == 37 && (err != nil || changes.Blind != c.blind || changes.Withdrawn != c.withdrawn) {
				t.Errorf("%s: %v, %+v", c.about, err, changes)
			}
		}
		if !c.blind {
			w.listed(c.about, 39)
		}
	}
}
