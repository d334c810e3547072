package search

import (
	"math"
)

// gathered are the documents of one part, by worth.
type gathered struct {
	by      map[[2]float64]*hit // by worth, and whether it is the title
	portals map[string]bool
}

func newGathered() *gathered { return &gathered{by: map[[2]float64]*hit{}, portals: map[string]bool{}} }

// at returns the set of the documents for which a word in a field is worth a share of the field's points. Worths are
// rounded, so that there are few sets.
func (g *gathered) at(points, share float64, title bool) *Set {
	worth := math.Round(2*points*share) / 2
	k := [2]float64{worth, 0}
	if title = title && share >= asForm; title {
		k[1] = 1
	}
	h := g.by[k]
	if h == nil {
		h = &hit{worth: worth, title: title}
		g.by[k] = h
	}
	return &h.docs
}

func (g *gathered) empty() bool {
	for _, h := range g.by {
		if !h.docs.Empty() {
			return false
		}
	}
	return len(g.portals) == 0
}
