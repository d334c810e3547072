package geo

import (
	"slices"

	"odarchive/crawler/inspect/tables/source"
)

// figure is a geometry in memory, for formats whose order is not that of WKT.
type figure struct {
	word  string      // POINT, LINESTRING, POLYGON, or of a collection
	dims  int         // numbers of a point: 2, or 3 with heights
	parts [][]float64 // the points of a POINT or LINESTRING, the rings of a POLYGON
	kids  []figure    // of a collection
}

// draw draws the figure. implied is the word that the collection around it makes unnecessary.
func (f *figure) draw(p *source.Pen, implied string) {
	word := f.word
	if word != implied {
		if f.hasHeights() {
			word += " Z"
		}
		p.Word(word)
	}
	switch {
	case len(f.kids) > 0:
		kid := singles[f.word]
		p.Open()
		for i := range f.kids {
			f.kids[i].draw(p, kid)
		}
		p.Close()
	case len(f.parts) == 0 || f.word != "POLYGON" && len(f.parts[0]) == 0:
		p.Empty()
	case f.word == "POLYGON":
		p.Open()
		for _, ring := range f.parts {
			f.points(p, ring)
		}
		p.Close()
	default:
		f.points(p, f.parts[0])
	}
}

func (f *figure) hasHeights() bool {
	return f.dims == 3 || slices.ContainsFunc(f.kids, func(k figure) bool { return k.hasHeights() })
}

func (f *figure) points(p *source.Pen, numbers []float64) {
	p.Open()
	for i := 0; i+f.dims <= len(numbers); i += f.dims {
		p.Coord(numbers[i], numbers[i+1], numbers[i+2:i+f.dims]...)
	}
	p.Close()
}

// singles are the kinds of the members of collections of one kind.
var singles = map[string]string{"MULTIPOINT": "POINT", "MULTILINESTRING": "LINESTRING", "MULTIPOLYGON": "POLYGON"}

// collection returns several figures as one: of one kind if they are.
func collection(kids []figure) figure {
	if len(kids) == 1 {
		return kids[0]
	}
	f := figure{word: "GEOMETRYCOLLECTION", kids: kids}
	for many, one := range singles {
		if !slices.ContainsFunc(kids, func(k figure) bool { return k.word != one || k.dims != kids[0].dims }) && len(kids) > 0 {
			f.word = many
		}
	}
	return f
}

// flat removes heights that are all zero.
func (f *figure) flat() {
	for i := range f.kids {
		f.kids[i].flat()
	}
	if f.dims != 3 {
		return
	}
	for _, numbers := range f.parts {
		for i := 2; i < len(numbers); i += 3 {
			if numbers[i] != 0 {
				return
			}
		}
	}
	f.dims = 2
	for n, numbers := range f.parts {
		kept := numbers[:0]
		for i := 0; i+3 <= len(numbers); i += 3 {
			kept = append(kept, numbers[i], numbers[i+1])
		}
		f.parts[n] = kept
	}
}
