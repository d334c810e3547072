package harvest

import (
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// place adds a place that the dataset covers.
func (s *statements) place(p Place, role string) {
	name, geometry, box := plain(p.Name), plain(p.Geometry), wktBox(p.Box)
	address, known := AsIRI(p.IRI)
	if name == "" && geometry == "" && box == "" && !known {
		return
	}
	node := s.node(address, role)
	s.add(vocab.DCTSpatial, node)
	if known && name == "" && geometry == "" && box == "" {
		return // the IRI's owner describes it
	}
	s.within(node, func() {
		s.isA(vocab.DCTLocation)
		s.text(vocab.SKOSPrefLabel, name)
		switch {
		case geometry == "":
		case strings.HasPrefix(geometry, "{"):
			s.add(vocab.LOCNGeometry, term.Typed(geometry, vocab.GeoGeoJSONLiteral))
		case strings.HasPrefix(geometry, "<"):
			s.text(vocab.LOCNGeometry, geometry) // GML, or a literal that names its reference system
		default:
			s.add(vocab.LOCNGeometry, term.Typed(geometry, vocab.GeoWKTLiteral))
		}
		if box != "" {
			s.add(vocab.DCATBbox, term.Typed(box, vocab.GeoWKTLiteral))
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
	s.add(vocab.DCTTemporal, node)
	s.within(node, func() {
		s.isA(vocab.DCTPeriodOfTime)
		s.date(vocab.DCATStartDate, p.Start)
		s.date(vocab.DCATEndDate, p.End)
	})
}
