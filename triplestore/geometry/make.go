package geometry

import (
	"math"

	"github.com/peterstace/simplefeatures/geom"
)

// made checks the size of the inputs and calls f. The result is like g.
func (g *Geometry) made(points int, f func() (geom.Geometry, error)) (*Geometry, error) {
	if points > maxMake {
		return nil, ErrLarge
	}
	out, err := guard(f)
	if err != nil {
		return nil, err
	}
	return g.like(out)
}

// overlays are the set operations of GeoSPARQL by local name.
var overlays = map[string]func(a, b geom.Geometry) (geom.Geometry, error){
	"intersection": geom.Intersection, "union": geom.Union, "difference": geom.Difference, "symDifference": geom.SymmetricDifference,
}

// Overlay computes intersection, union, difference or symDifference, by the function's local name.
func Overlay(name string, a, b *Geometry) (*Geometry, error) {
	b, err := a.with(b)
	if err != nil {
		return nil, err
	}
	return a.made(a.points+b.points, func() (geom.Geometry, error) { return overlays[name](a.g.Force2D(), b.g.Force2D()) })
}

// Envelope returns the box around g as a geometry.
func (g *Geometry) Envelope() (*Geometry, error) {
	return g.made(0, func() (geom.Geometry, error) { return g.g.Envelope().AsGeometry(), nil })
}

// ConvexHull returns the smallest convex geometry around g.
func (g *Geometry) ConvexHull() (*Geometry, error) {
	return g.made(g.points, func() (geom.Geometry, error) { return g.g.ConvexHull(), nil })
}

// Boundary returns the ends of lines and the borders of polygons.
func (g *Geometry) Boundary() (*Geometry, error) {
	return g.made(g.points, func() (geom.Geometry, error) { return g.g.Boundary(), nil })
}

// Centroid returns the centre of mass.
func (g *Geometry) Centroid() (*Geometry, error) {
	return g.made(0, func() (geom.Geometry, error) { return g.g.Centroid().AsGeometry(), nil })
}

// Circle returns a circle around the middle of g's box that contains g, as a polygon.
func (g *Geometry) Circle() (*Geometry, error) {
	return g.made(g.points, func() (geom.Geometry, error) {
		x, y := g.bounds.center()
		if g.Empty() {
			return geom.Geometry{}, ErrSyntax
		}
		radius, c := 0.0, g.g.DumpCoordinates()
		for i := range c.Length() {
			p := c.GetXY(i)
			radius = max(radius, math.Hypot(p.X-x, p.Y-y))
		}
		at := geom.XY{X: x, Y: y}.AsPoint().AsGeometry()
		if radius == 0 {
			return at, nil
		}
		const segments = 16 // in a quarter
		return geom.Buffer(at, radius/math.Cos(math.Pi/4/segments), geom.BufferQuadSegments(segments))
	})
}

// Buffer returns the points at most a distance from g, as polygons whose arcs have eight edges in a quarter. In a
// geographic system it is computed on a plane around the middle of g.
func (g *Geometry) Buffer(radius float64, unit string) (*Geometry, error) {
	metres, err := g.lengthUnit(unit)
	if err != nil {
		return nil, err
	}
	radius *= metres
	if math.IsNaN(radius) || g.Geographic() && math.Abs(radius) > math.Pi/2*earthRadius {
		return nil, ErrUnit
	}
	return g.made(g.points, func() (geom.Geometry, error) {
		if !g.Geographic() || g.Empty() {
			return geom.Buffer(g.g.Force2D(), radius)
		}
		at := planeAt(g.bounds.center())
		out, err := geom.Buffer(at.onPlane(g), radius)
		if err != nil {
			return geom.Geometry{}, err
		}
		return out.TransformXY(at.unproject), nil
	})
}
