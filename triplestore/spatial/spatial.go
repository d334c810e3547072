// Package spatial finds geometry literals by their bounding boxes.
//
// An Index has the id and the box of each literal. Boxes are rounded outwards to 32-bit numbers, so a search for a
// Region returns candidates: every literal that may meet the region, and some that do not. The caller compares the
// geometries.
//
// Each reference system has a layer of its own. Geographic systems share the layer of longitudes and latitudes; so does
// the system of web maps, whose coordinates are transformed. Malformed and empty literals are not indexed, since no
// relation holds for them.
//
// An Index consists of immutable segments, in a key-value database or in memory. Literals are never removed: a search
// may return literals that no quad has any more, which the caller drops when it joins them with quads. The index can
// always be rebuilt from the quads. FORMAT.md describes the segments.
package spatial

import (
	"hash/fnv"
	"math"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/term"
)

// Entry is an indexed literal.
type Entry struct {
	ID    term.ID
	Layer uint32 // 0: longitude and latitude; else a hash of the reference system's IRI
	Box   Box
}

// Box is a rectangle with sides parallel to the axes, borders included.
type Box struct{ MinX, MinY, MaxX, MaxY float32 }

// nothing is a box without points. It is the neutral element of Box.or.
var nothing = Box{float32(math.Inf(1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(-1))}

// meets reports whether the boxes have a point in common.
func (b Box) meets(c Box) bool {
	return b.MinX <= c.MaxX && c.MinX <= b.MaxX && b.MinY <= c.MaxY && c.MinY <= b.MaxY
}

func (b Box) contains(c Box) bool {
	return b.MinX <= c.MinX && c.MaxX <= b.MaxX && b.MinY <= c.MinY && c.MaxY <= b.MaxY
}

// or returns the smallest box that contains b and c.
func (b Box) or(c Box) Box {
	return Box{min(b.MinX, c.MinX), min(b.MinY, c.MinY), max(b.MaxX, c.MaxX), max(b.MaxY, c.MaxY)}
}

// share returns the part of c's area that lies in b, from 0 to 1.
func (b Box) share(c Box) float64 {
	along := func(bMin, bMax, cMin, cMax float32) float64 {
		if bMax < cMin || cMax < bMin {
			return 0
		}
		if cMax <= cMin || math.IsInf(float64(cMax)-float64(cMin), 0) {
			return 1
		}
		return (float64(min(bMax, cMax)) - float64(max(bMin, cMin))) / (float64(cMax) - float64(cMin))
	}
	return along(b.MinX, b.MaxX, c.MinX, c.MaxX) * along(b.MinY, b.MaxY, c.MinY, c.MaxY)
}

// outward returns the smallest box of 32-bit numbers that contains b.
func outward(b geometry.Box) Box {
	return Box{down(b.MinX), down(b.MinY), up(b.MaxX), up(b.MaxY)}
}

func down(v float64) float32 {
	f := float32(v)
	if float64(f) > v {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

func up(v float64) float32 { return -down(-v) }

// place returns the layer and the box of a geometry. ok is false if the geometry is empty.
func place(g *geometry.Geometry) (layer uint32, b geometry.Box, ok bool) {
	if g.Empty() {
		return 0, b, false
	}
	if g.Geographic() {
		return 0, g.Bounds(), true
	}
	if g.System() == geometry.EPSG3857 {
		if w, err := g.Transform(geometry.CRS84); err == nil {
			return 0, w.Bounds(), true
		}
	}
	h := fnv.New32a()
	h.Write([]byte(g.System()))
	return max(1, h.Sum32()), g.Bounds(), true
}

// Takes reports whether a term is a literal of a datatype whose geometries are indexed.
func Takes(k term.Key) bool {
	return len(k) > 1 && k[0] == '^' && geometry.IsDatatype(k.Datatype())
}

// EntryOf returns the entry of a literal. ok is false if the literal is not indexed.
func EntryOf(id term.ID, k term.Key) (e Entry, ok bool) {
	if !Takes(k) {
		return e, false
	}
	g, err := geometry.Parse(k.Value(), k.Datatype())
	if err != nil {
		return e, false
	}
	layer, b, ok := place(g)
	return Entry{ID: id, Layer: layer, Box: outward(b)}, ok
}

// Region is the union of some boxes in one layer, or everything.
type Region struct {
	layer      uint32
	boxes      []Box
	everywhere bool // the boxes apply to all layers
}

// slack is added to each side of regions in the layer of longitudes and latitudes, in degrees; it is about a metre. It
// covers what is lost when coordinates of web maps are transformed: they are rounded, and these maps end before the
// poles.
const slack = 1e-5

// Meeting returns the region of the literals whose boxes may meet the box of a geometry.
func Meeting(g *geometry.Geometry) Region {
	layer, b, ok := place(g)
	if !ok {
		return Region{}
	}
	return regionOf(layer, b)
}

// Within returns the region of the literals whose distance from a geometry, by geometry.Distance, may be at most
// metres. In reference systems that are not geographic, the unit of the coordinates counts as a metre.
func Within(g *geometry.Geometry, metres float64) Region {
	layer, b, ok := place(g)
	switch {
	case !ok || !(metres >= 0):
		return Region{}
	case layer == 0:
		return regionOf(0, b.Around(metres+0.01)...)
	}
	metres *= 1 + 1e-9
	return regionOf(layer, geometry.Box{MinX: b.MinX - metres, MinY: b.MinY - metres, MaxX: b.MaxX + metres, MaxY: b.MaxY + metres})
}

// Everywhere returns the region of all literals.
func Everywhere() Region {
	r := regionOf(0, geometry.Box{MinX: math.Inf(-1), MinY: math.Inf(-1), MaxX: math.Inf(1), MaxY: math.Inf(1)})
	r.everywhere = true
	return r
}

// regionOf returns the region of some boxes in a layer, with slack.
func regionOf(layer uint32, boxes ...geometry.Box) Region {
	r := Region{layer: layer}
	for _, b := range boxes {
		if layer == 0 {
			b = geometry.Box{MinX: b.MinX - slack, MinY: b.MinY - slack, MaxX: b.MaxX + slack, MaxY: b.MaxY + slack}
		}
		r.boxes = append(r.boxes, outward(b))
	}
	return r
}

// Empty reports whether nothing can be found in the region.
func (r Region) Empty() bool { return len(r.boxes) == 0 }

// in reports whether the region's boxes apply to a layer.
func (r Region) in(layer uint32) bool { return r.everywhere || r.layer == layer }

// meets reports whether a box meets one of the region's boxes.
func (r Region) meets(b Box) bool {
	for i := range r.boxes {
		if r.boxes[i].meets(b) {
			return true
		}
	}
	return false
}
