// Package spatial finds geometry literals by the boxes around them.
//
// An Index holds the id of each literal and its box, rounded outwards to 32-bit numbers, so what it finds for a Region
// are candidates: every literal that may meet the region, and some that do not. The caller compares the geometries.
// Geographic geometries, and those of web maps, which can be compared with them, share one layer of longitudes and
// latitudes; each other reference system has a layer of its own. Literals that are malformed or empty are not indexed:
// no relation that the index serves holds for them.
//
// An Index is a set of immutable segments, in a key-value database or in memory. It only grows; a literal that no quad
// has any more is found nevertheless, and the caller, who joins the literals with quads, drops it. The index is derived
// from the quads and can always be rebuilt. FORMAT.md describes the segments.
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

// nothing contains no point.
var nothing = Box{float32(math.Inf(1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(-1))}

// meets reports whether the boxes have a point in common.
func (b Box) meets(c Box) bool {
	return b.MinX <= c.MaxX && c.MinX <= b.MaxX && b.MinY <= c.MaxY && c.MinY <= b.MaxY
}

func (b Box) contains(c Box) bool {
	return b.MinX <= c.MinX && c.MaxX <= b.MaxX && b.MinY <= c.MinY && c.MaxY <= b.MaxY
}

// or returns the smallest box around both.
func (b Box) or(c Box) Box {
	return Box{min(b.MinX, c.MinX), min(b.MinY, c.MinY), max(b.MaxX, c.MaxX), max(b.MaxY, c.MaxY)}
}

// share estimates the share of c that lies in b.
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

// place returns the layer and the box of a geometry. ok is false if it has no point.
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

// EntryOf returns the entry of a literal. ok is false if it does not belong into the index.
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

// Region is where literals are looked for.
type Region struct {
	layer      uint32
	boxes      []Box // any of them
	everywhere bool  // in any layer
}

// slack is added to regions of longitudes and latitudes, in degrees, about a metre: web maps end before the poles, and
// their coordinates are rounded when they are transformed.
const slack = 1e-5

// Meeting returns the region of the literals whose box may meet that of a geometry.
func Meeting(g *geometry.Geometry) Region {
	layer, b, ok := place(g)
	if !ok {
		return Region{}
	}
	return regionOf(layer, b)
}

// Within returns the region of the literals that geometry.Distance may find at most a distance, in metres, from a
// geometry. In a reference system that is not geographic, a metre is a unit of the coordinates.
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

// in reports whether the region has a part in a layer.
func (r Region) in(layer uint32) bool { return r.everywhere || r.layer == layer }

// meets reports whether a box of the region's layer may belong to a literal of the region.
func (r Region) meets(b Box) bool {
	for i := range r.boxes {
		if r.boxes[i].meets(b) {
			return true
		}
	}
	return false
}
