package harvest

import (
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/geosparql"
	"odarchive/vocab/locn"
	"odarchive/vocab/skos"
)

// place adds a place that the dataset covers.
func (s *statements) place(p Place, role string) {
	name, geometry, box := plain(p.Name), plain(p.Geometry), wktBox(p.Box)
	address, known := AsIRI(p.IRI)
	if name == "" && geometry == "" && box == "" && !known {
		return
	}
	node := s.node(address, role)
	s.add(dcterms.Spatial, node)
	if known && name == "" && geometry == "" && box == "" {
		return // the IRI's owner describes it
	}
	s.within(node, func() {
		s.isA(dcterms.Location)
		s.text(skos.PrefLabel, name)
		switch {
		case geometry == "":
		case strings.HasPrefix(geometry, "{"):
			s.add(locn.Geometry, term.Typed(geometry, geosparql.GeoJSONLiteral))
		case strings.HasPrefix(geometry, "<"):
			s.text(locn.Geometry, geometry) // GML, or a literal that names its reference system
		default:
			s.add(locn.Geometry, term.Typed(geometry, geosparql.WKTLiteral))
		}
		if box != "" {
			s.add(dcat.Bbox, term.Typed(box, geosparql.WKTLiteral))
		}
	})
}

// wktBox returns the box of west, south, east and north as a WKT polygon, "" if it is not valid.
func wktBox(box []float64) string {
	if len(box) != 4 {
		return ""
	}
	var n [4]string
	for i, v := range box {
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e7 {
			return ""
		}
		n[i] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	west, south, east, north := n[0], n[1], n[2], n[3]
	return "POLYGON((" + strings.Join([]string{west + " " + south, east + " " + south, east + " " + north, west + " " + north,
		west + " " + south}, ",") + "))"
}

// period adds a period that the dataset covers.
func (s *statements) period(p Period, role string) {
	if plain(p.Start) == "" && plain(p.End) == "" {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(dcterms.Temporal, node)
	s.within(node, func() {
		s.isA(dcterms.PeriodOfTime)
		s.date(dcat.StartDate, p.Start)
		s.date(dcat.EndDate, p.End)
	})
}
