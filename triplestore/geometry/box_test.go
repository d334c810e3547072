package geometry_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore/geometry"
)

// No distance is less than what the boxes allow, so that boxes can decide what is too far away.
func TestADistanceIsNoLessThanThatOfTheBoxes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		random := func() *geometry.Geometry {
			x, y := r.Float64()*360-180, math.Asin(r.Float64()*2-1)*180/math.Pi
			d := math.Pow(10, r.Float64()*4-3)
			list := []string{
				fmt.Sprintf("POINT(%v %v)", x, y),
				fmt.Sprintf("LINESTRING(%v %v, %v %v)", x, y, min(180, x+d), max(-90, y-d)),
				fmt.Sprintf("POLYGON((%v %v, %v %v, %v %v, %v %v))", x, y, min(180, x+d), y, x, min(90, y+d), x, y),
			}
			return parse(t, list[r.IntN(3)])
		}
		a, b := random(), random()
		d, err := geometry.Distance(a, b, geometry.Metre)
		if err != nil {
			return
		}
		if d > math.Pi*6371009 {
			t.Fatalf("%s is %v m from %s, which is more than half around the Earth", a.WKT(), d, b.WKT())
		}
		d = d*(1+1e-9) + 1e-6
		if !slices.ContainsFunc(a.Bounds().Around(d), b.Bounds().Meets) || !slices.ContainsFunc(b.Bounds().Around(d), a.Bounds().Meets) {
			t.Fatalf("%s is %v m from %s, but their boxes are not near", a.WKT(), d, b.WKT())
		}
	})
}

// Coordinates that are none of the Earth must not turn a box inside out: nothing would be near it, not even itself.
func TestABoxIsAroundItselfWhereverItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(-800, 800)
		b := geometry.Box{MinX: at.Draw(t, "x"), MinY: at.Draw(t, "y")}
		b.MaxX, b.MaxY = b.MinX+rapid.Float64Range(0, 400).Draw(t, "width"), b.MinY+rapid.Float64Range(0, 200).Draw(t, "height")
		metres := rapid.Float64Range(0, 3e7).Draw(t, "metres")
		boxes := b.Around(metres)
		if !slices.ContainsFunc(boxes, func(a geometry.Box) bool { return a.Or(b) == a }) {
			t.Fatalf("%v within %g m is %v", b, metres, boxes)
		}
		for _, a := range boxes {
			if a.MinX > a.MaxX || a.MinY > a.MaxY {
				t.Fatalf("%v within %g m has the box %v", b, metres, a)
			}
		}
	})
}
