package source

import (
	"encoding/binary"
	"errors"
	"math"
)

// maxNested is how deep geometries in WKB may contain others.
const maxNested = 8

// ErrWKB is returned for bytes that are no geometry.
var ErrWKB = errors.New("not a geometry in WKB")

// wkbNames are the words of the types of WKB (OGC 06-103r4, ISO 13249-3).
var wkbNames = [...]string{1: "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
	"CIRCULARSTRING",
	"COMPOUNDCURVE", "CURVEPOLYGON", "MULTICURVE", "MULTISURFACE", "CURVE", "SURFACE", "POLYHEDRALSURFACE", "TIN", "TRIANGLE"}

// wkb reads a geometry in WKB.
type wkb struct {
	b   []byte
	pen *Pen
}

// WKB draws a geometry in well-known binary: that of ISO, or PostGIS's extended one.
func (p *Pen) WKB(b []byte) error {
	r := wkb{b, p}
	return r.geometry("", 0)
}

// geometry reads one geometry. implied is the word that its parent makes unnecessary, as the points of a multi-point.
func (r *wkb) geometry(implied string, depth int) error {
	if depth > maxNested || len(r.b) < 5 || r.b[0] > 1 {
		return ErrWKB
	}
	var order binary.ByteOrder = binary.BigEndian
	if r.b[0] == 1 {
		order = binary.LittleEndian
	}
	code := order.Uint32(r.b[1:])
	r.b = r.b[5:]
	more, suffix := 0, ""
	z, m, srid := code&0x80000000 != 0, code&0x40000000 != 0, code&0x20000000 != 0
	code &= 0x0fffffff
	switch thousands := code / 1000; thousands {
	case 0:
	case 1:
		z = true
	case 2:
		m = true
	case 3:
		z, m = true, true
	default:
		return ErrWKB
	}
	if code %= 1000; code == 0 || int(code) >= len(wkbNames) {
		return ErrWKB
	}
	if srid {
		if len(r.b) < 4 {
			return ErrWKB
		}
		r.b = r.b[4:]
	}
	if z {
		more, suffix = more+1, suffix+"Z"
	}
	if m {
		more, suffix = more+1, suffix+"M"
	}
	name := wkbNames[code]
	if name != implied {
		if suffix != "" {
			suffix = " " + suffix
		}
		r.pen.Word(name + suffix)
	}
	switch code {
	case 1:
		return r.point(order, more)
	case 2, 8:
		return r.points(order, more)
	case 3, 17:
		return r.list(order, func() error { return r.points(order, more) })
	case 4, 5, 6, 15, 16:
		child := map[uint32]string{4: "POINT", 5: "LINESTRING", 6: "POLYGON", 15: "POLYGON", 16: "TRIANGLE"}[code]
		return r.list(order, func() error { return r.geometry(child, depth+1) })
	case 7, 12:
		return r.list(order, func() error { return r.geometry(map[bool]string{true: "POLYGON"}[code == 12], depth+1) })
	case 9, 10, 11:
		return r.list(order, func() error { return r.geometry("LINESTRING", depth+1) })
	}
	return ErrWKB
}

func (r *wkb) float(order binary.ByteOrder) float64 {
	v := math.Float64frombits(order.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

func (r *wkb) coord(order binary.ByteOrder, more int) {
	x, y := r.float(order), r.float(order)
	var rest [2]float64
	for i := range more {
		rest[i] = r.float(order)
	}
	r.pen.Coord(x, y, rest[:more]...)
}

func (r *wkb) point(order binary.ByteOrder, more int) error {
	if len(r.b) < 16+8*more {
		return ErrWKB
	}
	if x := math.Float64frombits(order.Uint64(r.b)); math.IsNaN(x) { // how an empty point is written
		r.b = r.b[16+8*more:]
		r.pen.Empty()
		return nil
	}
	r.pen.Open()
	r.coord(order, more)
	r.pen.Close()
	return nil
}

// count reads the number of what follows, each of at least size bytes.
func (r *wkb) count(order binary.ByteOrder, size int) (int, error) {
	if len(r.b) < 4 {
		return 0, ErrWKB
	}
	n := int64(order.Uint32(r.b))
	if r.b = r.b[4:]; n*int64(size) > int64(len(r.b)) {
		return 0, ErrWKB
	}
	return int(n), nil
}

func (r *wkb) points(order binary.ByteOrder, more int) error {
	n, err := r.count(order, 16+8*more)
	if err != nil {
		return err
	}
	if n == 0 {
		r.pen.Empty()
		return nil
	}
	r.pen.Open()
	for range n {
		r.coord(order, more)
	}
	r.pen.Close()
	return nil
}

func (r *wkb) list(order binary.ByteOrder, one func() error) error {
	n, err := r.count(order, 4)
	if err != nil {
		return err
	}
	if n == 0 {
		r.pen.Empty()
		return nil
	}
	r.pen.Open()
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	r.pen.Close()
	return nil
}
