package describe_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables"
	"odarchive/ns"
	"odarchive/testdata/shared"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// boxOf returns the place of a version with these tables, as WKT, or "".
func boxOf(list ...*csvprofile.Profile) string {
	box := ""
	for _, q := range describe.Inside(ns.Mint{Base: "http://archive/"}, catalog.Version{ID: "v_0"}, &inspect.Inside{Tables: list}) {
		if q.P.Value() == vocab.DCATBbox {
			box += q.O.Value()
		}
	}
	return box
}

func profileOf(t *testing.T, csv string) *csvprofile.Profile {
	t.Helper()
	p, err := csvprofile.Read(t.Context(), strings.NewReader(csv), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheTablesOfAVersionTellWhereItIs(t *testing.T) {
	t.Parallel()
	for csv, want := range map[string]string{
		"name,lat,lon\na,47.2692,11.4041\nb,47.5123,12.1\nc,47.1,10.9\n": "POLYGON((10.9 47.1, 12.1 47.1, 12.1 " +
			"47.5123, 10.9 47.5123, 10.9 47.1))",
		"Name;Breitengrad;Längengrad\na;47,2692;11,4041\nb;47,5;12,1\nc;47,1;10,9\n": "POLYGON((10.9 47.1, 12.1 47.1, 12.1 " +
			"47.5, 10.9 47.5, 10.9 47.1))",
		"id;Breite;Laenge\n1;3,5;12,5\n2;2,75;9,25\n3;3,1;8,4\n": "", // of streets
		"id,x,y\n1,10.25,20.5\n2,11.125,40.75\n3,90.5,60.25\n":   "", // of pixels
		"Ort,x,y\nInnsbruck,11.39454,47.26266\nWien,16.37208,48.20849\nGraz,15.43951,47.07071\n": "POLYGON((11.39454 47.07071, 16.37208 " +
			"47.07071, 16.37208 48.20849, 11.39454 48.20849, 11.39454 47.07071))",
		"id,geo_x,geo_y\n1,11.39454,47.26266\n2,11.39454,47.26266\n":                      "POINT(11.39454 47.26266)",
		"t,acc_lon[m/s2],acc_lat[m/s2]\n1,0.0251,0.1234\n2,-0.1250,0.2345\n3,0.75001,0.1": "", // of a car
		"lat,name\n47.1,a\n47.2,b\n":                                                      "",
		"lat,lon\n147.123,11.123\n47.2,12.2\n":                                            "", // no latitudes
	} {
		if got := boxOf(profileOf(t, csv)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", csv, got, want)
		}
	}
}

func TestFeaturesOfGeoJSONTellWhereTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[11.4,47.2]}},
		  {"type":"Feature","properties":{"a":2},"geometry":null},{"type":"Feature","properties":{"a":3},"geometry":{"type":"LineString","coordinates":[[10.5,47],[11,46.9]]}}]}`: "POLYGON((10.5 46.9, 11.4 46.9, 11.4 47.2, 10.5 47.2, 10.5 46.9))",
		`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[400000,` +
			`300000]}}]}`: "",
		`[{"geometry":{"type":"none"},"a":1},{"geometry":"POINT(1 2)","a":2}]`: "",
	} {
		found, err := tables.Read(t.Context(),
			tables.Input{Body: strings.NewReader(text), Size: int64(len(text)), Type: "application/geo+json"}, tables.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := boxOf(found...); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// The tables of real portals: only those that were looked at and have places have a box.
func TestRealTablesHaveABoxOnlyIfTheyHavePlaces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads hundreds of tables")
	}
	placed := []string{"countries.csv", "test116.csv", "test125.csv", "test126.csv", "cityList.csv", "OccurrenceData351.csv", "zips.csv"}
	dir := shared.Data(t, "csv", "files")
	var names []string
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}); err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := csvprofile.Read(t.Context(), f, csvprofile.Options{MaxBytes: 4 << 20})
		f.Close()
		if err != nil {
			continue
		}
		if box, is := boxOf(p), slices.Contains(placed, filepath.Base(name)); (box != "") != is {
			t.Errorf("%s has the box %q", filepath.Base(name), box)
		}
	}
}

func TestTheQueryOfTheReadmeFindsTheTablesInTyrol(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, query, found := strings.Cut(string(readme), "Which tables lie in Tyrol?")
	_, query, ok := strings.Cut(query, "```sparql\n")
	if query, _, _ = strings.Cut(query, "```"); !found || !ok {
		t.Fatal("the README has no such query")
	}
	var quads []term.Quad
	for id, csv := range map[string]string{"tyrol": "n,lat,lon\na,47.2692,11.4041\nb,47.5123,12.1\n",
		"vienna": "n,lat,lon\na,48.21,16.37\nb,48.25,16.4\n"} {
		quads = append(quads, describe.Inside(ns.Mint{Base: "http://archive/"}, catalog.Version{ID: id},
			&inspect.Inside{Tables: []*csvprofile.Profile{profileOf(t, csv)}})...)
	}
	r, err := sparql.New(sparql.Options{}).Query(t.Context(), naive.New(quads...).Snapshot(), query, sparql.QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var tables []string
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, row[0].Value())
	}
	if want := (ns.Mint{Base: "http://archive/"}).Version("tyrol"); len(tables) != 1 || tables[0] != want {
		t.Errorf("found %v, want %s", tables, want)
	}
}
