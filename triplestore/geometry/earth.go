package geometry

import (
	"math"

	"github.com/peterstace/simplefeatures/geom"
)

// earthRadius is the mean radius of the Earth in metres (IUGG). Distances and areas are those of the sphere: they
// differ by at most 0.6 percent from those of the ellipsoid.
const earthRadius = 6371008.8

// haversine returns the distance of two points in metres.
func haversine(a, b geom.XY) float64 {
	la, lb := a.Y*math.Pi/180, b.Y*math.Pi/180
	sinLat, sinLon := math.Sin((lb-la)/2), math.Sin((b.X-a.X)*math.Pi/360)
	h := sinLat*sinLat + math.Cos(la)*math.Cos(lb)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// plane is the azimuthal equidistant projection around a point: distances from the point are true, and others nearly
// so in its neighbourhood.
type plane struct{ lon, sin, cos float64 }

func planeAt(lon, lat float64) plane {
	return plane{lon * math.Pi / 180, math.Sin(lat * math.Pi / 180), math.Cos(lat * math.Pi / 180)}
}

// project returns the place of a point of the Earth in metres.
func (p plane) project(q geom.XY) geom.XY {
	lon, lat := q.X*math.Pi/180-p.lon, q.Y*math.Pi/180
	sin, cos := math.Sincos(lat)
	x, y := cos*math.Sin(lon), p.cos*sin-p.sin*cos*math.Cos(lon)
	side := math.Hypot(x, y)
	angle := math.Atan2(side, p.sin*sin+p.cos*cos*math.Cos(lon))
	if side == 0 {
		return geom.XY{X: 0, Y: earthRadius * angle}
	}
	return geom.XY{X: earthRadius * angle * x / side, Y: earthRadius * angle * y / side}
}

// unproject is the inverse of project.
func (p plane) unproject(q geom.XY) geom.XY {
	rho := math.Hypot(q.X, q.Y)
	if rho == 0 {
		return geom.XY{X: p.lon * 180 / math.Pi, Y: math.Atan2(p.sin, p.cos) * 180 / math.Pi}
	}
	sin, cos := math.Sincos(rho / earthRadius)
	lat := math.Asin(max(-1, min(1, cos*p.sin+q.Y*sin*p.cos/rho)))
	lon := p.lon + math.Atan2(q.X*sin, rho*p.cos*cos-q.Y*p.sin*sin)
	return geom.XY{X: math.Remainder(lon, 2*math.Pi) * 180 / math.Pi, Y: lat * 180 / math.Pi}
}

// edgeDegrees is the longest edge of a geometry that is projected; longer ones are divided.
const edgeDegrees = 1

// onPlane projects a geographic geometry.
func (p plane) onPlane(g *Geometry) geom.Geometry {
	in := g.g.Force2D()
	b := g.bounds
	if b.MaxX-b.MinX > edgeDegrees || b.MaxY-b.MinY > edgeDegrees {
		in = in.Densify(edgeDegrees)
	}
	return in.TransformXY(p.project)
}

// metresBetween returns the distance of two geographic geometries that do not intersect.
func metresBetween(a, b *Geometry) (float64, error) {
	pa, aok := a.g.AsPoint()
	pb, bok := b.g.AsPoint()
	if aok && bok {
		x, _ := pa.XY()
		y, _ := pb.XY()
		return haversine(x, y), nil
	}
	ax, ay := a.bounds.center()
	bx, by := b.bounds.center()
	bx = ax + math.Remainder(bx-ax, 360) // the shorter way around
	at := planeAt((ax+bx)/2, (ay+by)/2)
	switch { // exact from a point
	case aok:
		at = planeAt(ax, ay)
	case bok:
		at = planeAt(bx, by)
	}
	return guard(func() (float64, error) {
		d, ok := geom.Distance(at.onPlane(a), at.onPlane(b))
		if !ok {
			return 0, ErrSyntax
		}
		return min(d, math.Pi*earthRadius), nil // nothing is farther on the Earth
	})
}

// squareMetres returns the area of a geographic geometry, by a cylindrical projection that keeps areas.
func squareMetres(g geom.Geometry) float64 {
	return g.Force2D().TransformXY(func(p geom.XY) geom.XY {
		return geom.XY{X: earthRadius * p.X * math.Pi / 180, Y: earthRadius * math.Sin(p.Y*math.Pi/180)}
	}).Area()
}

// metresAlong returns the length of the lines of a geographic geometry.
func metresAlong(g geom.Geometry) float64 {
	sum := 0.0
	for _, part := range g.Dump() {
		line, ok := part.AsLineString()
		if !ok {
			continue
		}
		c := line.Coordinates()
		for i := 1; i < c.Length(); i++ {
			sum += haversine(c.GetXY(i-1), c.GetXY(i))
		}
	}
	return sum
}
