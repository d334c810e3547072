package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/queue/supervise"
	"odarchive/triplestore/kv"
)

// tableVisit returns a visit that brought a table.
func tableVisit(t *testing.T, a *Archive, url, body string) Visit {
	t.Helper()
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := csvprofile.Read(t.Context(), strings.NewReader(body), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Visit{
		Activity: catalog.Activity{URL: url, Start: day, End: day.Add(time.Second), Outcome: catalog.Archived, Status: 200},
		Kept:     &Kept{Ref: ref, Type: "text/csv", FileName: "a.csv", Inside: &inspect.Inside{Tables: []*csvprofile.Profile{profile}}},
	}
}

// behind runs f while the turn to write is taken, and returns when f has ended after that. f is given what lets the
// turn go.
func behind(t *testing.T, a *Archive, f func(release func())) {
	t.Helper()
	taken, free := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		_ = a.DB().Update(context.Background(), func(*kv.Txn) error { close(taken); <-free; return nil })
	})
	<-taken
	f(sync.OnceFunc(func() { close(free) }))
	wait.Wait()
}

// waitForShares returns when n visits wait to be committed.
func waitForShares(a *Archive, n int) {
	for {
		a.together.mu.Lock()
		waiting := len(a.together.waiting)
		a.together.mu.Unlock()
		if waiting >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestVisitsThatWaitAreOneTransactionAndTheArchiveIsTheSame(t *testing.T) {
	t.Parallel()
	const visits = 40
	refused := errors.New("the lease has ended")
	// Of one host, some with the same bytes; two cannot be committed.
	url := func(i int) string { return fmt.Sprintf("http://data.example/%d.csv", i) }
	table := func(i int) string { return fmt.Sprintf("name,number\nTrees,%d\nRoads,%d\n", i/3, i/3+1) }
	also := func(i int) error {
		switch i {
		case 7:
			return refused
		case 11:
			panic("of this visit's bytes")
		}
		return nil
	}
	check := func(i int, err error) {
		var panicked *supervise.Panic
		switch {
		case i == 7 && !errors.Is(err, refused), i == 11 && !errors.As(err, &panicked), i != 7 && i != 11 && err != nil:
			t.Errorf("visit %d: %v", i, err)
		}
	}
	fill := func() (a *Archive, all []Visit) {
		a = newArchive(t)
		for i := range visits {
			register(t, a, catalog.Seed{URL: url(i), Portal: "http://portal.example/", Format: "CSV"})
			all = append(all, tableVisit(t, a, url(i), table(i)))
		}
		return a, all
	}

	one, all := fill()
	for i, v := range all {
		check(i, supervise.Contain(func() error {
			_, err := one.CommitWith(t.Context(), v, func(Txn, catalog.Activity) error { return also(i) })
			return err
		}))
	}
	together, all := fill()
	var mu sync.Mutex
	txns := map[*kv.Txn]int{}
	behind(t, together, func(release func()) {
		var wait sync.WaitGroup
		for i, v := range all {
			wait.Go(func() {
				_, err := together.CommitTogether(t.Context(), v, func(txn Txn, _ catalog.Activity) error {
					mu.Lock()
					txns[txn.KV()]++
					mu.Unlock()
					return also(i)
				})
				check(i, err)
			})
		}
		waitForShares(together, visits)
		release()
		wait.Wait()
	})
	if len(txns) > 6 { // three of all that is left, and some for what failed
		t.Errorf("%d visits were %d transactions: %v", visits, len(txns), txns)
	}
	join(t, one)
	join(t, together)
	if !maps.Equal(triplesOf(t, one), triplesOf(t, together)) {
		t.Error("the triples differ")
	}
	a, err := one.Stats(t.Context())
	b, err2 := together.Stats(t.Context())
	if err != nil || err2 != nil || fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
		t.Errorf("figures differ:\n%+v\n%+v (%v, %v)", a, b, err, err2)
	}
	if found, err := together.Search(t.Context(), catalog.Search{Text: "data.example"}); err != nil || found.Total != visits {
		t.Errorf("%d found, %v; want %d", found.Total, err, visits)
	}
}

func TestAVisitWhoseCallerLeavesIsNotCommittedAndTheOthersAre(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file}, catalog.Seed{URL: "http://data.example/b.csv"})
	first, second := tableVisit(t, a, file, "a,b\n1,2\n"), tableVisit(t, a, "http://data.example/b.csv", "a,b\n1,3\n")
	leaving, leave := context.WithCancel(t.Context())
	nothing := func(Txn, catalog.Activity) error { return nil }
	behind(t, a, func(release func()) {
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := a.CommitTogether(leaving, first, nothing); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller left: %v", err)
			}
		})
		waitForShares(a, 1) // it leads
		wait.Go(func() {
			if act, err := a.CommitTogether(t.Context(), second, nothing); err != nil || act.Version == "" {
				t.Errorf("the other: %+v, %v", act, err)
			}
		})
		waitForShares(a, 2)
		leave()
		for a.together.has(2) {
			time.Sleep(time.Millisecond)
		}
		release()
		wait.Wait()
	})
	if versions, err := a.Versions(t.Context(), file); len(versions) != 0 {
		t.Errorf("%d versions of it, %v", len(versions), err)
	}
}

func (t *together) has(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) >= n
}

func TestVisitsThatWereAnnouncedWaitForEachOtherAMoment(t *testing.T) {
	t.Parallel()
	const visits = 12
	a := newArchive(t)
	var all []Visit
	for i := range visits {
		url := fmt.Sprintf("http://data.example/%d.csv", i)
		register(t, a, catalog.Seed{URL: url})
		all = append(all, tableVisit(t, a, url, fmt.Sprintf("a,b\n1,%d\n", i)))
	}
	var mu sync.Mutex
	txns := map[*kv.Txn]int{}
	var wait sync.WaitGroup
	commits := []func(){}
	for i, v := range all {
		ctx, over := a.Announce(t.Context())
		commits = append(commits, func() {
			defer over()
			if i == 3 {
				return // it failed before
			}
			_, err := a.CommitTogether(ctx, v, func(txn Txn, _ catalog.Activity) error {
				mu.Lock()
				defer mu.Unlock()
				txns[txn.KV()]++
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for _, commit := range commits {
		wait.Go(commit)
	}
	wait.Wait()
	most := 0
	for _, n := range txns {
		most = max(most, n)
	}
	if most < visits/2 { // all, unless the machine is busy
		t.Errorf("%d visits were %d transactions of at most %d", visits-1, len(txns), most)
	}
	if left := a.together.coming.Load(); left != 0 {
		t.Errorf("%d announced visits are left", left)
	}

	_, over := a.Announce(t.Context()) // and never comes
	defer over()
	begun := time.Now()
	if _, err := a.CommitTogether(t.Context(), all[3], nil); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < gatherTime {
		t.Errorf("it waited %s only", took)
	}
}
