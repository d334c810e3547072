package archive

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

func TestOnlyResourcesWithAVersionAreWalkedEachOnceAndAfterAnId(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var want []string
	for i := range 9 {
		address := fmt.Sprintf("http://data%d.example/%d.csv", i%4, i)
		register(t, a, catalog.Seed{URL: address})
		for n := range i % 3 {
			visit(t, a, address, fmt.Sprintf("a,b\n%d,%d\n", i, n), day.Add(time.Duration(n)*time.Hour))
		}
		if id, err := records.ResourceID(address); err == nil && i%3 > 0 {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	walk := func(after string, most int) (got []string) {
		err := a.Archived(t.Context(), after, func(r catalog.Resource) bool { got = append(got, r.ID); return len(got) < most })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := walk("", 100); !slices.Equal(got, want) {
		t.Errorf("walked %v, want %v", got, want)
	}
	if got := walk(want[1], 2); !slices.Equal(got, want[2:4]) {
		t.Errorf("after %s: %v, want %v", want[1], got, want[2:4])
	}
	if got := walk(want[len(want)-1], 2); got != nil {
		t.Errorf("after the last: %v", got)
	}
}

func TestFiguresAreTheSameWithAndWithoutRowsInMemory(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	for i := range 20 {
		address := fmt.Sprintf("http://data%d.example/%d.csv", i%7, i)
		register(t, a, catalog.Seed{URL: address, Portal: fmt.Sprintf("http://portal%d.example/", i%3)})
		visit(t, a, address, fmt.Sprintf("a,b\n1,%d\n", i), day)
	}
	cold, err := a.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.LoadSearch(t.Context()); err != nil {
		t.Fatal(err)
	}
	warm, err := a.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if cold.Hosts != 7 || warm.Hosts != cold.Hosts {
		t.Errorf("hosts: %d, with rows in memory %d, want 7", cold.Hosts, warm.Hosts)
	}
	if n := len(triplesOf(t, a)); warm.Triples != n {
		t.Errorf("%d triples counted, %d there", warm.Triples, n)
	}
}
