package exec

import (
	"cmp"
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
	"odarchive/triplestore/xsdval"
)

// textSearch finds the triples whose object matches a text query. It has all of them before it returns the first,
// since the best come first unless any order will do.
type textSearch struct {
	q    *query
	node *plan.TextSearch
	rows []textRow
	paid int
	out  pieces
	done bool
}

type textRow struct {
	quad  term.IDQuad
	score float32
}

const textRowBytes = 40

func (q *query) openTextSearch(n *plan.TextSearch) op { return &textSearch{q: q, node: n} }

func (s *textSearch) close() {
	s.q.budget.release(s.paid)
	s.paid, s.rows, s.done = 0, nil, true
	s.out.close()
}

func (s *textSearch) next() (*batch, error) {
	if !s.done {
		s.done = true
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	return s.out.next()
}

func (s *textSearch) run() error {
	if err := s.find(); err != nil {
		return err
	}
	if s.node.AnyOrder {
		if s.node.EachOnce {
			if err := s.eachOnce(); err != nil {
				return err
			}
		}
		return s.columns()
	}
	slices.SortFunc(s.rows, func(a, b textRow) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.quad.S, b.quad.S), cmp.Compare(a.quad.O, b.quad.O),
			cmp.Compare(a.quad.P, b.quad.P), cmp.Compare(a.quad.G, b.quad.G))
	})
	if s.node.EachOnce {
		type key struct{ s, g term.ID }
		seen := make(map[key]bool, len(s.rows))
		s.rows = slices.DeleteFunc(s.rows, func(r textRow) bool {
			k := key{r.quad.S, r.quad.G}
			again := seen[k]
			seen[k] = true
			return again
		})
	}
	if l := s.node.Limit; l >= 0 && len(s.rows) > l {
		s.rows = s.rows[:l]
	}
	return s.columns()
}

// eachOnce keeps the first row of each subject of a graph.
func (s *textSearch) eachOnce() error {
	seen := newIDSet(2, s.q.budget)
	defer seen.free()
	var err error
	s.rows = slices.DeleteFunc(s.rows, func(r textRow) bool {
		_, fresh, e := seen.add([]term.ID{r.quad.S, r.quad.G})
		err = cmp.Or(err, e)
		return !fresh
	})
	return err
}

// columns makes the output of the rows.
func (s *textSearch) columns() error {
	n := s.node
	b := &batch{n: len(s.rows), cols: newCols(len(n.Cols), len(s.rows))}
	var lastScore float32
	var lastID term.ID
	for i, r := range s.rows {
		if n.Score >= 0 && (lastID == 0 || r.score != lastScore) {
			id, err := s.q.terms.intern(term.Typed(xsdval.PlainDouble(float64(r.score)), xsdval.Double.IRI()))
			if err != nil {
				return err
			}
			lastScore, lastID = r.score, id
		}
		for c, slot := range n.Cols {
			switch slot {
			case n.Subject.Slot:
				b.cols[c][i] = r.quad.S
			case n.Score:
				b.cols[c][i] = lastID
			case n.Literal:
				b.cols[c][i] = r.quad.O
			case n.Predicate:
				b.cols[c][i] = r.quad.P
			default: // the name of the graph
				if r.quad.G != term.DefaultGraph {
					b.cols[c][i] = r.quad.G
				}
			}
		}
	}
	s.out = pieces{b: b, size: s.q.opts.BatchSize}
	return nil
}

// add keeps a quad that matches.
func (s *textSearch) add(x term.IDQuad, score float32) error {
	if s.paid/textRowBytes <= len(s.rows) {
		more := max(1024, len(s.rows)) * textRowBytes
		s.paid += more
		if err := s.q.budget.reserve(more); err != nil {
			return err
		}
	}
	s.rows = append(s.rows, textRow{x, score})
	return nil
}

// find gathers the quads: from the index for the predicates that it covers, and by reading the literals of others.
func (s *textSearch) find() error {
	searcher, indexed := text.SearcherOf(s.q.ds)
	wanted := s.node.Predicates
	if wanted == nil {
		if !indexed {
			return s.read(0)
		}
		wanted = searcher.TextPredicates()
	}
	var covered []term.ID
	for _, k := range slices.Compact(slices.Sorted(slices.Values(wanted))) {
		id, ok, err := s.q.ds.Lookup(k)
		if err != nil {
			return err
		}
		switch {
		case !ok:
		case indexed && slices.Contains(searcher.TextPredicates(), k):
			covered = append(covered, id)
		default:
			if err := s.read(id); err != nil {
				return err
			}
		}
	}
	if len(covered) == 0 {
		return nil
	}
	taken := 0
	defer func() { s.q.budget.release(taken) }()
	hits, err := searcher.SearchText(s.q.ctx, s.node.Query, func(bytes int) error {
		taken += bytes
		return s.q.budget.reserve(bytes)
	})
	if err != nil {
		return err
	}
	return s.join(hits, covered)
}

// position returns the pattern of the quads with a predicate, 0 for any.
func (s *textSearch) position(p term.ID) [4]plan.Pos {
	return [4]plan.Pos{{ID: s.node.Subject.ID, Slot: -1}, {ID: p, Slot: -1}, {Slot: -1}, s.node.Graph}
}

// join reads the quads with the literals that were found, moving forward through the index.
func (s *textSearch) join(hits []text.Hit, predicates []term.ID) error {
	size := len(hits) * 16
	if err := s.q.budget.reserve(size); err != nil {
		s.q.budget.release(size)
		return err
	}
	defer s.q.budget.release(size)
	slices.SortFunc(hits, func(a, b text.Hit) int { return cmp.Compare(a.ID, b.ID) })
	if s.node.Subject.ID != 0 {
		return s.ofSubject(hits, predicates)
	}
	only, order := term.ID(0), term.OSP
	if len(predicates) == 1 {
		only, order = predicates[0], term.POS
	}
	pos := s.position(only)
	src := s.q.source(pos, order)
	defer src.close()
	var pend []term.IDQuad
	for _, h := range hits {
		for len(pend) > 0 && pend[0].O < h.ID {
			if last := pend[len(pend)-1]; last.O < h.ID {
				pend = nil
				break
			}
			n, _ := slices.BinarySearchFunc(pend, h.ID, func(x term.IDQuad, id term.ID) int { return cmp.Compare(x.O, id) })
			pend = pend[n:]
		}
		if len(pend) == 0 {
			at := constants(pos)
			at.O = h.ID
			src.seek(at)
		}
		for {
			if len(pend) == 0 {
				var err error
				if pend, err = src.next(); err != nil {
					return err
				}
				if len(pend) == 0 {
					return nil // no quad has this or a later literal
				}
			}
			if pend[0].O < h.ID {
				n, _ := slices.BinarySearchFunc(pend, h.ID, func(x term.IDQuad, id term.ID) int { return cmp.Compare(x.O, id) })
				pend = pend[n:]
				continue
			}
			if pend[0].O != h.ID {
				break
			}
			if slices.Contains(predicates, pend[0].P) {
				if err := s.add(pend[0], h.Score); err != nil {
					return err
				}
			}
			pend = pend[1:]
		}
	}
	return nil
}

// ofSubject is join for a constant subject.
func (s *textSearch) ofSubject(hits []text.Hit, predicates []term.ID) error {
	for _, p := range predicates {
		src := s.q.source(s.position(p), term.SPO)
		for {
			quads, err := src.next()
			if err != nil || len(quads) == 0 {
				src.close()
				if err != nil {
					return err
				}
				break
			}
			for _, x := range quads {
				i, ok := slices.BinarySearchFunc(hits, x.O, func(h text.Hit, id term.ID) int { return cmp.Compare(h.ID, id) })
				if !ok {
					continue
				}
				if err := s.add(x, hits[i].Score); err != nil {
					src.close()
					return err
				}
			}
		}
	}
	return nil
}

// read finds matches by reading the literals of all quads with a predicate, or of all quads.
func (s *textSearch) read(predicate term.ID) error {
	order := term.POS
	switch {
	case s.node.Subject.ID != 0:
		order = term.SPO
	case predicate == 0:
		order = term.OSP
	}
	if !slices.Contains(s.q.ds.Orders(), order) {
		order = s.q.ds.Orders()[0]
	}
	src := s.q.source(s.position(predicate), order)
	defer src.close()
	var a text.Analyser
	var ids []term.ID
	var keys []term.Key
	last, found := term.ID(0), false
	for {
		quads, err := src.next()
		if err != nil || len(quads) == 0 {
			return err
		}
		ids = ids[:0]
		for _, x := range quads {
			ids = append(ids, x.O)
		}
		keys = slices.Grow(keys[:0], len(ids))[:len(ids)]
		if err := s.q.terms.resolve(ids, keys); err != nil {
			return err
		}
		for i, x := range quads {
			if x.O != last {
				t, tag, ok := text.Parts(keys[i])
				last, found = x.O, ok && s.node.Query.Match(&a, t, tag)
			}
			if found {
				if err := s.add(x, 1); err != nil {
					return err
				}
			}
		}
	}
}
