package oai

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
	"odarchive/triplestore/term"
)

// answers is a repository that answers every request with a recorded answer.
type answers struct{ body []byte }

var anIdentifier = regexp.MustCompile(`<identifier>\s*([^<]+?)\s*</identifier>`)

func (a answers) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	args := req.URL.Query()
	verb := args.Get("verb")
	holds := func(verb string) bool { return bytes.Contains(a.body, []byte("<"+verb+">")) }
	nothing := &repo{items: some(1)}
	switch {
	case args.Has("resumptionToken"):
		w.WriteString(`<OAI-PMH>` + fail("noRecordsMatch") + `</OAI-PMH>`)
	case holds(verb), !holds("Identify") && !holds("ListMetadataFormats") && !holds("GetRecord") && !holds("ListIdentifiers") &&
		verb == "ListRecords":
		w.Write(a.body)
	case verb == "ListIdentifiers" && holds("GetRecord"):
		if m := anIdentifier.FindSubmatch(a.body); m != nil {
			fmt.Fprintf(w, `<OAI-PMH><ListIdentifiers><header><identifier>%s</identifier></header></ListIdentifiers></OAI-PMH>`, m[1])
		}
	case verb == "ListRecords" && (holds("GetRecord") || holds("ListIdentifiers")):
		w.WriteString(`<OAI-PMH>` + fail("badVerb") + `</OAI-PMH>`)
	case verb == "ListRecords":
		w.WriteString(`<OAI-PMH>` + fail("noRecordsMatch") + `</OAI-PMH>`)
	case verb == "GetRecord":
		w.WriteString(`<OAI-PMH>` + fail("idDoesNotExist") + `</OAI-PMH>`)
	default:
		w.WriteString(nothing.answer(args))
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func TestWhatRealRepositoriesAnsweredIsHarvested(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "oai")
	var got strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Dir(path) == root {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		synctest.Test(t, func(t *testing.T) { got.WriteString(yield(t, name, body)) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "real.golden", got.String())
}

// yield summarises what one file brought.
func yield(t *testing.T, name string, body []byte) string {
	out := listen()
	src := source(answers{body})
	src.Stats = &harvest.Traffic{}
	err := src.Harvest(t.Context(), "", out)
	var b strings.Builder
	triples, seeds := len(out.portal.Quads())+len(out.quads), 0
	for _, d := range out.datasets {
		triples += len(d.Quads(out.portal.IRI))
		seeds += len(d.Seeds(out.portal))
	}
	fmt.Fprintf(&b, "%s: %q, %d records, %d deleted, %d datasets, %d seeds, %d triples", name, out.portal.Title, src.Stats.Records,
		src.Stats.Deleted, len(out.datasets), seeds, triples)
	for _, kind := range sorted(src.Stats.Errors) {
		fmt.Fprintf(&b, ", %d× %s", src.Stats.Errors[kind], kind)
	}
	b.WriteString("\n")
	if err != nil {
		fmt.Fprintf(&b, "\tends: %v\n", err)
	}
	if len(out.skipped) > 0 {
		fmt.Fprintf(&b, "\tskipped: %s\n", out.skipped[0])
	}
	for _, id := range sorted(out.datasets)[:min(3, len(out.datasets))] {
		d := out.datasets[id]
		title := ""
		if len(d.Title) > 0 {
			title = d.Title[0].Value
		}
		fmt.Fprintf(&b, "\t%s %q\n", id, title)
		for _, seed := range d.Seeds(out.portal) {
			fmt.Fprintf(&b, "\t\t%s %s\n", seed.URL, seed.MediaType)
		}
	}
	return b.String()
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func FuzzParse(f *testing.F) {
	f.Add([]byte((&repo{items: some(3)}).answer(map[string][]string{"verb": {"ListRecords"}})))
	f.Add(
		[]byte(
			`junk<x:OAI-PMH xmlns:x='a' xmlns="b"><x:ListRecords><record xmlns:y="z"><header status="deleted"/><metadata><y:a ` +
				`b="c">&#1;<!-- --></y:a></metadata><about><provenance/></about></record><resumptionToken/>`))
	f.Add(
		[]byte(
			`<OAI-PMH><ListRecords><record><header><identifier>a</identifier></header><metadata><rdf:RDF ` +
				`xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description ` +
				`rdf:about="x"/></rdf:RDF></metadata></record></ListRecords></OAI-PMH>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		h := &run{src: Source{URL: "http://r.example/oai"}, portal: "http://r.example/oai"}
		p, _ := parse(body, func(rec record) error {
			if rec.Metadata != nil {
				h.dataset("http://r.example/x", rec).Quads("http://r.example/oai")
			}
			return nil
		})
		h.portalOf(&p.Identify).Quads()
	})
}

func BenchmarkHarvest(b *testing.B) {
	r := &repo{items: some(20_000), page: 200}
	page := r.answer(map[string][]string{"verb": {"ListRecords"}, "metadataPrefix": {"oai_dc"}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		args := req.URL.Query()
		if args.Get("verb") != "ListRecords" {
			fmt.Fprint(w, r.answer(args))
			return
		}
		var n int
		fmt.Sscan(args.Get("resumptionToken"), &n) // 0 for the first page
		token := fmt.Sprint(n + 1)
		if n == 99 {
			token = ""
		}
		head, _, _ := strings.Cut(page, "<resumptionToken>")
		fmt.Fprint(w, strings.ReplaceAll(head, ":r.example:", ":"+fmt.Sprint(n)+":"), "<resumptionToken>", token,
			"</resumptionToken></ListRecords></OAI-PMH>")
	}))
	defer server.Close()
	b.ReportAllocs()
	records := 0
	for b.Loop() {
		src := Source{URL: server.URL, HTTP: server.Client(), Stats: &harvest.Traffic{}}
		if err := src.Harvest(b.Context(), "", quiet{}); err != nil {
			b.Fatal(err)
		}
		records += src.Stats.Records
		b.SetBytes(src.Stats.Bytes)
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

// quiet is a Sink that describes datasets and discards the statements.
type quiet struct{ harvest.Sink }

func (quiet) Portal(harvest.Portal, bool) error { return nil }
func (quiet) Dataset(d harvest.Dataset) error {
	d.Quads("http://r.example/oai")
	return nil
}
func (quiet) Mark(string) error    { return nil }
func (quiet) Next(string)          {}
func (quiet) NotModified(string)   {}
func (quiet) Quad(term.Quad) error { return nil }
