package discover

import "math"

// choose takes the next link from the queue, nil if there is none. Usually that is the one of most worth; the keywords
// and chance have a share that grows with what they brought of late, compared with what the worth did.
func (w *walk) choose() (l *link, by int) {
	l = w.queue.best()
	if l == nil {
		return nil, byWorth
	}
	switch x := w.chance(); {
	case x < w.share(byWords):
		if worded := w.queue.worded(); worded != nil && worded.words > 0 && worded != l {
			l, by = worded, byWords
		}
	case x > 1-w.share(byChance):
		if other := w.unexplored(); other != nil && other != l {
			l, by = other, byChance
		}
	}
	l.done = true
	return l, by
}

// share returns the share of requests of an expert.
func (w *walk) share(of int) float64 {
	sum := 0.0
	for _, e := range w.experts {
		sum += (e.Yield + scarce) * (e.Yield + scarce)
	}
	e := w.experts[of].Yield + scarce
	return max(leastShare, e*e/sum)
}

// unexplored returns a link of a branch of which little was seen, compared with a few others.
func (w *walk) unexplored() (least *link) {
	fewest := float32(math.MaxFloat32)
	for range 12 {
		l := w.queue.any(w.chance())
		if l == nil || l.done || l.list || l.from == noPage || l.mean < 0 {
			continue
		}
		looked := float32(0)
		for at := l.from; at != noPage; at = w.pages[at].from {
			if w.pages[at].depth == 1 || w.pages[at].depth == 2 {
				looked += w.pages[at].below.n
			}
		}
		if looked < fewest {
			least, fewest = l, looked
		}
	}
	return least
}
