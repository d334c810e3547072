package describe

import (
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Change describes how a version differs from the one before. It returns nothing without a summary, and leaves out
// figures that the kind of comparison does not count.
func Change(m ns.Mint, v catalog.Version, s *diff.Summary) []term.Quad {
	if s == nil {
		return nil
	}
	g := &graph{}
	g.about(term.IRI(m.Version(v.ID)))
	g.text(vocab.ArcChangeKind, string(s.Kind))
	g.add(vocab.ArcBytesChanged, integer(s.BytesChanged))
	type count struct {
		predicate string
		n         int64
	}
	for _, c := range map[diff.Kind][]count{
		diff.Tables: {{vocab.ArcColumnsAdded, s.ColumnsAdded}, {vocab.ArcColumnsRemoved, s.ColumnsRemoved},
			{vocab.ArcColumnsRenamed, s.ColumnsRenamed},
			{vocab.ArcColumnsRetyped, s.ColumnsRetyped}},
		diff.RDF:  {{vocab.ArcTriplesAdded, s.TriplesAdded}, {vocab.ArcTriplesRemoved, s.TriplesRemoved}},
		diff.JSON: {{vocab.ArcPathsAdded, s.PathsAdded}, {vocab.ArcPathsRemoved, s.PathsRemoved}, {vocab.ArcPathsChanged, s.PathsChanged}},
		diff.XML:  {{vocab.ArcPathsAdded, s.PathsAdded}, {vocab.ArcPathsRemoved, s.PathsRemoved}, {vocab.ArcPathsChanged, s.PathsChanged}},
	}[s.Kind] {
		g.add(c.predicate, integer(c.n))
	}
	if s.Kind == diff.Tables && !s.Part { // rows beyond those that were read were not compared
		g.add(vocab.ArcRowsAdded, integer(s.RowsAdded))
		g.add(vocab.ArcRowsRemoved, integer(s.RowsRemoved))
		g.add(vocab.ArcRowsChanged, integer(s.RowsChanged))
	}
	return g.quads
}
