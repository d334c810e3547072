package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"odarchive/crawler/harvest"

	"pgregory.net/rapid"
)

// ask runs one harvest that asks before it withdraws.
func (w *world) ask(whole bool, entries ...harvest.Entry) harvest.Changes {
	w.t.Helper()
	w.begin()
	w.stage(entries...)
	changes, err := w.ledger.Commit(context.Background(), fmt.Sprint("harvest-", w.runs), w.portal, harvest.Ending{Whole: whole}, w.now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.end()
	return changes
}

// asks checks what is asked about the portal.
func (w *world) asks(when string, waiting, refused int) {
	w.t.Helper()
	all, err := w.ledger.Questions(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	var q Question
	for _, one := range all {
		if one.Portal == w.portal {
			q = one
		}
	}
	if q.Waiting != waiting || q.Refused != refused || waiting > 0 != (len(q.Examples) > 0) {
		w.t.Fatalf("%s: %+v, want %d datasets that wait and %d that were refused", when, q, waiting, refused)
	}
}

func (w *world) answer(a Answer) Question {
	w.t.Helper()
	w.runs++
	q, err := w.ledger.Answer(context.Background(), w.portal, a, w.now())
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func datasets(from, to int) (entries []harvest.Entry) {
	for i := from; i <= to; i++ {
		entries = append(entries, about(fmt.Sprint(i)))
	}
	return entries
}

func said(from, to int) (statements []string) {
	for i := from; i <= to; i++ {
		statements = append(statements, fmt.Sprint(i, " a d"))
	}
	return statements
}

func TestASuddenLossIsAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	if c := w.ask(true, datasets(1, 6)...); c != (harvest.Changes{Unchanged: 6, Withdrawn: 3}) {
		t.Fatalf("a third is not sudden: %+v", c)
	}
	w.ask(true, datasets(1, 9)...)
	if c := w.ask(true, append(datasets(1, 5), about("new"))...); c != (harvest.Changes{Unchanged: 5, Inserted: 1, Waiting: 4}) {
		t.Fatalf("more than a third: %+v", c)
	}
	w.asks("after the loss", 4, 0)
	w.wants("they are listed as before, and what was found is kept", w.graph(""), append(said(1, 9), "new a d")...)
	if len(w.delisted.list) != 3 {
		t.Fatalf("delisted: %v", w.delisted.list)
	}
	if c := w.ask(true, append(datasets(1, 5), about("new", "new title New"))...); c != (harvest.Changes{Unchanged: 5, Updated: 1,
		Waiting: 4}) {
		t.Fatalf("the next harvest: %+v", c)
	}
	w.asks("after the next", 4, 0)

	q := w.answer(Withdraw)
	if q.Waiting != 4 || q.Listed != 10 || q.Harvest != "harvest-5" || !q.Asked.Before(q.Last) || len(q.Examples) != 4 {
		t.Fatalf("%+v", q)
	}
	w.asks("after the answer", 0, 0)
	w.wants("after the answer", w.graph(""), append(said(1, 5), "new a d", "new title New")...)
	w.wants("withdrawn", w.graph("#withdrawn"), said(6, 9)...)
	if _, err := w.ledger.Answer(t.Context(), w.portal, Withdraw, w.now()); !errors.Is(err, ErrNoQuestion) {
		t.Fatalf("a second answer: %v", err)
	}
	if c := w.ask(true, datasets(1, 9)...); c != (harvest.Changes{Unchanged: 5, Returned: 4, Withdrawn: 1}) {
		t.Fatalf("they return: %+v", c)
	}
	w.holdsNothingElse(10)
}

func TestAQuestionDissolves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 { // a portal that flaps
		w.ask(true, datasets(1, 9)...)
		w.asks("full", 0, 0)
		if c := w.ask(true); c != (harvest.Changes{Waiting: 9}) {
			t.Fatalf("empty: %+v", c)
		}
		w.asks("empty", 9, 0)
		w.wants("empty", w.graph(""), said(1, 9)...)
	}
	w.ask(false, datasets(1, 5)...) // it was interrupted
	w.asks("what an interrupted harvest finds is found", 4, 0)
	w.ask(false, datasets(6, 9)...)
	w.asks("all are found", 0, 0)
	w.ask(true)
	if c := w.ask(true, datasets(2, 9)...); c != (harvest.Changes{Unchanged: 8, Withdrawn: 1}) {
		t.Fatalf("most are found, and the rest is no sudden loss: %+v", c)
	}
	w.asks("most are found", 0, 0)
	w.wants("the rest", w.graph("#withdrawn"), "1 a d")
	w.holdsNothingElse(9)
}

func TestAnAnswerThatKeepsHoldsUntilTheDatasetsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 9)...)
	w.ask(true, append(datasets(1, 4), gone("9"))...)
	w.asks("the source calls one deleted", 5, 0)
	if q := w.answer(Keep); q.Waiting != 5 {
		t.Fatalf("%+v", q)
	}
	w.asks("kept", 0, 5)
	if c := w.ask(true, datasets(1, 4)...); c != (harvest.Changes{Unchanged: 4}) {
		t.Fatalf("the same is lost: %+v", c)
	}
	if c := w.ask(true, datasets(2, 4)...); c != (harvest.Changes{Unchanged: 3, Withdrawn: 1}) {
		t.Fatalf("one more is lost: %+v", c)
	}
	if _, err := w.ledger.Answer(t.Context(), w.portal, Keep, w.now()); !errors.Is(err, ErrNoQuestion) {
		t.Fatalf("nothing is asked: %v", err)
	}
	w.ask(true, datasets(2, 7)...)
	w.asks("three are found", 0, 2)
	if c := w.ask(true, datasets(2, 2)...); c != (harvest.Changes{Unchanged: 1, Waiting: 5}) {
		t.Fatalf("they are lost again: %+v", c)
	}
	w.asks("both", 5, 2)
	w.answer(Withdraw)
	w.asks("withdrawn", 0, 0)
	w.wants("all but one", w.graph(""), "2 a d")
	w.ask(true, datasets(1, 9)...)
	w.ask(true)
	w.answer(Keep)
	if c := w.run(true, datasets(1, 1)...); c != (harvest.Changes{Unchanged: 1, Withdrawn: 8}) {
		t.Fatalf("a harvest that is sure: %+v", c)
	}
	w.asks("sure", 0, 0)
	w.holdsNothingElse(9)
}

func TestAnAnswerLeavesAloneWhatAHarvestStages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(true, datasets(1, 6)...)
	w.ask(true, datasets(1, 2)...)
	w.begin()
	w.stage(about("1", "1 title One"), about("3"), gone("2"))
	w.answer(Withdraw)
	w.wants("while a harvest runs", w.graph(""), said(1, 2)...)
	w.wants("withdrawn", w.graph("#withdrawn"), said(3, 6)...)
	w.stage(about("new"))
	w.commit(true)
	w.end()
	w.wants("after that harvest", w.graph(""), "1 a d", "1 title One", "3 a d", "new a d")
	w.holdsNothingElse(7)
}

// TestQuestionsFollowTheirRules compares the ledger with a simple model over random histories of harvests and answers,
// which may be cut off at any moment.
func TestQuestionsFollowTheirRules(t *testing.T) {
	t.Parallel()
	w, portals := newWorld(t), 0
	rapid.Check(t, func(t *rapid.T) {
		portals++
		w.t, w.portal = t, fmt.Sprintf("http://p.example/q/%d/", portals)
		listed, withdrawn := map[string][]string{}, map[string][]string{}
		state := map[string]asked{}
		cut := func(do func(ctx context.Context)) {
			if checks := rapid.IntRange(0, 60).Draw(t, "cut off after"); checks > 0 {
				ctx := &dying{Context: context.Background()}
				ctx.left.Store(int64(checks))
				do(ctx)
				if err := w.ledger.Recover(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		withdraw := func(d string) {
			withdrawn[d] = listed[d]
			delete(listed, d)
			delete(state, d)
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			w.ledger.manyQuads = rapid.SampledFrom([]int{0, 4, 1e6}).Draw(t, "bulk")
			w.ledger.maxQuads = rapid.SampledFrom([]int{1, 4, 1e6}).Draw(t, "at once")
			counts := map[asked]int{}
			for _, s := range state {
				counts[s]++
			}
			a := rapid.SampledFrom([]Answer{"", "", "", Withdraw, Keep}).Draw(t, "answer")
			if a == Keep && counts[waiting] == 0 || len(state) == 0 {
				a = ""
			}
			if a != "" {
				cut(func(ctx context.Context) { w.ledger.Answer(ctx, w.portal, a, w.now()) }) // may be interrupted
				if _, err := w.ledger.Answer(context.Background(), w.portal, a, w.now()); err != nil && !errors.Is(err, ErrNoQuestion) {
					t.Fatal(err)
				}
				for d, s := range maps.Clone(state) {
					if a == Withdraw {
						withdraw(d)
					} else if s == waiting {
						state[d] = refused
					}
				}
			} else {
				e := harvest.Ending{Whole: rapid.Bool().Draw(t, "whole"), Sure: rapid.IntRange(0, 4).Draw(t, "sure") == 0}
				met, deleted, before := map[string]bool{}, map[string]bool{}, len(listed)
				lost, known := []string{}, maps.Clone(listed)
				var entries []harvest.Entry
				for _, d := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}), rapid.ID).Draw(t,
					"datasets") {
					if rapid.IntRange(0, 5).Draw(t, "gone") == 0 {
						entries, deleted[d] = append(entries, gone(d)), true
						continue
					}
					said := rapid.SliceOfN(rapid.SampledFrom([]string{"org name X", "1 note a", "4 title z"}), 0, 2).Draw(t, "said")
					entries, met[d] = append(entries, about(d, said...)), true
					listed[d] = append(said, d+" a d")
					delete(withdrawn, d)
					delete(state, d)
				}
				for d := range known {
					if !met[d] && (deleted[d] || e.Whole) && (e.Sure || state[d] != refused) {
						lost = append(lost, d)
					}
				}
				for _, d := range lost {
					if !e.Sure && sudden(len(lost), before) {
						state[d] = waiting
					} else {
						withdraw(d)
					}
				}
				w.begin()
				w.stage(entries...)
				commit := func(ctx context.Context) error {
					_, err := w.ledger.Commit(ctx, fmt.Sprint("harvest-", w.runs), w.portal, e, w.now())
					return err
				}
				cut(func(ctx context.Context) { _ = commit(ctx) }) // may be interrupted
				if err := commit(context.Background()); err != nil {
					t.Fatal(err)
				}
				w.end()
			}
			counts = map[asked]int{}
			for _, s := range state {
				counts[s]++
			}
			all, err := w.ledger.Questions(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range all {
				if q.Portal == w.portal {
					counts[waiting] -= q.Waiting
					counts[refused] -= q.Refused
				}
			}
			if counts[waiting] != 0 || counts[refused] != 0 {
				t.Fatalf("%v are marked, but the numbers that wait and were refused differ by %v", state, counts)
			}
			w.wants("graph", w.graph(""), union(listed)...)
			w.wants("withdrawn", w.graph("#withdrawn"), union(withdrawn)...)
		}
		w.holdsNothingElse(len(listed) + len(withdrawn))
	})
}
