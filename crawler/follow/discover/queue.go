package discover

import (
	"cmp"
	"container/heap"
	"slices"
)

// queue holds the links that could be followed, for two experts: by learned worth, and by keywords.
type queue struct {
	model   *model
	all     []*link
	learned worthHeap
	words   wordHeap
	place   func(page int32) float64 // what the branch of a page brings
	looks   int                      // since all were looked at
}

const (
	maxQueue  = 40_000 // links; the least promising are dropped
	lookEvery = 25     // links taken between looks at the whole queue
	floor     = 0.03   // worth below which links are alike
)

func (q *queue) len() int { return len(q.all) }

// push adds a link. It returns links that were dropped to make room.
func (q *queue) push(l *link) (dropped []*link) {
	q.look(l)
	q.all = append(q.all, l)
	heap.Push(&q.learned, l)
	heap.Push(&q.words, l)
	if len(q.all) > maxQueue {
		return q.shrink(maxQueue * 3 / 4)
	}
	return nil
}

// look computes what a link is worth now. Links that promise hardly anything are alike, so that a desert is crossed in
// the order of discovery: what was tried in vain looks worse than what is deeper, but says little about it.
// What the software says is worth nothing comes after them.
func (q *queue) look(l *link) {
	l.place = float32(q.place(l.from))
	mean, _ := q.model.worth(l.traits, float64(l.place))
	l.mean, l.rank = float32(mean), float32(mean)
	if !l.vain {
		l.rank = max(l.rank, floor)
	}
}

// shrink keeps the n most promising links and returns the others.
func (q *queue) shrink(n int) (dropped []*link) {
	q.sweep()
	if len(q.all) <= n {
		return nil
	}
	slices.SortStableFunc(q.all, func(a, b *link) int { return cmp.Compare(b.rank, a.rank) })
	for _, l := range q.all[n:] {
		l.done = true
		dropped = append(dropped, l)
	}
	q.all = q.all[:n:n]
	q.rebuild()
	return dropped
}

// sweep forgets links that were followed, and looks at all others.
func (q *queue) sweep() {
	q.all = slices.DeleteFunc(q.all, func(l *link) bool { return l.done })
	for _, l := range q.all {
		q.look(l)
	}
	q.rebuild()
	q.looks = 0
}

func (q *queue) rebuild() {
	q.learned = append(q.learned[:0], q.all...)
	heap.Init(&q.learned)
	q.words = append(q.words[:0], q.all...)
	heap.Init(&q.words)
}

// best returns the link of most worth without taking it, nil if there is none.
func (q *queue) best() *link {
	if q.looks++; q.looks > lookEvery+len(q.all)/200 {
		q.sweep()
	}
	for len(q.learned) > 0 {
		l := q.learned[0]
		if l.done {
			heap.Pop(&q.learned)
			continue
		}
		before := l.rank
		q.look(l)
		if l.rank >= before-0.01 { // its worth may have fallen since
			return l
		}
		heap.Fix(&q.learned, 0)
	}
	return nil
}

// any returns the link at a place from 0 to 1 of the queue, nil if the queue is empty.
func (q *queue) any(at float64) *link {
	if len(q.all) == 0 {
		return nil
	}
	return q.all[min(int(at*float64(len(q.all))), len(q.all)-1)]
}

// worded returns the link with the highest keyword score, the first found first, nil if there is none.
func (q *queue) worded() *link {
	for len(q.words) > 0 {
		if l := q.words[0]; !l.done {
			return l
		}
		heap.Pop(&q.words)
	}
	return nil
}

// expected returns the number of files that the next n requests should bring.
func (q *queue) expected(n int) float64 {
	top := make(worthHeap, 0, len(q.all))
	for _, l := range q.all {
		if !l.done {
			top = append(top, l)
		}
	}
	heap.Init(&top)
	sum := 0.0
	for range min(n, len(top)) {
		l := heap.Pop(&top).(*link)
		sum += filesOf(float64(l.mean))
	}
	return sum
}

type worthHeap []*link

func (h worthHeap) Len() int { return len(h) }
func (h worthHeap) Less(i, j int) bool {
	a, b := h[i].rank, h[j].rank
	return a > b || a == b && h[i].seq < h[j].seq
}
func (h worthHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *worthHeap) Push(x any)   { *h = append(*h, x.(*link)) }
func (h *worthHeap) Pop() any     { return pop((*[]*link)(h)) }

type wordHeap []*link

func (h wordHeap) Len() int { return len(h) }
func (h wordHeap) Less(i, j int) bool {
	return h[i].words > h[j].words || h[i].words == h[j].words && h[i].seq < h[j].seq
}
func (h wordHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *wordHeap) Push(x any)   { *h = append(*h, x.(*link)) }
func (h *wordHeap) Pop() any     { return pop((*[]*link)(h)) }

func pop(h *[]*link) *link {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return l
}
