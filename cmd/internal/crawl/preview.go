package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/webapi"
	"odarchive/crawler/queue/scope"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Preview is what the first requests of a campaign bring. Nothing of it is kept.
type Preview struct {
	Requests   []string `json:"requests"`
	Dataset    string   `json:"dataset,omitempty"`    // IRI of the first one
	Statements string   `json:"statements,omitempty"` // about it, in Turtle
	Files      []string `json:"files"`                // of the first dataset
	Notes      []string `json:"notes,omitempty"`      // what was left out
}

// maxPreview is how many requests a preview may make.
const maxPreview = 10

// Preview sends the first requests of a campaign over a web interface until there is a dataset. If the interface cannot
// be harvested, the preview has what was asked before.
func (c *Crawl) Preview(ctx context.Context, d campaign.Document) (Preview, error) {
	p := Preview{Requests: []string{}, Files: []string{}}
	if d.Kind != campaign.KindAPI {
		return p, fmt.Errorf("%w: only campaigns of the kind api have a preview", campaign.ErrBad)
	}
	api, err := webapi.Compile(*d.API)
	if err != nil {
		return p, err
	}
	pacer := api.Pacer()
	pacer.Max = min(pacer.Max, maxPreview)
	first := &firstDataset{preview: &p}
	err = webapi.Source{API: api, Keywords: d.Keywords, HTTP: c.politeTransport(scope.Campaign), Pacer: pacer, Asked: func(address string) {
		p.Requests = append(p.Requests, address)
	}}.Harvest(ctx, "", first)
	if errors.Is(err, errFirst) {
		err = nil
	} else if err == nil {
		p.Notes = append(p.Notes, "the interface lists no dataset")
	}
	return p, err
}

// errFirst ends a preview.
var errFirst = errors.New("the first dataset was found")

// firstDataset is a harvest.Sink that ends at the first dataset.
type firstDataset struct {
	preview *Preview
	portal  harvest.Portal
}

func (f *firstDataset) Portal(p harvest.Portal, _ bool) error { f.portal = p; return nil }

func (f *firstDataset) Dataset(d harvest.Dataset) error {
	iri, ok := harvest.AsIRI(d.IRI)
	if !ok {
		f.Skip(fmt.Sprintf("dataset %.200q has no IRI", d.IRI))
		return nil
	}
	d.IRI = iri
	var b strings.Builder
	w := rdfio.NewWriter(&b, rdfio.Turtle(), vocab.Prefixes())
	for _, q := range append(f.portal.Quads(), d.Quads(f.portal.IRI)...) {
		q.G = ""
		if err := w.Write(q); err != nil {
			f.Skip(err.Error())
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	f.preview.Dataset, f.preview.Statements = d.IRI, b.String()
	for _, s := range d.Seeds(f.portal) {
		f.preview.Files = append(f.preview.Files, s.URL)
	}
	return errFirst
}

func (f *firstDataset) Unknown(_, why string) error { f.Skip(why); return nil }
func (f *firstDataset) Gone(string) error           { return nil }
func (f *firstDataset) Seed(catalog.Seed) error     { return nil }
func (f *firstDataset) Quad(term.Quad) error        { return nil }
func (f *firstDataset) Mark(string) error           { return nil }
func (f *firstDataset) Next(string)                 {}
func (f *firstDataset) NotModified(string)          {}

// Skip notes what cannot be used.
func (f *firstDataset) Skip(why string) {
	if len(f.preview.Notes) < 20 {
		f.preview.Notes = append(f.preview.Notes, why)
	}
}
