package sparql_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/shared"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
)

var update = flag.Bool("update", false, "rewrite the expected plans")

// portals writes a year of an archive as N-Quads: 12 portals, 60 datasets of each, 1 to 3 files of each dataset, 1 to 4
// versions of each file, a table with 2 to 7 columns for each version that is CSV, 1 to 6 visits of each file. It is
// the same each time: the estimates in the expected plans are its statistics. The terms are those of testdata/shapes.
func portals(w io.Writer) {
	const arc, dcat, dct, csvw, prov = "https://archive.example.org/ns#", "http://www.w3.org/ns/dcat#", "http://purl.org/dc/terms/",
		"http://www.w3.org/ns/csvw#", "http://www.w3.org/ns/prov#"
	const a = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
	iri := func(s string) string { return "<" + s + ">" }
	text := func(s string) string { return fmt.Sprintf("%q", s) }
	typed := func(s, datatype string) string {
		return fmt.Sprintf("%q^^<http://www.w3.org/2001/XMLSchema#%s>", s, datatype)
	}
	add := func(s, p, o string) { fmt.Fprintf(w, "%s <%s> %s .\n", s, p, o) }
	day := func(n int) string {
		return typed(fmt.Sprintf("%d-%02d-%02dT%02d:00:00Z", 2018+n%3, 1+n%12, 1+n%28, n%24), "dateTime")
	}
	names := []string{"https://data.gov", "https://data.gov.uk", "https://opendata.swiss", "https://dati.gov.it", "https://data.gov.ie",
		"http://data.gv.at"}
	types := []string{"text/csv", "text/csv", "text/csv", "application/json", "text/html", "application/pdf", "application/zip", "text/xml"}
	words := []string{"wasser", "energie", "haushalt", "museum", "climate", "budget", "forest"}
	hosts := []string{"services.cuzk.cz", "data.opendatasoft.com", "satc.rncan.gc.ca", "geo.vliz.be"}
	columns := []string{"year", "Bundesland", "PLZ", "NUTS1", "NUTS2", "NUTS3", "REF_YEAR", "name", "value"}
	file := 0
	for p := range 12 {
		portal := iri(fmt.Sprintf("http://portal%d.example", p))
		if p < len(names) {
			portal = iri(names[p])
		}
		add(portal, a, iri(dcat+"Catalog"))
		add(portal, dct+"title", text(fmt.Sprintf("portal %d", p)))
		for d := range 60 {
			dataset := iri(fmt.Sprintf("http://portal%d.example/dataset/%d", p, d))
			add(portal, dcat+"dataset", dataset)
			add(dataset, a, iri(dcat+"Dataset"))
			add(dataset, dct+"title", text(fmt.Sprintf("%s %d of %d", words[d%len(words)], 2010+d%12, p)))
			add(dataset, arc+"hasPortal", portal)
			add(dataset, dcat+"keyword", text(words[(d*3+p)%len(words)]))
			for range 1 + d%3 {
				file++
				host := fmt.Sprintf("files%d.example", file%40)
				if file%40 < len(hosts) {
					host = hosts[file%40]
				}
				r := iri(fmt.Sprintf("http://%s/%d/%s.csv", host, file, words[file%len(words)]))
				if file == 453 {
					r = iri("https://opendata-114.example.net/files/0453/radweg-8e6ee047.csv") // which the shapes ask for
				}
				share := iri(fmt.Sprintf("http://portal%d.example/distribution/%d", p, file))
				media := types[file%len(types)]
				add(dataset, dcat+"distribution", share)
				add(share, dcat+"accessURL", r)
				add(r, a, iri(dcat+"Distribution"))
				add(r, arc+"hasPortal", portal)
				add(r, arc+"host", text(host))
				add(r, dcat+"mediaType", text(media))
				add(r, dct+"title", text(fmt.Sprintf("%s-%d.csv", words[file%len(words)], file)))
				for v := range 1 + file%4 {
					n := file*4 + v
					version := iri(fmt.Sprintf("http://archive.example/version/%d_%d", file, v))
					visit := iri(fmt.Sprintf("http://archive.example/activity/%d_%d", file, v))
					add(r, dct+"hasVersion", version)
					add(version, dct+"isVersionOf", r)
					add(version, dct+"issued", day(n))
					add(version, dct+"identifier", text(fmt.Sprintf("%032x", n%3000)))
					add(version, dcat+"byteSize", typed(fmt.Sprint(n*7919%30_000_000), "integer"))
					add(version, dcat+"mediaType", text(media))
					add(version, prov+"wasGeneratedBy", visit)
					if v > 0 {
						add(version, prov+"wasRevisionOf", iri(fmt.Sprintf("http://archive.example/version/%d_%d", file, v-1)))
					}
					add(visit, a, iri(prov+"Activity"))
					add(visit, prov+"used", r)
					add(visit, prov+"startedAtTime", day(n))
					add(visit, prov+"endedAtTime", day(n))
					add(visit, arc+"status", typed(fmt.Sprint([]int{200, 200, 200, 404, 503}[n%5]), "integer"))
					if media != "text/csv" {
						continue
					}
					table, dialect, schema := fmt.Sprintf("_:t%d", n), fmt.Sprintf("_:d%d", n), fmt.Sprintf("_:s%d", n)
					add(table, csvw+"url", version)
					add(table, arc+"rows", typed(fmt.Sprint(n*31%5000), "integer"))
					add(table, arc+"columns", typed(fmt.Sprint(2+n%6), "integer"))
					add(table, csvw+"dialect", dialect)
					add(dialect, csvw+"delimiter", text([]string{",", ";", "\\t"}[n%3]))
					add(dialect, csvw+"encoding", text("utf-8"))
					add(table, csvw+"tableSchema", schema)
					for c := range 2 + n%6 {
						column := iri(fmt.Sprintf("http://archive.example/version/%d_%d#%d", file, v, c+1))
						add(schema, csvw+"column", column)
						add(column, csvw+"name", text(columns[(n+c)%len(columns)]))
						add(column, csvw+"datatype", text([]string{"string", "integer", "decimal"}[(n+c)%3]))
					}
				}
			}
		}
	}
}

// planned returns a file of plans: of each query its name and what --explain prints of the plan on two processors.
func planned(t *testing.T, sn *triplestore.Snapshot, queries map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	e := sparql.New(sparql.Options{Workers: 2})
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		r, err := e.Query(t.Context(), sn, queries[name], sparql.QueryOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fmt.Fprintf(&out, "# %s\n%s\n", name, strings.TrimRight(r.Explain(), "\n")+"\n")
		r.Close()
	}
	return out.Bytes()
}

// TestThePlansOfTheQueriesOfTheBenchmarksStayAsTheyAre holds the plans of our shapes, and of the queries of the shared
// benchmark where these are at hand. After a change of plans that is meant, -update rewrites them: read the difference.
func TestThePlansOfTheQueriesOfTheBenchmarksStayAsTheyAre(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	var data bytes.Buffer
	portals(&data)
	if _, err := store.Load(t.Context(), rdfio.NewReader(&data, rdfio.NTriples(), rdfio.Options{})); err != nil {
		t.Fatal(err)
	}
	sn := store.Snapshot()
	t.Cleanup(sn.Release)
	t.Run("shapes", func(t *testing.T) { comparePlans(t, "testdata/plans/shapes.txt", planned(t, sn, shapes(t))) })
	for _, folder := range []string{"queries", "scaling"} {
		t.Run(folder, func(t *testing.T) {
			comparePlans(t, "testdata/plans/"+folder+".txt", planned(t, sn, queriesIn(t, shared.Bench(t, "sparql", folder))))
		})
	}
}

// queriesIn returns the queries in a folder by name.
func queriesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.rq"))
	if err != nil || len(files) == 0 {
		t.Fatal("no queries", err)
	}
	all := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".rq")] = string(text)
	}
	return all
}

func comparePlans(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was, is := bytes.Split(want, []byte("\n\n")), bytes.Split(got, []byte("\n\n"))
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || !bytes.Equal(was[i], is[i]) {
			var a, b []byte
			if i < len(was) {
				a = was[i]
			}
			if i < len(is) {
				b = is[i]
			}
			t.Fatalf("%s: the first plan that differs; -update rewrites all.\nwas:\n%s\nis:\n%s", golden, a, b)
		}
	}
}
