package discover

import (
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/rdf"
	"odarchive/vocab/xsd"
)

// provenance states how a dataset was found: on which page, by which way, and what that way had promised.
func (w *walk) provenance(dataset string, f finding, x Find) []term.Quad {
	iri, ok := harvest.AsIRI(dataset)
	if !ok {
		return nil
	}
	node := term.Blank("found")
	quads := []term.Quad{
		{S: term.IRI(iri), P: term.IRI(arc.FoundBy), O: node},
		{S: node, P: term.IRI(rdf.Type), O: term.IRI(arc.Discovery)},
		{S: node, P: term.IRI(arc.FoundScore), O: term.Typed(strconv.FormatFloat(x.Score, 'f', -1, 64), xsd.Decimal)},
		{S: node, P: term.IRI(arc.Why), O: term.Lang(f.why, "en")},
	}
	if f.page == noPage {
		return quads
	}
	if page, ok := harvest.AsIRI(w.pages[f.page].url); ok {
		quads = append(quads, term.Quad{S: node, P: term.IRI(arc.FoundOn), O: term.IRI(page)})
	}
	if level := w.pages[f.page].level; level != "" {
		quads = append(quads, term.Quad{S: node, P: term.IRI(arc.FoundLevel), O: term.String(string(level))})
	}
	var way []string
	for _, s := range w.pathTo(f.page) {
		way = append(way, s.URL)
	}
	return append(quads, term.Quad{S: node, P: term.IRI(arc.FoundPath), O: term.String(strings.Join(way, " "))})
}
