package archive

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

func TestChangeStatsFollowEveryCommit(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	same := func(limit int) {
		t.Helper()
		got, err := a.ChangeStats(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		want, err := New(a.mint, a.db, a.triples, a.content).ChangeStats(t.Context(), limit) // decodes all tallies
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("held: %+v\nread: %+v, %v", got, want, err)
		}
	}
	same(0)
	random := rand.New(rand.NewPCG(3, 1))
	for i := range 40 {
		url := fmt.Sprintf("http://host%d.example/a.csv", random.IntN(7))
		register(t, a, catalog.Seed{URL: url, Portal: fmt.Sprintf("http://portal%d.example/", random.IntN(3))})
		visit(t, a, url, fmt.Sprintf("a,b\n%d,%d\n", i, random.IntN(5)), day.Add(time.Duration(i)*time.Minute))
		if i%3 == 0 {
			same(i % 4)
		}
	}
	same(0)
}

func TestChangeStatsAreReadWhileOthersCommit(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var running sync.WaitGroup
	for w := range 2 {
		url := fmt.Sprintf("http://host%d.example/a.csv", w)
		register(t, a, catalog.Seed{URL: url})
		running.Go(func() {
			for i := range 15 {
				visit(t, a, url, fmt.Sprintf("a,b\n%d,1\n", i), day.Add(time.Duration(i)*time.Minute))
			}
		})
		running.Go(func() {
			for range 30 {
				if _, err := a.ChangeStats(t.Context(), 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	s, err := a.ChangeStats(t.Context(), 0)
	if err != nil || len(s.Hosts) != 2 || s.Hosts[0].Changes.Versions != 14 || s.Hosts[1].Changes.Versions != 14 {
		t.Errorf("%+v, %v", s.Hosts, err)
	}
}
