package inspect

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/detect"
)

func inspect(t *testing.T, name string, body []byte) *Inside {
	t.Helper()
	in := Input{Name: name, Size: int64(len(body)), Body: bytes.NewReader(body)}
	var err error
	if in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: in.Size, Body: in.Body}); err != nil {
		t.Fatal(err)
	}
	inside, err := File(t.Context(), in, Limits{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return inside
}

const trees = "id,species,height\n1,Tilia cordata,12.5\n2,Acer,8.0\n3,Quercus robur,21.25\n"

func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTablesAreFoundWhereverTheyAre(t *testing.T) {
	t.Parallel()
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := w.Write([]byte(trees)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if in := inspect(t, "trees.csv", []byte(trees)); in == nil || len(in.Tables) != 1 || in.Tables[0].Rows != 3 {
		t.Errorf("a CSV file: %+v", in)
	}
	aligned := "place     people  area\n" + strings.Repeat("Wien     1911191  414.9\nGraz      291072  127.6\n", 3)
	if in := inspect(t, "places.csv", []byte(aligned)); in == nil || len(in.Tables) != 1 || len(in.Tables[0].Columns) != 3 ||
		in.Tables[0].Rows != 6 {
		t.Errorf("columns aligned by blanks, called CSV: %+v", in)
	}
	if in := inspect(t, "trees.json", []byte(`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`)); in == nil || len(in.Tables) != 1 ||
		in.Tables[0].Rows != 2 {
		t.Errorf("a JSON file: %+v", in)
	}
	if in := inspect(t, "trees.csv.gz", gz.Bytes()); in == nil || len(in.Members) != 1 || len(in.Members[0].Tables) != 1 ||
		in.Members[0].Tables[0].Rows != 3 {
		t.Errorf("a compressed CSV file: %+v", in)
	}
	in := inspect(t, "all.zip", zipped(t, "data/trees.csv", trees, "README.txt", "About these trees.\n"))
	if in == nil || len(in.Members) != 2 {
		t.Fatalf("a zip: %+v", in)
	}
	paths := []string{in.Members[0].Path, in.Members[1].Path}
	if !slices.Equal(paths, []string{"data/trees.csv", "README.txt"}) || in.Members[0].Type != "text/csv" ||
		len(in.Members[0].Tables) != 1 || len(in.Members[1].Tables) != 0 {
		t.Errorf("members of the zip: %+v", in.Members)
	}
}

func TestRDFIsCountedAndItsFaultsHaveAPlace(t *testing.T) {
	t.Parallel()
	in := inspect(t, "a.ttl", []byte("@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<http://e/a> foaf:name \"A\" ; a foaf:Person .\n"))
	if in == nil || in.RDF == nil || in.RDF.Triples != 2 || len(in.RDF.Classes) != 1 {
		t.Errorf("Turtle: %+v", in)
	}
}

func TestNothingInsideIsNothingToTell(t *testing.T) {
	t.Parallel()
	if in := inspect(t, "a.txt", []byte("Just a sentence, and no more of it.\n")); in != nil {
		t.Errorf("a plain text: %+v, want nil", in)
	}
}

func TestWhatCannotBeReadIsToldInASentence(t *testing.T) {
	t.Parallel()
	whole := zipped(t, "a.csv", strings.Repeat(trees, 50))
	in := inspect(t, "broken.zip", whole[:len(whole)/2])
	if in == nil || len(in.Faults) == 0 || !strings.Contains(in.Faults[0], "broken.zip") {
		t.Errorf("half a zip: %+v, want a fault that names it", in)
	}
}

func TestAnEndedContextIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := File(ctx, Input{Found: detect.Detection{Type: "text/csv"}, Size: 5, Body: strings.NewReader("a,b\n1")},
		Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestABodyInMemoryIsReadAsAnyOther(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 50_000, 300_000} {
		data := crawledTable(3, size)
		in := Input{Found: detect.Detection{Type: "text/csv"}, Name: "a.csv", Size: int64(len(data)), Body: bytes.NewReader(data)}
		want, err := File(t.Context(), in, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(data)
		in.Body = held{bytes.NewReader(data), data}
		got, err := File(t.Context(), in, Limits{})
		if err != nil || !reflect.DeepEqual(got, want) || !bytes.Equal(data, before) {
			t.Errorf("%d bytes: %+v, %v; want %+v", size, got, err, want)
		}
	}
}
