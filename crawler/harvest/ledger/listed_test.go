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
	if _, err := w.ledger.Commit(t.Context(), "harvest-9", w.portal, harvest.Ending{Whole: true, Total: catalog.Counted(12)}, w.now()); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.listed("it says 12 and returns 9", 12)
	w.ask(false, about("new"))
	w.listed("with a new one", 13)
}

// TestAHarvestThatCannotTellWhatWasRemovedSaysSo: a portal that says that it lists five more than it returns may have lost
// any of those that it returned before. When it fails in the same way again, what it no longer returns is withdrawn.
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
