package sparql

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"odarchive/triplestore/term"
)

// overlay is a dataset with changes: the later operations of an update request see the earlier ones through it before
// anything is committed. It is meant for updates that people write, not for bulk loads. It may be read concurrently,
// but not while it changes.
type overlay struct {
	term.Dataset
	ids     map[term.Key]term.ID // terms that the dataset below does not have
	keys    []term.Key           // by the number of such an id
	added   map[term.IDQuad]bool
	removed map[term.IDQuad]bool

	mu     sync.Mutex       // guards sorted: several goroutines of a query scan
	sorted [4][]term.IDQuad // added, in each order; nil if it must be sorted again
}

func newOverlay(ds term.Dataset) *overlay {
	return &overlay{Dataset: ds, ids: map[term.Key]term.ID{}, added: map[term.IDQuad]bool{}, removed: map[term.IDQuad]bool{}}
}

// overlayBit marks the ids of an overlay's own terms. Dictionaries number terms from 1 and never use it.
const overlayBit = 1 << 58

var kindTags = map[term.Kind]term.Tag{
	term.KindIRI: term.TagIRI, term.KindBlank: term.TagBlank, term.KindLiteral: term.TagLiteral, term.KindTriple: term.TagTriple,
}

func (o *overlay) id(k term.Key) (term.ID, error) {
	if k == "" {
		return term.DefaultGraph, nil
	}
	id, ok, err := o.Lookup(k)
	if err != nil || ok {
		return id, err
	}
	id = term.Make(kindTags[k.Kind()], overlayBit|uint64(len(o.keys)))
	o.keys = append(o.keys, k)
	o.ids[k] = id
	return id, nil
}

func (o *overlay) quad(q term.Quad) (id term.IDQuad, err error) {
	if id.S, err = o.id(q.S); err != nil {
		return id, err
	}
	if id.P, err = o.id(q.P); err != nil {
		return id, err
	}
	if id.O, err = o.id(q.O); err != nil {
		return id, err
	}
	id.G, err = o.id(q.G)
	return id, err
}

func (o *overlay) below(q term.IDQuad) (bool, error) {
	c := o.Dataset.Scan(term.Pattern(q), term.SPO)
	defer c.Close()
	rows, err := c.Next()
	return len(rows) > 0, err
}

func (o *overlay) insert(q term.Quad) error {
	id, err := o.quad(q)
	if err != nil {
		return err
	}
	if o.removed[id] {
		delete(o.removed, id)
		return nil
	}
	there, err := o.below(id)
	if err != nil || there {
		return err
	}
	o.added[id] = true
	o.sorted = [4][]term.IDQuad{}
	return nil
}

func (o *overlay) remove(q term.Quad) error {
	id, err := o.quad(q)
	if err != nil {
		return err
	}
	return o.removeID(id)
}

func (o *overlay) removeID(id term.IDQuad) error {
	if o.added[id] {
		delete(o.added, id)
		o.sorted = [4][]term.IDQuad{}
		return nil
	}
	there, err := o.below(id)
	if err == nil && there {
		o.removed[id] = true
	}
	return err
}

func (o *overlay) clear(g term.Key) error {
	id, err := o.id(g)
	if err != nil {
		return err
	}
	var quads []term.IDQuad
	if err := each(o, term.Pattern{G: id}, func(q term.IDQuad) { quads = append(quads, q) }); err != nil {
		return err
	}
	for _, q := range quads {
		if err := o.removeID(q); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with the quads that match.
func each(ds term.Dataset, p term.Pattern, f func(term.IDQuad)) error {
	c := ds.Scan(p, term.SPO)
	defer c.Close()
	for {
		rows, err := c.Next()
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, q := range rows {
			f(q)
		}
	}
}

// Lookup finds terms of the dataset and of the changes.
func (o *overlay) Lookup(k term.Key) (term.ID, bool, error) {
	if id, ok := o.ids[k]; ok {
		return id, true, nil
	}
	return o.Dataset.Lookup(k)
}

// Keys returns terms of the dataset and of the changes.
func (o *overlay) Keys(ids []term.ID, keys []term.Key) error {
	own := func(id term.ID) bool { return !id.Inline() && id.Payload()&overlayBit != 0 }
	if !slices.ContainsFunc(ids, own) {
		return o.Dataset.Keys(ids, keys)
	}
	var rest []term.ID
	for _, id := range ids {
		if !own(id) {
			rest = append(rest, id)
		}
	}
	found := make([]term.Key, len(rest))
	if err := o.Dataset.Keys(rest, found); err != nil {
		return err
	}
	for i, id := range ids {
		if !own(id) {
			keys[i], found = found[0], found[1:]
			continue
		}
		n := id.Payload() &^ overlayBit
		if n >= uint64(len(o.keys)) {
			return fmt.Errorf("sparql: unknown term id %#x", uint64(id))
		}
		keys[i] = o.keys[n]
	}
	return nil
}

// Graphs calls f with the graphs that are not empty after the changes.
func (o *overlay) Graphs(f func(term.ID) bool) error {
	set := map[term.ID]bool{}
	for q := range o.added {
		set[q.G] = true
	}
	touched := map[term.ID]bool{}
	for q := range o.removed {
		touched[q.G] = true
	}
	var failed error
	err := o.Dataset.Graphs(func(g term.ID) bool {
		if touched[g] && !set[g] {
			c := o.Scan(term.Pattern{G: g}, term.SPO)
			rows, err := c.Next()
			c.Close()
			if err != nil {
				failed = err
				return false
			}
			if len(rows) == 0 {
				return true
			}
		}
		set[g] = true
		return true
	})
	if err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	delete(set, term.DefaultGraph)
	ids := make([]term.ID, 0, len(set))
	for g := range set {
		ids = append(ids, g)
	}
	slices.Sort(ids)
	for _, g := range ids {
		if !f(g) {
			break
		}
	}
	return nil
}

// Estimate adds the inserted quads that may match to the estimate, which is not exact then.
func (o *overlay) Estimate(p term.Pattern) term.Estimate {
	e := o.Dataset.Estimate(p)
	if len(o.added)+len(o.removed) == 0 {
		return e
	}
	e.Exact = false
	if len(o.added) > 0 {
		order := term.SPO
		switch {
		case p.S != 0 && p.P == 0 && p.O != 0:
			order = term.OSP
		case p.S != 0:
		case p.P != 0:
			order = term.POS
		case p.O != 0:
			order = term.OSP
		}
		e.Count += float64(len(prefixed(o.top(order), order, p)))
	}
	return e
}

// prefixed returns the part of quads, which are sorted in an order, that begins with the constants of p.
func prefixed(quads []term.IDQuad, order term.Order, p term.Pattern) []term.IDQuad {
	positions := [...][3]int{term.SPO: {0, 1, 2}, term.POS: {1, 2, 0}, term.OSP: {2, 0, 1}, term.PSO: {1, 0, 2}}[order]
	at := func(q *term.IDQuad, i int) term.ID { return [3]term.ID{q.S, q.P, q.O}[i] }
	want := [3]term.ID{p.S, p.P, p.O}
	n := 0
	for n < 3 && want[positions[n]] != 0 {
		n++
	}
	compare := func(q term.IDQuad, _ int) int {
		for _, i := range positions[:n] {
			if c := cmp.Compare(at(&q, i), want[i]); c != 0 {
				return c
			}
		}
		return 0
	}
	from, _ := slices.BinarySearchFunc(quads, 0, compare)
	quads = quads[from:]
	to, _ := slices.BinarySearchFunc(quads, 0, func(q term.IDQuad, x int) int {
		if c := compare(q, x); c != 0 {
			return c
		}
		return -1
	})
	return quads[:to]
}

// Scan merges the quads of the dataset that are not removed with the inserted ones.
func (o *overlay) Scan(p term.Pattern, order term.Order) term.Cursor {
	if len(o.added)+len(o.removed) == 0 {
		return o.Dataset.Scan(p, order)
	}
	return &overlayCursor{order: order, pattern: p, below: o.Dataset.Scan(p, order), removed: o.removed,
		top: prefixed(o.top(order), order, p)}
}

// top returns the inserted quads in an order.
func (o *overlay) top(order term.Order) []term.IDQuad {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sorted[order] == nil {
		rows := slices.Collect(maps.Keys(o.added))
		slices.SortFunc(rows, func(a, b term.IDQuad) int { return compareQuads(order, a, b) })
		o.sorted[order] = rows
	}
	return o.sorted[order]
}

type overlayCursor struct {
	order   term.Order
	pattern term.Pattern
	below   term.Cursor
	rows    []term.IDQuad // read from below, not yet returned
	ended   bool
	removed map[term.IDQuad]bool
	top     []term.IDQuad
	out     []term.IDQuad
}

func (c *overlayCursor) Next() ([]term.IDQuad, error) {
	c.out = c.out[:0]
	for len(c.out) == 0 {
		if len(c.rows) == 0 && !c.ended {
			rows, err := c.below.Next()
			if err != nil {
				return nil, err
			}
			c.rows, c.ended = rows, len(rows) == 0
		}
		if c.ended && len(c.top) == 0 {
			return nil, nil
		}
		for len(c.rows) > 0 || c.ended && len(c.top) > 0 {
			if len(c.top) > 0 && (len(c.rows) == 0 || compareQuads(c.order, c.top[0], c.rows[0]) < 0) {
				if matches(c.pattern, c.top[0]) {
					c.out = append(c.out, c.top[0])
				}
				c.top = c.top[1:]
				continue
			}
			if !c.removed[c.rows[0]] {
				c.out = append(c.out, c.rows[0])
			}
			c.rows = c.rows[1:]
		}
	}
	return c.out, nil
}

func (c *overlayCursor) SeekGE(q term.IDQuad) {
	before := func(x term.IDQuad) bool { return compareQuads(c.order, x, q) < 0 }
	for len(c.rows) > 0 && before(c.rows[0]) {
		c.rows = c.rows[1:]
	}
	if len(c.rows) == 0 {
		c.below.SeekGE(q)
	}
	n, _ := slices.BinarySearchFunc(c.top, q, func(x, q term.IDQuad) int { return compareQuads(c.order, x, q) })
	c.top = c.top[n:]
}

func (c *overlayCursor) Close() { c.below.Close() }

func matches(p term.Pattern, q term.IDQuad) bool {
	graph := p.G == term.AnyGraph || p.G == q.G || p.G == term.AnyNamed && q.G != term.DefaultGraph
	return graph && (p.S == 0 || p.S == q.S) && (p.P == 0 || p.P == q.P) && (p.O == 0 || p.O == q.O)
}

func compareQuads(o term.Order, a, b term.IDQuad) int {
	s, p, ob := cmp.Compare(a.S, b.S), cmp.Compare(a.P, b.P), cmp.Compare(a.O, b.O)
	g := cmp.Compare(a.G, b.G)
	switch o {
	case term.SPO:
		return cmp.Or(s, p, ob, g)
	case term.POS:
		return cmp.Or(p, ob, s, g)
	case term.OSP:
		return cmp.Or(ob, s, p, g)
	}
	return cmp.Or(p, s, ob, g)
}
