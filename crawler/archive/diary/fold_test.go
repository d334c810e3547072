package diary

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"odarchive/triplestore/kv"
)

// fold folds the visits of format 1, and calls between after each transaction.
func (b *book) fold(limit int, between func()) (removed int) {
	b.t.Helper()
	step := func(f func(Txn) ([]byte, error)) {
		for more := true; more; {
			err := b.db.Update(context.Background(), func(txn *kv.Txn) error {
				next, err := f(Txn{txn})
				more = next != nil
				return err
			})
			if err != nil {
				b.t.Fatal(err)
			}
			between()
		}
	}
	var from []byte
	step(func(t Txn) ([]byte, error) {
		folded, _, next, err := t.FoldStretches(context.Background(), from, limit)
		for _, f := range folded {
			removed += len(f.Removed)
			if f.Before.Visits+len(f.Removed) != f.After.Visits || f.Before.Start() != f.After.Start() {
				b.t.Errorf("%d visits and %d more became %d", f.Before.Visits, len(f.Removed), f.After.Visits)
			}
			b.current[f.After.Resource] = f.After.Start()
		}
		from = next
		return next, err
	})
	from = nil
	step(func(t Txn) ([]byte, error) {
		next, err := t.FoldTimelines(context.Background(), from, limit)
		from = next
		return next, err
	})
	return removed
}

func TestFoldingLosesNoVisitAndChangesNoList(t *testing.T) {
	t.Parallel()
	for seed := range rounds() {
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 2))
		old, plain := newBook(t, 1+r.IntN(5)), newBook(t, 5)
		now := day
		for range 20 + r.IntN(300) {
			now = now.Add(time.Duration(1+r.IntN(100_000)) * time.Millisecond)
			i, act := r.IntN(len(old.ids)), unchanged(now)
			if r.IntN(6) == 0 {
				act = failed(now, time.Second, []int{404, 500}[r.IntN(2)])
			}
			old.addOld(i, act)
			plain.add(i, act)
		}
		old.listed = plain.listed // the ids are those of stretches now
		seen := func() {
			visits := 0
			for _, a := range old.read(time.Time{}, anything) {
				visits += max(1, a.Visits)
			}
			if visits != len(plain.listed) {
				t.Fatalf("%d visits, want %d", visits, len(plain.listed))
			}
		}
		removed := old.fold(1+r.IntN(60), seen)
		if got, want := lines(old.read(time.Time{}, anything)), lines(plain.listed); !slices.Equal(got, want) {
			t.Fatalf("%d visits, want %d", len(got), len(want))
		}
		got, want := old.stretches(), plain.stretches()
		if len(got) != len(want) || removed != len(plain.listed)-len(want) {
			t.Fatalf("%d stretches, want %d; %d removed", len(got), len(want), removed)
		}
		for i := range got {
			if got[i].Activity("u") != want[i].Activity("u") {
				t.Fatalf("%+v, want %+v", got[i], want[i])
			}
		}
		if has := hasOld(old); has {
			t.Fatal("visits of format 1 are left")
		}
		for range 100 { // and it goes on
			now = now.Add(time.Minute)
			i := r.IntN(len(old.ids))
			old.add(i, unchanged(now))
			plain.add(i, unchanged(now))
		}
		if got, want := lines(old.read(time.Time{}, anything)), lines(plain.listed); !slices.Equal(got, want) {
			t.Fatalf("then %d visits, want %d", len(got), len(want))
		}
		if n := len(old.stretches()); n != len(plain.stretches()) {
			t.Fatalf("then %d stretches, want %d", n, len(plain.stretches()))
		}
		old.close()
		plain.close()
	}
}

func TestAResourceWithMoreVisitsThanATransactionTakesIsFolded(t *testing.T) {
	t.Parallel()
	b := newBook(t, 2)
	defer b.close()
	for i := range 500 {
		b.addOld(i%2, unchanged(day.Add(time.Duration(i)*time.Minute)))
	}
	transactions := 0
	if removed := b.fold(20, func() { transactions++ }); removed != 498 || transactions < 20 {
		t.Errorf("%d removed in %d transactions", removed, transactions)
	}
	if s := b.stretches(); len(s) != 2 || s[0].Visits != 250 || s[1].Visits != 250 {
		t.Errorf("%v", s)
	}
}

func hasOld(b *book) (has bool) {
	b.t.Helper()
	err := View(b.db, func(t Txn) (err error) { has, err = t.HasOld(context.Background()); return err })
	if err != nil {
		b.t.Fatal(err)
	}
	return has
}

func TestARecordThatCannotBeReadDoesNotStopFolding(t *testing.T) {
	t.Parallel()
	b := newBook(t, 2)
	defer b.close()
	for i := range 100 {
		b.addOld(i%2, unchanged(day.Add(time.Duration(i)*time.Minute)))
	}
	err := b.db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceArchive, oldKey(b.ids[0], day.Add(10*time.Minute).UnixMilli()), []byte("{damaged"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if removed := b.fold(10, func() {}); removed != 49+48 {
		t.Errorf("%d removed", removed)
	}
}
