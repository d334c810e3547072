package archive

import (
	"errors"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// A version has an id and an IRI below each base that the archive has had. Thesis §4.2.1: "a concrete ds:hasVersion URL
// can be provided directly".
func TestAVersionIsMeantByItsIdAndEachOfItsIRIs(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	for i, body := range []string{"a,b\n1,2\n", "a,b\n1,3\n"} {
		visit(t, a, file, body, day.Add(time.Duration(i)*time.Hour))
	}
	a = belowAnotherBase(a)
	r, err := a.Resource(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	id := ns.VersionID(r.ID, 0)
	names := []string{id, a.mint.Version(id), a.mint.Column(id, 2), "http://archive.example/api/v1/get/file/id/" + id,
		"http://archive.example/get/file/id/" + id}
	for _, name := range names {
		v, err := a.Latest(t.Context(), name)
		if err != nil || v.ID != id {
			t.Errorf("Latest(%s) = %s, %v", name, v.ID, err)
		}
		if v, err = a.Version(t.Context(), name); err != nil || v.ID != id {
			t.Errorf("Version(%s) = %s, %v", name, v.ID, err)
		}
		of, err := a.Resource(t.Context(), name)
		if err != nil || of.URL != file {
			t.Errorf("Resource(%s) = %s, %v", name, of.URL, err)
		}
		all, err := a.Versions(t.Context(), name)
		if err != nil || len(all) != 2 {
			t.Errorf("Versions(%s): %d, %v", name, len(all), err)
		}
		if visits, err := a.Activities(t.Context(), catalog.ActivityQuery{URL: name}); err != nil || len(visits) != 2 {
			t.Errorf("Activities(%s): %d, %v", name, len(visits), err)
		}
		if found, err := a.Events(t.Context(), catalog.EventQuery{URL: name}); err != nil || len(found.List) != 2 {
			t.Errorf("Events(%s): %d, %v", name, len(found.List), err)
		}
		if got := a.URLOf(name); got != file {
			t.Errorf("URLOf(%s) = %s", name, got)
		}
	}
	for _, name := range []string{ns.VersionID(r.ID, 7), a.mint.Version(ns.VersionID(r.ID, 7)),
		"http://third.example/api/v1/get/file/id/" + id, a.mint.Activity("x")} {
		if _, err := a.Latest(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Latest(%s): %v, want ErrNotFound", name, err)
		}
		if _, err := a.Resource(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Resource(%s): %v, want ErrNotFound", name, err)
		}
	}
}

// An archive may crawl another copy of itself. Then a version's IRI is also the URL of a file, which keeps its own
// record.
func TestAVersionIRIThatWasRegisteredIsAResource(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	visit(t, a, file, "a,b\n1,2\n", day)
	r, err := a.Resource(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	iri := a.mint.Version(ns.VersionID(r.ID, 0))
	register(t, a, catalog.Seed{URL: iri})
	if of, err := a.Resource(t.Context(), iri); err != nil || of.URL != iri {
		t.Errorf("Resource(%s) = %s, %v", iri, of.URL, err)
	}
}
