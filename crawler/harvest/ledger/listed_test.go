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
