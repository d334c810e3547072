package joining_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/archive/joining"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// ending is a context that ends when Err has been called so many times.
type ending struct {
	context.Context
	calls int
}

func (e *ending) Err() error {
	if e.calls--; e.calls < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}

// crowd is an archive of files that overlap, some of which have two versions, with nothing indexed.
func crowd(t *testing.T) *world {
	w := newWorld(t)
	for i := range 18 {
		w.visit(crowdURL(i), places(i*5, i*5+40), day.Add(time.Duration(i)*time.Minute))
	}
	for i := 0; i < 18; i += 4 {
		w.visit(crowdURL(i), places(i*5+7, i*5+50), day.Add(time.Hour+time.Duration(i)*time.Minute))
	}
	return w
}

func crowdURL(i int) string { return fmt.Sprintf("http://data.example/%d.csv", i) }

func (w *world) matchesOfCrowd() (all []string) {
	w.t.Helper()
	for i := range 18 {
		found, err := w.Joins(w.t.Context(), w.latest(crowdURL(i)))
		if err != nil || len(found) == 0 {
			w.t.Fatalf("%d: %d matches, %v", i, len(found), err)
		}
		all = append(all, fmt.Sprint(found))
	}
	return all
}

func TestTransactionsOfAPassDoWhatOneDoes(t *testing.T) {
	t.Parallel()
	w := crowd(t)
	w.join(w.restart())
	want := w.matchesOfCrowd()
	for _, perTxn := range []int{1, 2, 5, 16} {
		w := crowd(t)
		q := w.restart()
		joining.SetPerTxn(q, perTxn)
		if n, err := q.Join(t.Context()); err != nil || n != 23 {
			t.Errorf("%d versions, %v; want all 23 in one pass", n, err)
		}
		w.join(q)
		if got := w.matchesOfCrowd(); !slices.Equal(got, want) {
			t.Errorf("transactions of %d versions:\n%v\nwant\n%v", perTxn, got, want)
		}
	}
}

func TestAPassThatIsInterruptedIsContinuedByTheNextProcess(t *testing.T) {
	t.Parallel()
	w := crowd(t)
	w.join(w.restart())
	want := w.matchesOfCrowd()
	partly := 0
	for calls := 10; ; calls += 7 {
		w := crowd(t)
		q := w.restart()
		joining.SetPerTxn(q, 3)
		n, err := q.Join(&ending{t.Context(), calls})
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%d calls: %d versions, %v", calls, n, err)
		}
		if q.Len() != 23-n {
			t.Errorf("%d versions wait after %d of 23", q.Len(), n)
		}
		if n > 0 {
			partly++
		}
		w.join(w.restart())
		if got := w.matchesOfCrowd(); !slices.Equal(got, want) {
			t.Errorf("after %d versions and an interruption:\n%v\nwant\n%v", n, got, want)
		}
	}
	if partly < 2 {
		t.Errorf("%d passes were interrupted between transactions", partly)
	}
}

func TestTheNextTransactionHoldsAsManyVersionsAsTheTripleStoreMergesTogetherWithOthers(t *testing.T) {
	t.Parallel()
	w := crowd(t)
	q := w.restart()
	before := w.quads()
	n, err := q.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	each := (w.quads() - before) / n
	if got := joining.Fits(q) * each; got < triplestore.SmallTxn*3/4 || got > triplestore.SmallTxn*5/4 {
		t.Errorf("%d versions of about %d quads fit; want %d quads together", joining.Fits(q), each, triplestore.SmallTxn)
	}
}

func (w *world) quads() int {
	sn := w.triples.Snapshot()
	defer sn.Release()
	n := 0
	for c := sn.Scan(term.Pattern{G: term.DefaultGraph}, term.SPO); ; {
		batch, err := c.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		if len(batch) == 0 {
			c.Close()
			return n
		}
		n += len(batch)
	}
}
