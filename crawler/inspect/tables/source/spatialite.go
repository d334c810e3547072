package source

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrSpatiaLite is returned for bytes that are no geometry.
var ErrSpatiaLite = errors.New("not a geometry of SpatiaLite")

// Marks in the geometries of SpatiaLite ("BLOB-Geometry" in its documentation).
const (
	liteStart  = 0x00
	liteBox    = 0x7c // after the box, before the geometry
	liteEntity = 0x69 // before each member of a collection
	liteEnd    = 0xfe
	liteTiny   = 0x80 // with the byte order in the lowest bit: a point without a box
)

// SpatiaLite draws a geometry as SpatiaLite stores it: byte order, system, box, and something like WKB, in which lines
// and polygons may be compressed.
func (p *Pen) SpatiaLite(b []byte) error {
	if len(b) < 24 || b[0] != liteStart || b[len(b)-1] != liteEnd {
		return ErrSpatiaLite
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[1]&1 == 1 {
		order = binary.LittleEndian
	}
	if b[1]&^1 == liteTiny { // TinyPoint: its class is one byte
		more := [5]int{1: 0, 2: 1, 3: 1, 4: 2}
		if b[6] < 1 || b[6] > 4 {
			return ErrSpatiaLite
		}
		p.Word("POINT" + []string{1: "", 2: " Z", 3: " M", 4: " ZM"}[b[6]])
		r := wkb{b[7 : len(b)-1], p}
		return liteError(r.point(order, more[b[6]]))
	}
	if b[1] > 1 || len(b) < 44 || b[38] != liteBox {
		return ErrSpatiaLite
	}
	r := lite{wkb{b[39 : len(b)-1], p}, order}
	return liteError(r.geometry("", 0))
}

func liteError(err error) error {
	if err != nil {
		return ErrSpatiaLite
	}
	return nil
}

// lite reads a geometry of SpatiaLite.
type lite struct {
	wkb
	order binary.ByteOrder
}

// geometry reads a geometry from its class on. implied is the word that its parent makes unnecessary.
func (r *lite) geometry(implied string, depth int) error {
	if depth > 1 || len(r.b) < 4 { // collections have no collections in them
		return ErrWKB
	}
	code := r.order.Uint32(r.b)
	r.b = r.b[4:]
	packed := code >= 1_000_000
	code %= 1_000_000
	dims, kind := code/1000, code%1000
	if dims > 3 || kind < 1 || kind > 7 || packed && kind != 2 && kind != 3 {
		return ErrWKB
	}
	more := []int{0, 1, 1, 2}[dims]
	name := wkbNames[kind]
	if name != implied {
		r.pen.Word(name + []string{"", " Z", " M", " ZM"}[dims])
	}
	points := func() error { return r.points(r.order, more) }
	if packed {
		points = func() error { return r.packedPoints(dims) }
	}
	switch kind {
	case 1:
		return r.point(r.order, more)
	case 2:
		return points()
	case 3:
		return r.list(r.order, points)
	}
	return r.list(r.order, func() error {
		if len(r.b) == 0 || r.b[0] != liteEntity {
			return ErrWKB
		}
		r.b = r.b[1:]
		return r.geometry([]string{4: "POINT", 5: "LINESTRING", 6: "POLYGON", 7: ""}[kind], depth+1)
	})
}

// packedPoints reads points of which only the first and the last are whole: the others are differences from the point
// before, as numbers of four bytes. A measure is always whole.
func (r *lite) packedPoints(dims uint32) error {
	z, m := dims == 1 || dims == 3, dims >= 2
	size := 8
	if z {
		size += 4
	}
	if m {
		size += 8
	}
	n, err := r.count(r.order, size)
	if err != nil {
		return err
	}
	if n == 0 {
		r.pen.Empty()
		return nil
	}
	if whole := 8 * (2 + []int{0, 1, 1, 2}[dims]); len(r.b) < (n-min(n, 2))*size+min(n, 2)*whole {
		return ErrWKB
	}
	r.pen.Open()
	var at [3]float64
	for i := range n {
		next := func(k int) {
			if i == 0 || i == n-1 {
				at[k] = r.float(r.order)
				return
			}
			at[k] += float64(math.Float32frombits(r.order.Uint32(r.b)))
			r.b = r.b[4:]
		}
		next(0)
		next(1)
		var rest [2]float64
		more := rest[:0]
		if z {
			next(2)
			more = append(more, at[2])
		}
		if m {
			more = append(more, r.float(r.order))
		}
		r.pen.Coord(at[0], at[1], more...)
	}
	r.pen.Close()
	return nil
}
