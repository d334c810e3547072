package describe

import (
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// where describes the smallest box around the places that the tables of a version tell, as the place of the version. It
// says nothing if they tell none.
func (g *graph) where(label string, in *inspect.Inside) {
	box, ok := extent.Boxes(in.AllTables())
	if !ok {
		return
	}
	version, place := g.subject, term.Blank("place-"+label)
	g.add(vocab.DCTSpatial, place)
	g.about(place)
	g.isA(vocab.DCTLocation)
	g.add(vocab.DCATBbox, term.Typed(extent.WKT(box), vocab.GeoWKTLiteral))
	g.about(version)
}

// when describes the period of the dates in the tables of a version. It says nothing if they have none.
func (g *graph) when(label string, in *inspect.Inside) {
	period := in.Period
	if period == nil {
		return
	}
	version, node := g.subject, term.Blank("period-"+label)
	g.add(vocab.DCTTemporal, node)
	g.about(node)
	g.isA(vocab.DCTPeriodOfTime)
	g.add(vocab.DCATStartDate, term.Typed(period.Start, vocab.XSDNS+period.Datatype))
	g.add(vocab.DCATEndDate, term.Typed(period.End, vocab.XSDNS+period.Datatype))
	g.about(version)
}

// geometry describes the geometries of a table, which is the present subject.
func (g *graph) geometry(s *csvprofile.Geometry) {
	if s == nil {
		return
	}
	g.add(vocab.ArcGeometries, integer(s.Count))
	for _, t := range s.Types {
		g.add(vocab.ArcGeometryType, term.IRI(vocab.GeoSimpleNS+t.Value))
	}
	if s.CRS != "" {
		g.add(vocab.DCTConformsTo, IRI(s.CRS))
	}
	g.text(vocab.ArcReferenceSystem, s.System)
	if s.Bounds != nil {
		g.text(vocab.ArcBounds, crs.Bounds(*s.Bounds))
	}
}
