package describe

import (
	"archive/zip"
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/ns"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var mint = ns.Mint{Base: "http://archive.example/"}

const file = "http://data.example/trees.csv"

func at(minute int) time.Time { return time.Date(2026, 11, 21, 6, minute, 0, 0, time.UTC) }

func version() catalog.Version {
	return catalog.Version{ID: "0123456789abcdef01234567_1", URL: file, N: 1, Size: 42, Type: "text/csv", Charset: "utf-8",
		Because:  "cells separated by commas",
		FileName: "trees.csv", At: at(0), Activity: "0123456789abcdef01234567-1", Previous: "0123456789abcdef01234567_0", ETag: `"a"`}
}

// inside examines a file.
func inside(t *testing.T, name, body string) *inspect.Inside {
	t.Helper()
	in := inspect.Input{Name: name, Size: int64(len(body)), Body: strings.NewReader(body)}
	var err error
	if in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: in.Size, Body: in.Body}); err != nil {
		t.Fatal(err)
	}
	found, err := inspect.File(t.Context(), in, inspect.Limits{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func aZip(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "data/two columns.csv", Method: zip.Store, Modified: at(30)})
	if err == nil {
		_, err = f.Write([]byte("id,name\n1,Ada\n2,Bob\n"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// aKeyedZip has a table with keys of another.
func aKeyedZip(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{{"city.csv", "id,name\n1,Vienna\n2,Graz\n"}, {"people.csv", "name,city_id\nAda,1\nBob,2\nEve,1\n"}} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: file[0], Method: zip.Store, Modified: at(30)})
		if err == nil {
			_, err = f.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each golden file is the description of one thing, in Turtle.
func TestDescriptionsAreAsWrittenDown(t *testing.T) {
	t.Parallel()
	resource := catalog.Resource{URL: "http://data.example/trees and more.csv", Host: "data.example", Title: "Trees", FileName: "trees.csv",
		Format: "CSV", MediaType: "text/csv",
		Sources: []catalog.Source{{Portal: "http://data.example/", Dataset: "http://data.example/dataset/1", DatasetTitle: "Tree register"},
			{Portal: "not an IRI", Dataset: "urn:x:2"}}}
	failed := catalog.Activity{ID: "0123456789abcdef01234567-2", URL: file, FinalURL: "http://data.example/moved", Start: at(1), End: at(2),
		Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404, Why: "the server answered 404"}
	for name, quads := range map[string][]term.Quad{
		"resource": Resource(resource),
		"version":  Version(mint, version()),
		"activity": Activity(mint, failed),
		"table": Inside(mint, version(),
			inside(t, "trees.csv",
				"id,species,height,planted\n1,Tilia cordata,12.5,2001-03-04\n2,Acer,8.0,\n3,Quercus,21.25,1987-11-30\n")),
		"rdf": Inside(mint, version(),
			inside(t, "a.ttl", "@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<http://e/a> foaf:name \"A\" ; a foaf:Person .\n")),
		"faults": Inside(mint, version(),
			inside(t, "b.ttl",
				"@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<http://e/a> foaf:name oops .\n<http://e/b> foaf:name \"B\" .\n")),
		"joins": Joins(mint, []joins.Match{
			{Column: joins.Place{Version: version().ID, Column: 1}, Name: "species",
				Other:     joins.Place{Version: "76543210fedcba9876543210_4", Member: "a b.csv", Table: 1, Column: 2},
				OtherName: "name", Containment: 1, Reverse: 0.25, Jaccard: 0.25},
			{Column: joins.Place{Version: version().ID}, Name: "id", Other: joins.Place{Version: "76543210fedcba9876543210_4"},
				Containment: 0.2, Reverse: 0.9, Jaccard: 0.2}}),
		"zip":  Inside(mint, version(), inside(t, "a.zip", aZip(t))),
		"keys": Inside(mint, version(), inside(t, "keys.zip", aKeyedZip(t))),
	} {
		compare(t, filepath.Join("testdata", name+".ttl"), quads)
	}
}

func TestSameResourceReportsEveryDifferenceThatIsDescribed(t *testing.T) {
	t.Parallel()
	full := catalog.Resource{
		ID: "0123456789abcdef01234567", URL: "http://data.example/a.csv", Host: "data.example", Title: "Trees", Format: "CSV",
		MediaType: "text/csv", FileName: "a.csv",
		Sources:  []catalog.Source{{Portal: "http://p.example/", Dataset: "http://p.example/d", DatasetTitle: "d", Delisted: at(3)}},
		Portals:  []string{"http://p.example/"},
		Datasets: []string{"http://p.example/d"}, DatasetTitle: "d", SourcesOmitted: 1, Added: at(1), Versions: 2, ErrorPages: 1,
		OutOfOrder: true, NewestN: 1, Size: 5,
		FirstSeen: at(1), Changed: at(2), Visits: 3, Errors: 1, LastVisit: at(4), NextVisit: at(5), Interval: 1, Stopped: true,
		Outcome:    catalog.NoVersion,
		ErrorClass: catalog.ErrDNS, Why: "why",
	}
	if !SameResource(full, full) {
		t.Error("a resource differs from itself")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[catalog.Resource]()) {
		other := full
		of := reflect.ValueOf(&other).Elem().FieldByIndex(field.Index)
		if of.IsZero() {
			t.Errorf("%s is not set", field.Name)
		}
		of.SetZero()
		if SameResource(full, other) && !slices.Equal(Resource(full), Resource(other)) {
			t.Errorf("%s is described, and not compared", field.Name)
		}
	}
}

func compare(t *testing.T, golden string, quads []term.Quad) {
	t.Helper()
	sorted := slices.Clone(quads)
	slices.SortStableFunc(sorted, func(a, b term.Quad) int { return strings.Compare(string(a.S), string(b.S)) })
	var got bytes.Buffer
	w := rdfio.NewWriter(&got, rdfio.Turtle(), vocab.Prefixes())
	for _, q := range sorted {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s (rewrite with -update):\n%s", golden, got.String())
	}
}

func TestAddressesOfStrangersBecomeIRIs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://e/a b":          "http://e/a%20b",
		"http://e/<x>\"{}|\\^`": "http://e/%3Cx%3E%22%7B%7D%7C%5C%5E%60",
		"http://e/é%20\n":       "http://e/é%20%0A",
		"http://e/\xff":         "http://e/\uFFFD",
	} {
		if got := IRI(in).Value(); got != want {
			t.Errorf("IRI(%q) = %q, want %q", in, got, want)
		}
	}
}
