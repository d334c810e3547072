package archive

import (
	"errors"
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
	const id = "0123456789abcdef01234567_3"
	head, sum := [8]byte{1}, [32]byte{2}
	if err := a.KeepBlockDigests(t.Context(), []BlockDigest{{Version: id, Head: head, SHA256: sum}}); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := a.BlockDigest(id, head); err != nil || !ok || got != sum {
		t.Errorf("%x, %t, %v", got, ok, err)
	}
	if _, ok, err := a.BlockDigest(id, [8]byte{9}); err != nil || ok {
		t.Errorf("the digest of another head was returned: %v", err)
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
