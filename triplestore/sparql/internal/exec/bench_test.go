package exec_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// benchQueries are of the kind that the archive's users ask, each with another operator at its heart.
var benchQueries = []struct{ name, text string }{
	{"star", "SELECT ?v ?d ?s { ?r <dct:hasVersion> ?v . ?v <dct:issued> ?d ; <dcat:byteSize> ?s }"},
	{"lookup", "SELECT ?v ?d ?s { <http://archive/resource/77> <dct:hasVersion> ?v . ?v <dct:issued> ?d ; <dcat:byteSize> ?s }"},
	{
		"group",
		"SELECT ?mt (COUNT(?v) AS ?n) (SUM(?s) AS ?bytes) { ?r <dcat:mediaType> ?mt ; <dct:hasVersion> ?v . ?v <dcat:byteSize> ?s } " +
			"GROUP BY ?mt"},
	{
		"range",
		"SELECT ?v { ?v <dct:issued> ?d FILTER(?d >= \"2019-01-01T00:00:00Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime> && ?d < " +
			"\"2019-02-01T00:00:00Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>) }"},
	{"text", "SELECT ?r { ?r <dct:title> ?t FILTER(REGEX(?t, \"^haushalt.*2019|budget\", \"i\")) }"},
	{"optional", "SELECT ?v ?n { ?r <dcat:mediaType> \"text/csv\" ; <dct:hasVersion> ?v OPTIONAL { ?t <csvw:url> ?v ; <arc:rows> ?n } }"},
	{"absent", "SELECT ?v { ?r <dct:hasVersion> ?v FILTER NOT EXISTS { ?t <csvw:url> ?v } }"},
	{
		"latest",
		"SELECT ?r ?v { ?r <dct:hasVersion> ?v . ?v <dct:issued> ?d FILTER NOT EXISTS { ?r <dct:hasVersion> ?w . ?w <dct:issued> ?e " +
			"FILTER(?e > ?d) } }"},
	{"top", "SELECT ?v ?s { ?v <dcat:byteSize> ?s } ORDER BY DESC(?s) ?v LIMIT 20"},
	{"path", "SELECT ?x { <http://archive/portal/3> (<dcat:dataset>|<dct:hasVersion>)+ ?x }"},
	{"count", "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p"},
	{"numbers", "SELECT ?v { ?v <dcat:byteSize> ?s FILTER(?s = " + list(" || ?s = ", "%d") + ") }"},
	{
		"decimals", "SELECT ?r { ?r <dcat:mediaType> ?m ; <dct:hasVersion> ?v . ?v <dcat:byteSize> ?s FILTER(?s IN (" + list(", ", "%d.0") +
			")) }"},
	{
		"dates", "SELECT ?v { ?v <dct:issued> ?d FILTER(?d NOT IN (" + list(", ",
			`"2018-01-01T00:00:00.%04dZ"^^<http://www.w3.org/2001/XMLSchema#dateTime>`) + ")) }"},
}

// list writes ten thousand numbers.
func list(between, format string) string {
	var b strings.Builder
	for i := range 10_000 {
		if i > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(&b, format, i*7)
	}
	return b.String()
}

type generated struct {
	quads []term.Quad
}

func (g *generated) Read() (term.Quad, error) {
	if len(g.quads) == 0 {
		return term.Quad{}, io.EOF
	}
	q := g.quads[0]
	g.quads = g.quads[1:]
	return q, nil
}

// archive makes a store of some 150,000 triples about 10,000 resources with three versions each.
func archive(b *testing.B) *triplestore.Snapshot {
	db, err := kv.Open(b.TempDir(), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const xsd = "http://www.w3.org/2001/XMLSchema#"
	g := &generated{}
	add := func(s term.Key, p string, o term.Key) {
		g.quads = append(g.quads, term.Quad{S: s, P: term.IRI(p), O: o})
	}
	r := rand.New(rand.NewPCG(1, 2))
	types := []string{"text/csv", "text/html", "application/json", "application/pdf", "application/zip"}
	words := []string{"haushalt", "verkehr", "schule", "wasser", "klima", "budget", "wahl", "museum"}
	for i := range 10000 {
		res := term.IRI(fmt.Sprintf("http://archive/resource/%d", i))
		add(term.IRI(fmt.Sprintf("http://archive/portal/%d", i%50)), "dcat:dataset", res)
		add(res, "dcat:mediaType", term.String(types[r.IntN(len(types))]))
		add(res, "dct:title", term.String(fmt.Sprintf("%s %s %d", words[r.IntN(len(words))], words[r.IntN(len(words))], 2005+r.IntN(16))))
		for v := range 3 {
			ver := term.IRI(fmt.Sprintf("http://archive/version/%d_%d", i, v))
			add(res, "dct:hasVersion", ver)
			add(ver, "dct:issued",
				term.Typed(fmt.Sprintf("20%02d-%02d-%02dT%02d:00:00Z", 18+v, 1+r.IntN(12), 1+r.IntN(28), r.IntN(24)), xsd+"dateTime"))
			add(ver, "dcat:byteSize", term.Typed(fmt.Sprint(r.IntN(5_000_000)), xsd+"integer"))
			if r.IntN(4) == 0 {
				t := term.Blank(fmt.Sprintf("t%d_%d", i, v))
				add(t, "csvw:url", ver)
				add(t, "arc:rows", term.Typed(fmt.Sprint(r.IntN(100000)), xsd+"integer"))
			}
		}
	}
	if _, err := store.Load(context.Background(), g); err != nil {
		b.Fatal(err)
	}
	sn := store.Snapshot()
	b.Cleanup(sn.Release)
	return sn
}

// BenchmarkQueries runs each query over the real store to its last id, planned by cost and, as the baseline, with the
// patterns joined by hash in the order they were written, without rules.
func BenchmarkQueries(b *testing.B) {
	sn := archive(b)
	for _, q := range benchQueries {
		for _, w := range []way{{name: "planned"},
			{name: "baseline",
				plan: plan.Options{Join: "hash", NoReorder: true,
					Without: []string{"constants", "distinct-first", "top-k", "sorted-distinct", "loose-scan", "counts"}}}} {
			b.Run(q.name+"/"+w.name, func(b *testing.B) {
				query := parse(b, q.text)
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					p, err := plan.OptimiseQuery(query, sn, w.plan)
					if err != nil {
						b.Fatal(err)
					}
					r, err := exec.Run(context.Background(), p, sn, exec.Options{})
					if err != nil {
						b.Fatal(err)
					}
					rows = 0
					for {
						x, err := r.Next()
						if err != nil {
							b.Fatal(err)
						}
						if x == nil {
							break
						}
						rows += x.Len
					}
					r.Close()
				}
				b.ReportMetric(float64(rows), "rows")
			})
		}
	}
}

// BenchmarkPlanning is the planner alone.
func BenchmarkPlanning(b *testing.B) {
	sn := archive(b)
	for _, q := range benchQueries {
		b.Run(q.name, func(b *testing.B) {
			query := parse(b, q.text)
			for b.Loop() {
				if _, err := plan.OptimiseQuery(query, sn, plan.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
