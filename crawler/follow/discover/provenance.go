package discover

import (
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// provenance states how a dataset was found: on which page, by which way, and what that way had promised.
func (w *walk) provenance(dataset string, f finding, x Find) []term.Quad {
	iri, ok := harvest.AsIRI(dataset)
	if !ok {
		return nil
	}
	node := term.Blank("found")
	quads := []term.Quad{
		{S: term.IRI(iri), P: term.IRI(vocab.ArcFoundBy), O: node},
		{S: node, P: term.IRI(vocab.RDFType), O: term.IRI(vocab.ArcDiscovery)},
		{S: node, P: term.IRI(vocab.ArcFoundScore), O: term.Typed(strconv.FormatFloat(x.Score, 'f', -1, 64), vocab.XSDDecimal)},
		{S: node, P: term.IRI(vocab.ArcWhy), O: term.Lang(f.why, "en")},
	}
	if f.page == noPage {
		return quads
	}
	if page, ok := harvest.AsIRI(w.pages[f.page].url); ok {
		quads = append(quads, term.Quad{S: node, P: term.IRI(vocab.ArcFoundOn), O: term.IRI(page)})
	}
	if level := w.pages[f.page].level; level != "" {
		quads = append(quads, term.Quad{S: node, P: term.IRI(vocab.ArcFoundLevel), O: term.String(string(level))})
	}
	var way []string
	for _, s := range w.pathTo(f.page) {
		way = append(way, s.URL)
	}
	return append(quads, term.Quad{S: node, P: term.IRI(vocab.ArcFoundPath), O: term.String(strings.Join(way, " "))})
}
