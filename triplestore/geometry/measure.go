package geometry

import (
	"math"

	"github.com/peterstace/simplefeatures/geom"
)

// Distance returns the shortest distance of two geometries in a unit. In a geographic system it is a distance on the
// Earth; between geometries that are both no points it is computed on a plane and is good for regions, not continents.
func Distance(a, b *Geometry, unit string) (float64, error) {
	b, err := a.with(b)
	if err != nil {
		return 0, err
	}
	metres, err := a.lengthUnit(unit)
	if err != nil {
		return 0, err
	}
	if a.points == 0 || b.points == 0 {
		return 0, ErrSyntax // nothing has a distance from the empty geometry
	}
	if a.points+b.points > maxRelate {
		return 0, ErrLarge
	}
	d, err := guard(func() (float64, error) {
		if a.points > 1 || b.points > 1 {
			if a.bounds.Meets(b.bounds) && geom.Intersects(a.g, b.g) {
				return 0, nil
			}
		}
		if a.Geographic() {
			d, err := metresBetween(a, b)
			return atLeastBetween(a.bounds, b.bounds, d), err
		}
		d, ok := geom.Distance(a.g, b.g)
		if !ok {
			return 0, ErrSyntax
		}
		return d, nil
	})
	return d / metres, err
}

// Area returns the area of the polygons of a geometry in a unit.
func (g *Geometry) Area(unit string) (float64, error) {
	metres, err := areaUnit(unit)
	if err != nil {
		return 0, err
	}
	return guard(func() (float64, error) {
		if g.Geographic() {
			return squareMetres(g.g) / metres, nil
		}
		return g.g.Area() / metres, nil
	})
}

// Length returns the length of a geometry's lines and of the borders of its polygons in a unit.
func (g *Geometry) Length(unit string) (float64, error) {
	metres, err := g.lengthUnit(unit)
	if err != nil {
		return 0, err
	}
	return guard(func() (float64, error) {
		sum := 0.0
		for _, part := range g.g.Dump() {
			if p, ok := part.AsPolygon(); ok {
				part = p.Boundary().AsGeometry()
			}
			if g.Geographic() {
				sum += metresAlong(part)
			} else {
				sum += part.Length()
			}
		}
		return sum / metres, nil
	})
}

// Perimeter returns the length of the borders of a geometry's polygons in a unit.
func (g *Geometry) Perimeter(unit string) (float64, error) {
	if g.g.Dimension() < 2 {
		_, err := g.lengthUnit(unit)
		return 0, err
	}
	return g.Length(unit)
}

// Dimension returns 0 for points, 1 for lines, 2 for polygons, and the highest of its parts for a collection.
func (g *Geometry) Dimension() int { return max(0, g.g.Dimension()) }

// CoordinateDimension returns how many numbers each coordinate has, SpatialDimension how many of them are of space.
func (g *Geometry) CoordinateDimension() int { return g.g.CoordinatesType().Dimension() }

// SpatialDimension returns 3 if coordinates have a height, else 2.
func (g *Geometry) SpatialDimension() int {
	if g.g.CoordinatesType().Is3D() {
		return 3
	}
	return 2
}

// Measured reports whether coordinates have a measure.
func (g *Geometry) Measured() bool { return g.g.CoordinatesType().IsMeasured() }

// Empty reports whether g has no point.
func (g *Geometry) Empty() bool { return g.points == 0 }

// Simple reports whether g neither intersects nor touches itself, except at the ends of its lines.
func (g *Geometry) Simple() (bool, error) {
	if g.points > maxMake {
		return false, ErrLarge
	}
	return guard(func() (bool, error) {
		simple := true
		for _, part := range g.g.Dump() {
			is, defined := part.IsSimple()
			simple = simple && (is || !defined)
		}
		if is, defined := g.g.IsSimple(); defined {
			simple = is
		}
		return simple, nil
	})
}

// Type returns the local name of the geometry's class in the vocabulary of simple features.
func (g *Geometry) Type() string { return g.g.Type().String() }

// Parts returns the number of geometries that a collection has, and 1 for others.
func (g *Geometry) Parts() int {
	switch {
	case g.g.IsGeometryCollection():
		return g.g.MustAsGeometryCollection().NumGeometries()
	case g.g.IsMultiPoint():
		return g.g.MustAsMultiPoint().NumPoints()
	case g.g.IsMultiLineString():
		return g.g.MustAsMultiLineString().NumLineStrings()
	case g.g.IsMultiPolygon():
		return g.g.MustAsMultiPolygon().NumPolygons()
	}
	return 1
}

// Part returns one of the Parts, numbered from 1. ok is false if there is none of that number.
func (g *Geometry) Part(n int) (part *Geometry, ok bool) {
	if n < 1 || n > g.Parts() {
		return nil, false
	}
	made := g.g
	switch {
	case g.g.IsGeometryCollection():
		made = g.g.MustAsGeometryCollection().GeometryN(n - 1)
	case g.g.IsMultiPoint():
		made = g.g.MustAsMultiPoint().PointN(n - 1).AsGeometry()
	case g.g.IsMultiLineString():
		made = g.g.MustAsMultiLineString().LineStringN(n - 1).AsGeometry()
	case g.g.IsMultiPolygon():
		made = g.g.MustAsMultiPolygon().PolygonN(n - 1).AsGeometry()
	}
	part, err := g.like(made)
	return part, err == nil
}

// Heights returns the smallest and the largest height. ok is false if coordinates have none.
func (g *Geometry) Heights() (lowest, highest float64, ok bool) {
	c := g.g.DumpCoordinates()
	if !c.CoordinatesType().Is3D() || c.Length() == 0 {
		return 0, 0, false
	}
	lowest, highest = math.Inf(1), math.Inf(-1)
	for i := range c.Length() {
		z := c.Get(i).Z
		lowest, highest = min(lowest, z), max(highest, z)
	}
	return lowest, highest, true
}
