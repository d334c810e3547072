package geometry

import (
	"math"
	"slices"
)

// Box is a rectangle with sides parallel to the axes, borders included.
type Box struct{ MinX, MinY, MaxX, MaxY float64 }

// emptyBox contains no point.
var emptyBox = Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// Empty reports whether the box contains no point.
func (b Box) Empty() bool { return !(b.MinX <= b.MaxX && b.MinY <= b.MaxY) }

// Meets reports whether the boxes have a point in common.
func (b Box) Meets(c Box) bool {
	return b.MinX <= c.MaxX && c.MinX <= b.MaxX && b.MinY <= c.MaxY && c.MinY <= b.MaxY
}

// With returns the smallest box around b and a point.
func (b Box) With(x, y float64) Box {
	return Box{min(b.MinX, x), min(b.MinY, y), max(b.MaxX, x), max(b.MaxY, y)}
}

// Or returns the smallest box around both boxes.
func (b Box) Or(c Box) Box {
	return Box{min(b.MinX, c.MinX), min(b.MinY, c.MinY), max(b.MaxX, c.MaxX), max(b.MaxY, c.MaxY)}
}

// center returns the point in the middle of a box.
func (b Box) center() (x, y float64) { return (b.MinX + b.MaxX) / 2, (b.MinY + b.MaxY) / 2 }

// Around returns the boxes, in longitude and latitude, that contain every point at most the given distance, in metres,
// from a point of b. There are two if the distance reaches across the meridian of 180 degrees. b itself is inside even
// where its coordinates are none of the Earth, as those of careless data.
func (b Box) Around(metres float64) []Box {
	angle := metres / earthRadius // radians
	lat := angle * 180 / math.Pi * (1 + 1e-9)
	out := Box{-180, max(-90, b.MinY-lat), 180, min(90, b.MaxY+lat)}.Or(b)
	widest := max(math.Abs(b.MinY), math.Abs(b.MaxY)) * math.Pi / 180
	if widest+angle >= math.Pi/2 || b.MaxX-b.MinX >= 360 { // a pole is within the distance
		return []Box{out}
	}
	lon := math.Asin(math.Sin(angle)/math.Cos(widest)) * 180 / math.Pi * (1 + 1e-9)
	out.MinX, out.MaxX = b.MinX-lon, b.MaxX+lon
	switch {
	case out.MaxX-out.MinX >= 360:
		out.MinX, out.MaxX = min(-180, b.MinX), max(180, b.MaxX)
	case out.MinX < -180:
		other := out
		other.MinX, other.MaxX = out.MinX+360, 180
		return []Box{out, other}
	case out.MaxX > 180:
		other := out
		other.MinX, other.MaxX = -180, out.MaxX-360
		return []Box{out, other}
	}
	return []Box{out}
}

// near reports whether points of two boxes may be at most a distance from each other, in metres.
func near(a, b Box, metres float64) bool {
	around := func(a, b Box) bool {
		return slices.ContainsFunc(a.Around(metres), b.Meets)
	}
	return around(a, b) && around(b, a)
}

// atLeastBetween returns a distance of geometries in two boxes that was computed on a plane, but no less than boxes
// that are not near allow: on the plane, edges run a little beyond them.
func atLeastBetween(a, b Box, metres float64) float64 {
	if math.IsNaN(metres) || near(a, b, metres) {
		return metres
	}
	low, high := metres, math.Pi*earthRadius
	for high-low > 1e-9*high {
		if middle := (low + high) / 2; near(a, b, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
