package geo

import "odarchive/triplestore/geometry"

// maxTests bounds the product of the rings and points of a polygon whose holes are looked for in each outer ring. In
// larger ones, a hole belongs to the outer ring before it, as most programs write them.
const maxTests = 100_000_000

// area returns twice the area of a ring; it is negative if the ring runs clockwise.
func (p part) area() float64 {
	sum := 0.0
	n := len(p.points) / 16
	x0, y0 := float(p.points), float(p.points[8:])
	for i := range n {
		j := (i + 1) % n
		sum += (float(p.points[16*i:])-x0)*(float(p.points[16*j+8:])-y0) - (float(p.points[16*j:])-x0)*(float(p.points[16*i+8:])-y0)
	}
	return sum
}

func (p part) box() geometry.Box {
	b := geometry.Box{MinX: float(p.points), MinY: float(p.points[8:]), MaxX: float(p.points), MaxY: float(p.points[8:])}
	for i := 16; i < len(p.points); i += 16 {
		b = b.With(float(p.points[i:]), float(p.points[i+8:]))
	}
	return b
}

// contains reports whether a point lies within a ring.
func (p part) contains(x, y float64) bool {
	inside := false
	n := len(p.points) / 16
	for i := range n {
		j := (i + 1) % n
		xi, yi, xj, yj := float(p.points[16*i:]), float(p.points[16*i+8:]), float(p.points[16*j:]), float(p.points[16*j+8:])
		if (yi > y) != (yj > y) && x < (xj-xi)*(y-yi)/(yj-yi)+xi {
			inside = !inside
		}
	}
	return inside
}

// grouped returns the rings of each polygon, the outer one first. If all rings run the wrong way, all are outer ones.
func grouped(rings []part) (groups [][]part) {
	if len(rings) == 1 {
		return [][]part{rings}
	}
	var holes []int
	group := make([]int, len(rings)) // the group of each outer ring, and the last group before each hole
	for i, r := range rings {
		if r.area() < 0 {
			groups = append(groups, []part{r})
		} else {
			holes = append(holes, i)
		}
		group[i] = len(groups) - 1
	}
	if len(groups) == 0 {
		for _, r := range rings {
			groups = append(groups, []part{r})
		}
		return groups
	}
	var boxes []geometry.Box
	points := 0
	for _, r := range rings {
		points += len(r.points) / 16
	}
	if len(groups) > 1 && len(rings)*points <= maxTests {
		for _, g := range groups {
			boxes = append(boxes, g[0].box())
		}
	}
	for _, i := range holes {
		at := max(0, group[i])
		x, y := float(rings[i].points), float(rings[i].points[8:])
		within := func(g int) bool {
			b := boxes[g]
			return x >= b.MinX && x <= b.MaxX && y >= b.MinY && y <= b.MaxY && groups[g][0].contains(x, y)
		}
		if boxes != nil && !within(at) {
			for g := range groups {
				if within(g) {
					at = g
					break
				}
			}
		}
		groups[at] = append(groups[at], rings[i])
	}
	return groups
}
