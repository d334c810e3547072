package quality

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @base <http://p.example/> .
`

func read(t testing.TB, turtle string) []term.Quad {
	t.Helper()
	var all []term.Quad
	for q, err := range rdfio.NewReader(strings.NewReader(prefixes+turtle), rdfio.Turtle(),
		rdfio.Options{Base: "http://p.example/"}).All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}

// The values were computed by hand from the definitions of the metrics.
func TestQualityOfDatasetsWorkedOutByHand(t *testing.T) {
	t.Parallel()
	known := func(address string) Known {
		switch address {
		case "http://p.example/a.csv":
			return Known{Visited: true, Retrieved: true, MediaType: "text/csv", Size: 1000}
		case "http://p.example/a.pdf":
			return Known{Visited: true, Retrieved: true, MediaType: "text/html", Size: 500}
		case "http://p.example/gone.csv":
			return Known{Visited: true}
		case "http://p.example/d":
			return Known{Visited: true, Retrieved: true, MediaType: "text/html", Size: 1}
		}
		return Known{}
	}
	for _, c := range []struct{ about, turtle, want string }{
		{"nothing but a name", `<d> a dcat:Dataset .`,
			`ExistenceAccess 0, ExistenceDiscovery 0, ExistenceContact 0, ExistenceRights 0, ExistencePreservation 0, ExistenceDate 0, ` +
				`ExistenceTemporal 0, ExistenceSpatial 0, RetrievabilityDataset 1`},
		{"everything as it should be", `<d> dct:title "T" ; dct:description "D" ; dcat:keyword "k" ; dct:issued "2020-01-01"^^xsd:date ; dct:modified "2021-01-01T00:00:00Z"^^xsd:dateTime ;
			dct:temporal [ dcat:startDate "2020"^^xsd:gYear ] ; dct:spatial <http://sws.geonames.org/2761369/> ; dct:accrualPeriodicity <http://publications.europa.eu/resource/authority/frequency/DAILY> ;
			dcat:contactPoint [ vcard:hasEmail <mailto:a@p.example> ; vcard:hasURL <http://p.example/contact> ] ; dcat:distribution <a.csv> .
			<a.csv> dcat:accessURL <a.csv> ; dct:format "CSV" ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/csv> ; dcat:byteSize 1020 ; dct:license <https://creativecommons.org/licenses/by/4.0/> .`,
			`ExistenceAccess 1, ExistenceDiscovery 1, ExistenceContact 1, ExistenceRights 1, ExistencePreservation 1, ExistenceDate 1, ` +
				`ExistenceTemporal 1, ExistenceSpatial 1, ` +
				`ConformanceAccess 1, ConformanceEmail 1, ConformanceURL 1, ConformanceDate 1, ` +
				`ConformanceLicense 1, ConformanceFormat 1, ` +
				`RetrievabilityDataset 1, RetrievabilityDistribution 1, AccuracyFormat 1, AccuracySize 1, OpennessFormat 1, ` +
				`OpennessMachineReadable 1, OpennessLicense 1`},
		// Discovery: title, no description, a theme: 2/3. Preservation: no period, both have a format (1), one of two a
		// size (1/2): 1.5/3. Dates: issued only: 1/2; it is no date. URLs: two of three. Formats: CSV and PDF are
		// known, "data" is not. Files: a.pdf was retrieved, gone.csv was not. a.pdf is HTML of 500 bytes; 1000 were
		// declared.
		{"some of it", `<d> dct:title "T" ; dcat:theme "traffic" ; dct:issued "spring" ; dct:publisher <org> ; dcat:distribution <a.pdf>, <gone.csv> ; dct:license "nobody knows" .
			<org> foaf:name "Org" ; foaf:mbox "not an address" ; foaf:homepage <http://org.example/> .
			<a.pdf> dcat:accessURL <a.pdf> ; dct:format "PDF" ; dcat:byteSize 1000 .
			<gone.csv> dcat:downloadURL <gone.csv> ; dcat:accessURL "see the web site" ; dct:format [ rdfs:label "csv" ] ; dcat:mediaType "data" .`,
			`ExistenceAccess 1, ExistenceDiscovery 0.6667, ExistenceContact 1, ExistenceRights 1, ExistencePreservation 0.5, ` +
				`ExistenceDate 0.5, ExistenceTemporal 0, ExistenceSpatial 0, ` +
				`ConformanceAccess 0.6667, ConformanceEmail 0, ConformanceURL 1, ConformanceDate 0, ConformanceLicense 0, ` +
				`ConformanceFormat 0.6667, ` +
				`RetrievabilityDataset 1, RetrievabilityDistribution 0.5, AccuracyFormat 0, AccuracySize 0, OpennessFormat 1, ` +
				`OpennessMachineReadable 0.5, OpennessLicense 0`},
		// One of three files has an address; a licence that is known but not open, and one that is; an Excel file is
		// machine-readable, not open.
		{"licences and formats",
			`<e> dct:license "cc-by-nc" ; dcat:distribution _:a, _:b, _:c . _:a dcat:accessURL <http://p.example/x.xls> ; dct:format ` +
				`"XLS" ; dct:license "Creative Commons Zero" . _:b dct:format ".geojson" . _:c dct:title "none" .`,
			`ExistenceAccess 0.3333, ExistenceDiscovery 0, ExistenceContact 0, ExistenceRights 1, ExistencePreservation 0.2222, ` +
				`ExistenceDate 0, ExistenceTemporal 0, ExistenceSpatial 0, ` +
				`ConformanceAccess 1, ConformanceLicense 1, ConformanceFormat 1, OpennessFormat 0.5, OpennessMachineReadable 1, ` +
				`OpennessLicense 0.5`},
	} {
		quads := read(t, c.turtle)
		var got []string
		for _, m := range Measure(quads[0].S, quads, known) {
			got = append(got, fmt.Sprintf("%s %v", m.Metric.Name, m.Value))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.about, strings.Join(got, ", "), c.want)
		}
	}
}

func TestLicencesAreKnownByTheirManyNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says, id string
		open     bool
	}{
		{"http://creativecommons.org/licenses/by/3.0/at/deed.de", "CC-BY", true},
		{"https://creativecommons.org/licenses/by-nc-sa/4.0", "CC-BY-NC", false}, {"CC BY-SA 4.0", "CC-BY-SA", true},
		{"https://creativecommons.org/publicdomain/zero/1.0/", "CC0", true}, {"cc-zero", "CC0", true}, {"CC-BY-ND", "CC-BY-ND", false},
		{"http://www.opendefinition.org/licenses/cc-by", "CC-BY", true},
		{"http://www.opendatacommons.org/licenses/odbl/", "ODbL", true}, {"uk-ogl", "OGL-UK", true}, {"OGL v3", "OGL-UK", true},
		{"https://www.govdata.de/dl-de/by-2-0", "DL-DE-BY", true}, {"fr-lo", "Etalab", true},
		{"MIT", "MIT", true}, {"Mitwirkung", "", false}, {"notspecified", "", false}, {"", "", false},
		{"http://dcat-ap.de/def/licenses/dl-zero-de/2.0", "DL-DE-Zero", true},
		{"http://publications.europa.eu/resource/authority/licence/CC_BY_4_0", "CC-BY", true}, {"Public Domain", "CC-PDM", true},
		{"https://opensource.org/licenses/MIT", "MIT", true},
	} {
		if l, ok := catalog.LicenceOf(c.says); l.ID != c.id || l.Open != c.open || ok != (c.id != "") {
			t.Errorf("%q: %q open %v, want %q %v", c.says, l.ID, l.Open, c.id, c.open)
		}
	}
}

func TestFormatsAreKnownByTheirManyNames(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{"CSV": "CSV", ".csv": "CSV", "text/csv; charset=utf-8": "CSV",
		"http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE": "Turtle",
		"https://www.iana.org/assignments/media-types/application/json":         "JSON", "Esri Shapefile": "Shapefile",
		"application/vnd.acme.thing": "application/vnd.acme.thing", "data": "", "application/x-foo": "", "": ""} {
		if f, ok := formatOf(says); f.name != want && (want != "" || ok) {
			t.Errorf("%q: %q, want %q", says, f.name, want)
		}
	}
}

func TestEveryMetricIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../ns/arc.ttl")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Metrics() {
		if !strings.Contains(string(doc), "arc:"+m.Name+" a dqv:Metric ;\n\trdfs:label \""+m.Label+"\"@en ;") ||
			!strings.Contains(string(doc), "arc:"+m.Dimension+" a dqv:Dimension") {
			t.Errorf("ns/arc.ttl does not document arc:%s as %q in arc:%s", m.Name, m.Label, m.Dimension)
		}
	}
}

func keeper(t testing.TB, turtle string) Keeper {
	t.Helper()
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
	k := Keeper{Triples: store, Mint: ns.Mint{Base: "http://a.example/"},
		Known: func(context.Context, string) (Known, error) { return Known{}, nil }}
	replace(t, k, turtle)
	return k
}

func replace(t testing.TB, k Keeper, turtle string) {
	t.Helper()
	graph := term.IRI(k.Mint.Graph("http://p.example/"))
	err := k.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		if err := txn.ClearGraph(graph); err != nil {
			return err
		}
		if err := txn.Insert(term.Quad{S: term.IRI("http://p.example/"), P: term.IRI(vocab.RDFType), O: term.IRI(vocab.DCATCatalog),
			G: graph}); err != nil {
			return err
		}
		for _, q := range read(t, turtle) {
			q.G = graph
			if err := txn.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func stored(t testing.TB, k Keeper) (n int) {
	t.Helper()
	err := k.Triples.View(t.Context(), func(sn *triplestore.Snapshot) error {
		return each(t.Context(), sn, "", term.IRI(vocab.DQVComputedOn), "", term.IRI(Graph(k.Mint, "http://p.example/")),
			func(term.Quad) error {
				n++
				return nil
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOnlyWhatChangedIsWrittenAnew(t *testing.T) {
	t.Parallel()
	k := keeper(t, `<http://p.example/> dcat:dataset <a>, <b> . <a> dct:title "A" . <b> dct:title "B" ; dct:description "b" .`)
	portals, err := k.Portals(t.Context())
	if err != nil || len(portals) != 1 || portals[0] != "http://p.example/" {
		t.Fatalf("portals %q, %v", portals, err)
	}
	table, err := k.Measure(t.Context(), portals[0])
	if err != nil || table.Datasets != 2 || table.Changed != 2 || table.Rows[1].Mean != 0.5 || table.Rows[1].Datasets != 2 {
		t.Fatalf("%+v, %v", table, err)
	}
	if n := stored(t, k); n != 24 { // eight for each dataset and the portal
		t.Fatalf("%d measurements", n)
	}
	before := k.Triples.Snapshot()
	position := before.Position()
	before.Release()
	if table, err = k.Measure(t.Context(), portals[0]); err != nil || table.Changed != 0 {
		t.Fatalf("%+v, %v", table, err)
	}
	after := k.Triples.Snapshot()
	if after.Position() != position {
		t.Error("nothing changed, and yet something was committed")
	}
	after.Release()
	replace(t, k, `<http://p.example/> dcat:dataset <a> . <a> dct:title "A" ; dct:description "a" ; dcat:keyword "k" .`)
	if table, err = k.Measure(t.Context(), portals[0]); err != nil || table.Changed != 1 || table.Rows[1].Mean != 1 {
		t.Fatalf("%+v, %v", table, err)
	}
	if n := stored(t, k); n != 16 {
		t.Fatalf("%d measurements behind a dataset that is gone", n)
	}
}

// says replaces statements of the portal's graph, as a harvest does, and returns the position before.
func (k Keeper) says(t testing.TB, drop, add string) uint64 {
	t.Helper()
	position := k.Position()
	err := k.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		graph := term.IRI(k.Mint.Graph("http://p.example/"))
		for _, part := range []struct {
			turtle string
			do     func(term.Quad) error
		}{{drop, txn.Delete}, {add, txn.Insert}} {
			for _, q := range read(t, part.turtle) {
				q.G = graph
				if err := part.do(q); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return position
}

// harvested records which harvest made the portal's graph, and when it began.
func (k Keeper) harvested(t testing.TB, id string, began time.Time) {
	t.Helper()
	graph, by := term.IRI(k.Mint.Graph("http://p.example/")), term.IRI("http://a.example/activity/"+id)
	err := k.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		before, _, err := k.states(t.Context(), "http://p.example/")
		for _, o := range before {
			err = errors.Join(err, txn.Delete(term.Quad{S: graph, P: term.IRI(vocab.PROVWasGeneratedBy), O: o}))
		}
		return errors.Join(err, txn.Insert(term.Quad{S: graph, P: term.IRI(vocab.PROVWasGeneratedBy), O: by}),
			txn.Insert(term.Quad{S: by, P: term.IRI(vocab.PROVStartedAtTime),
				O: term.Typed(began.Format(time.RFC3339), vocab.XSDDateTime)}))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnUpdateGivesWhatMeasuringEverythingGives compares both after each of several changes.
func TestAnUpdateGivesWhatMeasuringEverythingGives(t *testing.T) {
	t.Parallel()
	k := keeper(t, `<> dcat:dataset <a>, <b>, <c>, <e>, <f> . <a> dct:title "A" ; dct:publisher <org> . <b> dct:title "B" ; dcat:distribution <b1> . <b1> dcat:accessURL <b1.csv> ; dct:format "CSV" .
		<c> dct:title "C" ; dct:publisher <org> . <e> dct:title "E" . <f> dct:title "F" . <org> foaf:name "Org" .`)
	measured, visited := 0, []string(nil)
	file := Known{}
	k.Known = func(_ context.Context, address string) (Known, error) {
		measured++
		if address == "http://p.example/b1.csv" {
			return file, nil
		}
		return Known{}, nil
	}
	k.Visited = func(_ context.Context, _ string, since time.Time) ([]string, bool, error) {
		if since.IsZero() {
			t.Error("visited since the beginning of time")
		}
		return visited, true, nil
	}
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	k.harvested(t, "0", began)
	if _, err := k.Measure(t.Context(), "http://p.example/"); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		about, drop, add string
		visit            bool
		changed          int
	}{
		{"nothing", ``, ``, false, 0},
		{"a title", `<a> dct:title "A" .`, ``, false, 1},
		{"a distribution's format", `<b1> dct:format "CSV" .`, `<b1> dct:format "nonsense" .`, false, 1},
		{"a publisher of two", ``, `<org> foaf:mbox "nobody" .`, false, 2},
		{"a new dataset", ``, `<> dcat:dataset <g> . <g> dct:title "G" ; dct:description "g" .`, false, 1},
		{"one that is withdrawn", `<> dcat:dataset <f> . <f> dct:title "F" .`, ``, false, 0},
		{"a file that was fetched", ``, ``, true, 1},
	} {
		position := k.says(t, c.drop, c.add)
		k.harvested(t, fmt.Sprint(i+1), began.Add(time.Duration(i)*time.Hour))
		if visited = nil; c.visit {
			visited, file = []string{"http://p.example/b"}, Known{Visited: true, Retrieved: true, MediaType: "text/csv", Size: 9}
		}
		measured = 0
		got, err := k.Update(t.Context(), "http://p.example/", position)
		if err != nil || got.Changed != c.changed || measured > 2*c.changed+2 {
			t.Errorf("%s: %d changed, want %d; %v; %d addresses looked up", c.about, got.Changed, c.changed, err, measured)
		}
		if current, err := k.Current(t.Context(), "http://p.example/"); err != nil || !current {
			t.Errorf("%s: is not current, %v", c.about, err)
		}
		n := stored(t, k)
		want, err := k.Measure(t.Context(), "http://p.example/")
		if err != nil || want.Changed != 0 || stored(t, k) != n {
			t.Errorf("%s: measuring everything changes %d datasets and makes %d measurements of %d, %v", c.about, want.Changed,
				stored(t, k), n, err)
		}
		if want.Changed = got.Changed; len(got.Rows) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: update gives %+v\nwant %+v", c.about, got, want)
		}
	}
}

// BenchmarkAHarvestThatChangesLittle measures the quality of a portal of 20,000 datasets after a harvest that changed
// ten.
func BenchmarkAHarvestThatChangesLittle(b *testing.B) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text,
			"<> dcat:dataset <d%d> . <d%d> dct:title \"Set %d\" ; dct:description \"About it\" ; dct:publisher <org%d> ; dct:issued "+
				"\"2020-01-01\" ; dcat:keyword \"k%d\" ; dcat:distribution <d%d/a>, <d%d/b> .\n", i, i, i, i%100, i%50, i, i)
		for _, f := range []string{"a", "b"} {
			fmt.Fprintf(&text, "<d%d/%s> dcat:accessURL <d%d/%s.csv> ; dct:format \"CSV\" ; dct:license \"cc-by\" .\n", i, f, i, f)
		}
	}
	k := keeper(b, text.String())
	k.Visited = func(context.Context, string, time.Time) ([]string, bool, error) { return nil, true, nil }
	k.harvested(b, "0", time.Now())
	if _, err := k.Measure(b.Context(), "http://p.example/"); err != nil {
		b.Fatal(err)
	}
	round := 0
	for _, road := range []struct {
		name    string
		measure func(uint64) (Table, error)
	}{
		{"everything", func(uint64) (Table, error) { return k.Measure(b.Context(), "http://p.example/") }},
		{"what changed", func(p uint64) (Table, error) { return k.Update(b.Context(), "http://p.example/", p) }},
	} {
		b.Run(road.name, func(b *testing.B) {
			for b.Loop() {
				round++
				var drop, add strings.Builder
				for i := range 10 {
					fmt.Fprintf(&add, "<d%d> dcat:theme \"%d\" .\n", (round*10+i)%20_000, round)
				}
				p := k.says(b, drop.String(), add.String())
				if _, err := road.measure(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	f.Add("CC BY 4.0", "text/csv;", "mailto:a@b.c")
	f.Fuzz(func(_ *testing.T, a, b, c string) {
		catalog.LicenceOf(a)
		sameFormat([]string{b, a}, c)
		isMail(c)
		isURL(c)
		isDate(term.String(a))
	})
}
