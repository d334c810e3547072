package archive

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/term"
)

func table(t *testing.T, a *Archive, body string, at time.Time) Visit {
	t.Helper()
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := csvprofile.Read(t.Context(), strings.NewReader(body), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Visit{Activity: catalog.Activity{URL: file, Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200},
		Kept: &Kept{Ref: ref, Type: "text/csv", FileName: "a.csv", Inside: &inspect.Inside{Tables: []*csvprofile.Profile{profile}}}}
}

func TestAVersionIsDescribedBeforeTheWriteTurn(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	for i, at := range []time.Time{day, day.Add(time.Hour), day.Add(time.Hour), day} { // the third and the fourth are moved
		v, err := table(t, a, fmt.Sprintf("a,b\n%d,2\n", i), at).bounded()
		if err != nil {
			t.Fatal(err)
		}
		id, err := records.ResourceID(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := a.draft(t.Context(), id, v)
		if err != nil {
			t.Fatal(err)
		}
		act, err := a.Commit(t.Context(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		written, err := a.Version(t.Context(), act.Version)
		if err != nil || !d.is(written) || !reflect.DeepEqual(d.version.Headers, written.Headers) {
			t.Errorf("visit %d: %v\ndraft   %+v\nwritten %+v", i, err, d.version, written)
		}
		if again, err := a.draft(t.Context(), id, v); err != nil || again.version.ID != "" {
			t.Errorf("a draft of the latest bytes: %+v, %v", again.version, err)
		}
	}
}

func TestAVisitWhoseDraftIsOvertakenIsDescribedAsItIs(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	const visits = 24
	var all sync.WaitGroup
	for i := range visits {
		v := table(t, a, fmt.Sprintf("a,b\n%d,2\n", i), day.Add(time.Duration(i)*time.Second))
		all.Go(func() {
			if _, err := a.Commit(t.Context(), v, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	versions, err := a.Versions(t.Context(), file)
	if err != nil || len(versions) != visits {
		t.Fatalf("%d versions of %d visits, %v", len(versions), visits, err)
	}
	described := map[term.Quad]bool{}
	if err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			described[q] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(triplesOf(t, a), described) {
		t.Error("the triples are not those that the records describe")
	}
}
