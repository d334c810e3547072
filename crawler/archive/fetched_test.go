package archive

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
)

func TestAVersionIsReturnedWithTheVisitThatStoredIt(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const url = "http://data.example/a.csv"
	register(t, a, catalog.Seed{URL: url, Format: "CSV"})
	visit(t, a, url, "a\n1\n", day)
	visit(t, a, url, "a\n2\n", day.Add(time.Hour))
	for n, at := range []time.Time{day, day.Add(time.Hour)} {
		f, err := a.Fetched(ns.VersionID(latestResource(t, a, url), n))
		if err != nil || f.N != n || !f.Visit.Start.Equal(at) || f.Visit.Version != f.ID || f.Format != "CSV" {
			t.Errorf("version %d: %+v, %v", n, f, err)
		}
	}
	if _, err := a.Fetched("0123456789abcdef01234567_0"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestABlockDigestIsKnownForItsHeadOnly(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const url = "http://data.example/a.csv"
	register(t, a, catalog.Seed{URL: url})
	visit(t, a, url, "a\n1\n", day)
	visit(t, a, url, "a\n2\n", day.Add(time.Hour))
	resource := latestResource(t, a, url)
	ids := []string{ns.VersionID(resource, 0), ns.VersionID(resource, 1)}
	head, sum := [8]byte{1}, [32]byte{2}
	if err := a.KeepBlockDigests(t.Context(), []BlockDigest{{Version: ids[1], Head: head, SHA256: sum}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := a.EachFetched(ids, func(i int, v Fetched, digest func([8]byte) ([32]byte, bool, error)) error {
		first, ok, err := digest(head)
		_, other, _ := digest([8]byte{9})
		got = append(got, fmt.Sprint(i, v.ID == ids[i], v.N, v.Visit.Version == v.ID, ok, first == sum, other, err))
		return nil
	})
	if want := "[0 true 0 true false false false <nil> 1 true 1 true true true false <nil>]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	err = a.EachFetched([]string{ids[0], "0123456789abcdef01234567_0"},
		func(int, Fetched, func([8]byte) ([32]byte, bool, error)) error { return nil })
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown version: %v", err)
	}
}

func latestResource(t *testing.T, a *Archive, url string) string {
	t.Helper()
	r, err := a.Resource(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}
