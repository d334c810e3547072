package describe

import (
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
)

// Change describes how a version differs from the one before. It returns nothing without a summary, and leaves out
// figures that the kind of comparison does not count.
func Change(m ns.Mint, v catalog.Version, s *diff.Summary) []term.Quad {
	if s == nil {
		return nil
	}
	g := &graph{}
	g.about(term.IRI(m.Version(v.ID)))
	g.text(arc.ChangeKind, string(s.Kind))
	g.add(arc.BytesChanged, integer(s.BytesChanged))
	type count struct {
		predicate string
		n         int64
	}
	for _, c := range map[diff.Kind][]count{
		diff.Tables: {{arc.ColumnsAdded, s.ColumnsAdded}, {arc.ColumnsRemoved, s.ColumnsRemoved}, {arc.ColumnsRenamed, s.ColumnsRenamed},
			{arc.ColumnsRetyped, s.ColumnsRetyped}},
		diff.RDF:  {{arc.TriplesAdded, s.TriplesAdded}, {arc.TriplesRemoved, s.TriplesRemoved}},
		diff.JSON: {{arc.PathsAdded, s.PathsAdded}, {arc.PathsRemoved, s.PathsRemoved}, {arc.PathsChanged, s.PathsChanged}},
		diff.XML:  {{arc.PathsAdded, s.PathsAdded}, {arc.PathsRemoved, s.PathsRemoved}, {arc.PathsChanged, s.PathsChanged}},
	}[s.Kind] {
		g.add(c.predicate, integer(c.n))
	}
	if s.Kind == diff.Tables && !s.Part { // rows beyond those that were read were not compared
		g.add(arc.RowsAdded, integer(s.RowsAdded))
		g.add(arc.RowsRemoved, integer(s.RowsRemoved))
		g.add(arc.RowsChanged, integer(s.RowsChanged))
	}
	return g.quads
}
