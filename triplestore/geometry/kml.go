package geometry

import (
	"github.com/peterstace/simplefeatures/geom"
)

// parseKML reads a kmlLiteral: one geometry of KML, whose coordinates are longitude, latitude and perhaps altitude.
func parseKML(text string) (*Geometry, error) {
	root, err := parseXML(text)
	if err != nil {
		return nil, err
	}
	g, err := guard(func() (geom.Geometry, error) { return kmlGeometry(root) })
	if err != nil {
		return nil, err
	}
	return newGeometry(g, CRS84, false)
}

func kmlGeometry(e *element) (g geom.Geometry, err error) {
	switch e.name {
	case "Point":
		c, err := kmlCoordinates(e)
		if err != nil {
			return g, err
		}
		return pointOf(c)
	case "LineString", "LinearRing":
		c, err := kmlCoordinates(e)
		return geom.NewLineString(c).AsGeometry(), err
	case "Polygon":
		var rings []geom.LineString
		for _, border := range []string{"outerBoundaryIs", "innerBoundaryIs"} {
			for _, c := range e.children {
				if c.name != border {
					continue
				}
				for _, r := range c.children {
					at, err := kmlCoordinates(r)
					if err != nil {
						return g, err
					}
					rings = append(rings, geom.NewLineString(at))
				}
			}
		}
		return geom.NewPolygon(rings).AsGeometry(), nil
	case "MultiGeometry":
		var parts []geom.Geometry
		for _, c := range e.children {
			part, err := kmlGeometry(c)
			if err != nil {
				return g, err
			}
			parts = append(parts, part)
		}
		return together(parts), nil
	}
	return g, errElement(e)
}

func kmlCoordinates(e *element) (geom.Sequence, error) {
	c := e.child("coordinates")
	if c == nil {
		return sequence(nil, 2)
	}
	return tuples(c.text.String(), ".", ",", "")
}
