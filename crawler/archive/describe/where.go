package describe

import (
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/geosparql"
	"odarchive/vocab/xsd"
)

// where describes the smallest box around the places that the tables of a version tell, as the place of the version. It
// says nothing if they tell none.
func (g *graph) where(label string, in *inspect.Inside) {
	box, ok := extent.Boxes(in.AllTables())
	if !ok {
		return
	}
	version, place := g.subject, term.Blank("place-"+label)
	g.add(dcterms.Spatial, place)
	g.about(place)
	g.isA(dcterms.Location)
	g.add(dcat.Bbox, term.Typed(extent.WKT(box), geosparql.WKTLiteral))
	g.about(version)
}

// when describes the period of the dates in the tables of a version. It says nothing if they have none.
func (g *graph) when(label string, in *inspect.Inside) {
	period := in.Period
	if period == nil {
		return
	}
	version, node := g.subject, term.Blank("period-"+label)
	g.add(dcterms.Temporal, node)
	g.about(node)
	g.isA(dcterms.PeriodOfTime)
	g.add(dcat.StartDate, term.Typed(period.Start, xsd.NS+period.Datatype))
	g.add(dcat.EndDate, term.Typed(period.End, xsd.NS+period.Datatype))
	g.about(version)
}

// geometry describes the geometries of a table, which is the present subject.
func (g *graph) geometry(s *csvprofile.Geometry) {
	if s == nil {
		return
	}
	g.add(arc.Geometries, integer(s.Count))
	for _, t := range s.Types {
		g.add(arc.GeometryType, term.IRI(geosparql.SimpleNS+t.Value))
	}
	if s.CRS != "" {
		g.add(dcterms.ConformsTo, IRI(s.CRS))
	}
	g.text(arc.ReferenceSystem, s.System)
	if s.Bounds != nil {
		g.text(arc.Bounds, crs.Bounds(*s.Bounds))
	}
}
