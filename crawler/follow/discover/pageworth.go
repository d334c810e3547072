package discover

import (
	"math"
	"slices"
)

// worthOf returns what a page was worth: the most files per request that can be had by way of it.
func (w *walk) worthOf(o outcome) float64 {
	sum := float64(o.files)
	best := sum
	var values [maxChildren]float64
	for i, l := range o.links {
		mean, _ := w.model.worth(l.traits, float64(l.place))
		values[i] = filesOf(min(mean, 4)) * discount
	}
	list := values[:len(o.links)]
	slices.SortFunc(list, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	for i, v := range list {
		sum += v
		best = max(best, sum/float64(i+2))
	}
	return worthOf(best)
}

// brought adds what a link brought to the branches that it is in.
func (w *walk) brought(l *link, worth float64) {
	for at, up := l.from, 0; at != noPage && up < maxBranch; at, up = w.pages[at].from, up+1 {
		b := &w.pages[at].below
		b.sum += float32(worth)
		b.n++
	}
}

// placeOf returns what a link on a page should bring by what the branches brought that the page is in: each branch is
// believed as far as it was looked at, and else counts as the one around it.
func (w *walk) placeOf(at int32) float64 {
	var way [maxBranch]int32
	n := 0
	for ; at != noPage && n < maxBranch; at = w.pages[at].from {
		way[n] = at
		n++
	}
	worth := usual
	for i := n - 1; i >= 0; i-- {
		b := w.pages[way[i]].below
		worth = (float64(b.sum) + belief*worth) / (float64(b.n) + belief)
	}
	return worth
}

// remember keeps an outcome, and looks at some earlier ones again: what their links promise is known better now.
func (w *walk) remember(o outcome) {
	if len(w.past) < maxPast {
		w.past = append(w.past, o)
	} else {
		w.past[int(w.chance()*maxPast)] = o
	}
	for range replays {
		old := w.past[int(w.chance()*float64(len(w.past)))]
		w.model.nudge(old.traits, old.place, w.worthOf(old), replayRate)
	}
}

// filesOf returns the files per request that a worth stands for, worthOf the reverse.
func filesOf(worth float64) float64 { return math.Max(0, math.Expm1(worth)) }
func worthOf(files float64) float64 { return math.Log1p(math.Max(0, files)) }

// chance returns a number from 0 to 1. It is the same sequence in each walk of a site.
func (w *walk) chance() float64 {
	w.random += 0x9E3779B97F4A7C15
	x := w.random
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return float64((x^x>>31)>>11) / (1 << 53)
}
