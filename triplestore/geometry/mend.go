package geometry

import (
	"fmt"
	"slices"

	"github.com/peterstace/simplefeatures/geom"
)

// mended closes the rings of polygons that do not end where they begin, which other stores accept too. A line of one
// point, or a ring of fewer than three, is an error. Whether rings cross each other is not checked; the functions that
// care return errors.
func mended(g geom.Geometry) (geom.Geometry, error) {
	sound := true
	for _, part := range g.Dump() {
		if line, ok := part.AsLineString(); ok && line.Coordinates().Length() == 1 {
			return g, fmt.Errorf("%w: a line of one point", ErrSyntax)
		}
		p, ok := part.AsPolygon()
		if !ok {
			continue
		}
		for _, ring := range p.DumpRings() {
			closed, n := closedRing(ring)
			if n > 0 && n < 3 {
				return g, fmt.Errorf("%w: a ring of fewer than three points", ErrSyntax)
			}
			sound = sound && closed
		}
	}
	if sound {
		return g, nil
	}
	return closeRings(g), nil
}

// closedRing reports whether a ring ends where it begins, and how many points it has besides the last.
func closedRing(ring geom.LineString) (closed bool, points int) {
	c := ring.Coordinates()
	n := c.Length()
	if n == 0 {
		return true, 0
	}
	if n > 1 && c.GetXY(0) == c.GetXY(n-1) {
		return true, n - 1
	}
	return false, n
}

func closeRings(g geom.Geometry) geom.Geometry {
	switch {
	case g.IsPolygon():
		return closePolygon(g.MustAsPolygon()).AsGeometry()
	case g.IsMultiPolygon():
		m := g.MustAsMultiPolygon()
		list := make([]geom.Polygon, m.NumPolygons())
		for i := range list {
			list[i] = closePolygon(m.PolygonN(i))
		}
		return geom.NewMultiPolygon(list).AsGeometry()
	case g.IsGeometryCollection():
		c := g.MustAsGeometryCollection()
		list := make([]geom.Geometry, c.NumGeometries())
		for i := range list {
			list[i] = closeRings(c.GeometryN(i))
		}
		return geom.NewGeometryCollection(list).AsGeometry()
	}
	return g
}

func closePolygon(p geom.Polygon) geom.Polygon {
	rings := p.DumpRings()
	for i, ring := range rings {
		if closed, _ := closedRing(ring); closed {
			continue
		}
		c := ring.Coordinates()
		n, size := c.Length(), c.CoordinatesType().Dimension()
		var flat []float64
		for j := range n + 1 {
			at := c.Get(j % n)
			flat = append(flat, at.X, at.Y)
			if c.CoordinatesType().Is3D() {
				flat = append(flat, at.Z)
			}
			if c.CoordinatesType().IsMeasured() {
				flat = append(flat, at.M)
			}
		}
		rings[i] = geom.NewLineString(geom.NewSequence(slices.Clip(flat[:(n+1)*size]), c.CoordinatesType()))
	}
	return geom.NewPolygon(rings)
}
