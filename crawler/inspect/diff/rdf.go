package diff

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// Triples is a change of statements. Blank nodes have no lasting names: they are distinguished by the statements about
// them, and about what they are connected to within a few steps.
type Triples struct {
	From    int64    `json:"from"` // distinct statements
	To      int64    `json:"to"`
	Added   []string `json:"added"` // some of them, in N-Quads
	Removed []string `json:"removed"`
}

// blankRounds is the number of steps within which two blank nodes must differ to be distinguished.
const blankRounds = 4

// statements are the statements of one side.
type statements struct {
	ground []uint64    // hashes of statements without blank nodes
	blank  []term.Quad // the others
	hashes []uint64    // of blank
}

func (r *Report) compareRDF(ctx context.Context, from, to Side, o Options) error {
	c := &rdfDiff{ctx: ctx, o: o, seed: maphash.MakeSeed()}
	var sides [2]*statements
	var err error
	for i, s := range []Side{from, to} {
		if sides[i], err = c.read(s); err != nil {
			return err
		}
	}
	removed, added := difference(sides[0].all(), sides[1].all()), difference(sides[1].all(), sides[0].all())
	t := &Triples{From: int64(len(sides[0].all())), To: int64(len(sides[1].all()))}
	r.TriplesAdded, r.TriplesRemoved = int64(len(added)), int64(len(removed))
	if t.Removed, err = c.list(from, sides[0], removed); err != nil {
		return err
	}
	if t.Added, err = c.list(to, sides[1], added); err != nil {
		return err
	}
	r.Triples = t
	r.Same = len(added)+len(removed) == 0
	return nil
}

type rdfDiff struct {
	ctx  context.Context
	o    Options
	seed maphash.Seed
}

// Assumed memory of one statement in bytes.
const (
	groundBytes = 8 * 3
	blankBytes  = 400
)

func (c *rdfDiff) each(s Side, f func(term.Quad) error) error {
	syntax, ok := rdfio.ByMediaType(s.Type)
	if !ok {
		return fmt.Errorf("%q is not an RDF syntax", s.Type)
	}
	text, err := s.text(c.ctx)
	if err != nil {
		return err
	}
	rd := rdfio.NewReader(text, syntax,
		rdfio.Options{Base: "file:///", RDF12: true, Limits: rdfio.Limits{Document: c.o.Memory / 2, Token: 1 << 20}})
	for {
		q, err := rd.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(q); err != nil {
			return err
		}
	}
}

func (c *rdfDiff) read(s Side) (*statements, error) {
	st := &statements{}
	var cost int64
	err := c.each(s, func(q term.Quad) error {
		if hasBlank(q) {
			st.blank = append(st.blank, q)
			cost += blankBytes
		} else {
			st.ground = append(st.ground, c.hash(q, nil))
			cost += groundBytes
		}
		if cost > c.o.Memory/2 {
			return fmt.Errorf("it has too many statements to be compared in %d MiB", c.o.Memory>>20)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.name(st)
	return st, nil
}

func hasBlank(q term.Quad) bool {
	return isBlank(q.S) || isBlank(q.O) || isBlank(q.G)
}

// isBlank reports whether a term is a blank node or a triple term that contains one.
func isBlank(k term.Key) bool {
	switch k.Kind() {
	case term.KindBlank:
		return true
	case term.KindTriple:
		s, _, o, ok := k.Parts()
		return ok && (isBlank(s) || isBlank(o))
	}
	return false
}

// hash returns the hash of a statement, with the given names of blank nodes.
func (c *rdfDiff) hash(q term.Quad, names map[term.Key]uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, k := range []term.Key{q.S, q.P, q.O, q.G} {
		c.write(&h, k, names)
	}
	return h.Sum64()
}

func (c *rdfDiff) write(h *maphash.Hash, k term.Key, names map[term.Key]uint64) {
	if k.Kind() == term.KindBlank {
		n := names[k]
		fmt.Fprintf(h, "_%016x\xff", n)
		return
	}
	if s, p, o, ok := k.Parts(); ok && isBlank(k) {
		h.WriteString("<<")
		c.write(h, s, names)
		c.write(h, p, names)
		c.write(h, o, names)
		return
	}
	h.WriteString(string(k))
	h.WriteByte(0xff)
}

// name gives each blank node a name derived from the statements around it, in rounds: after n rounds, nodes whose
// surroundings differ within n steps have different names. It then hashes the statements with blank nodes.
func (c *rdfDiff) name(st *statements) {
	names := make(map[term.Key]uint64)
	for range blankRounds {
		next := make(map[term.Key]uint64)
		for _, q := range st.blank {
			for i, k := range []term.Key{q.S, q.O, q.G} {
				if k.Kind() != term.KindBlank {
					continue
				}
				own := names[k]
				names[k] = 0x5e1f // marks the node itself in this statement
				h := c.hash(q, names)
				names[k] = own
				next[k] += mix(h + uint64(i)) // a sum, since the order of statements does not matter
			}
		}
		for k, sum := range next {
			next[k] = mix(sum ^ names[k])
		}
		names = next
	}
	st.hashes = make([]uint64, len(st.blank))
	for i, q := range st.blank {
		st.hashes[i] = c.hash(q, names)
	}
	slices.Sort(st.ground)
	st.ground = slices.Compact(st.ground)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// all returns the hashes of all statements, sorted. Those with blank nodes may repeat, if two nodes have the same
// statements.
func (st *statements) all() []uint64 {
	list := slices.Concat(st.ground, st.hashes)
	slices.Sort(list)
	return list
}

// difference returns the elements of the sorted multiset a that are not in b.
func difference(a, b []uint64) (only []uint64) {
	for _, h := range a {
		for len(b) > 0 && b[0] < h {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == h {
			b = b[1:]
			continue
		}
		only = append(only, h)
	}
	return only
}

// list returns some of the statements with the given hashes, by reading the side again.
func (c *rdfDiff) list(s Side, st *statements, hashes []uint64) (out []string, err error) {
	if len(hashes) == 0 || c.o.List == 0 {
		return nil, nil
	}
	left := make(map[uint64]int)
	for _, h := range hashes {
		left[h]++
	}
	blank := 0
	err = c.each(s, func(q term.Quad) error {
		var h uint64
		if hasBlank(q) {
			h = st.hashes[blank]
			blank++
		} else {
			h = c.hash(q, nil)
		}
		if left[h] == 0 {
			return nil
		}
		left[h]--
		out = append(out, nquad(q))
		if len(out) == c.o.List {
			return io.EOF
		}
		return nil
	})
	return out, ignoreEOF(err)
}

func nquad(q term.Quad) string {
	var b strings.Builder
	w := rdfio.NewWriter(&b, rdfio.NQuads(), nil)
	if err := w.Write(q); err != nil {
		return clipText(fmt.Sprintf("%s %s %s", q.S.Value(), q.P.Value(), q.O.Value()))
	}
	w.Close()
	return strings.TrimSpace(b.String())
}
