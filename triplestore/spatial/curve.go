package spatial

import (
	"cmp"
	"math"
)

// order is the sort key of an entry in a segment. It puts literals of one layer that are of similar size and near each
// other next to each other, so that the boxes around the blocks of a segment are small.
type order struct {
	layer uint32
	class uint8  // size class, by the longer side of the box
	curve uint64 // position of the box's middle on a Hilbert curve
}

func orderOf(e *Entry) order {
	b := e.Box
	size := max(b.MaxX-b.MinX, b.MaxY-b.MinY)
	o := order{layer: e.Layer}
	if size > 1.0/128 {
		_, exponent := math.Frexp(float64(size)) // 0.5 <= fraction < 1
		o.class = uint8(1 + (exponent+6)/3)
	}
	x, y := (float64(b.MinX)+float64(b.MaxX))/2, (float64(b.MinY)+float64(b.MaxY))/2
	if e.Layer == 0 {
		o.curve = hilbert(cell((x+180)/360), cell((y+90)/180))
	} else {
		o.curve = hilbert(ordered(x), ordered(y))
	}
	return o
}

func compare(a, b order) int {
	return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.class, b.class), cmp.Compare(a.curve, b.curve))
}

// curveBits is the number of bits of a coordinate on the curve. A cell is about two metres wide.
const curveBits = 24

// cell returns the cell of a coordinate in the range from 0 to 1.
func cell(v float64) uint32 {
	if math.IsNaN(v) { // the middle of an infinite box
		v = 0
	}
	return uint32(min(max(v, 0), 1) * (1<<curveBits - 1))
}

// ordered returns the cell of a coordinate whose range is not known. Cells have the order of the coordinates.
func ordered(v float64) uint32 {
	if math.IsNaN(v) {
		v = 0
	}
	bits := math.Float32bits(float32(v))
	if bits>>31 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 31
	}
	return bits >> (32 - curveBits)
}

// hilbert returns the position of a cell on the Hilbert curve.
func hilbert(x, y uint32) uint64 {
	d := uint64(0)
	for s := uint32(1) << (curveBits - 1); s > 0; s >>= 1 {
		var rx, ry uint32
		if x&s != 0 {
			rx = 1
		}
		if y&s != 0 {
			ry = 1
		}
		d = d<<2 | uint64(3*rx^ry)
		if ry == 0 { // turn the quadrant
			if rx == 1 {
				x, y = ^x, ^y
			}
			x, y = y, x
		}
	}
	return d
}
