package hdt

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// Roles of a term, as bits.
const (
	isSubject = 1 << iota
	isPredicate
	isObject
)

// chunk has some of the triples, and their terms, in memory. Terms are numbered in the order in which they were added;
// sorted changes the numbers in the triples to the byte order of the spellings.
type chunk struct {
	seed    maphash.Seed
	text    []byte   // spellings of all terms
	ends    []uint64 // where the spelling of each term ends in text
	roles   []byte   // of each term
	table   []uint32 // hash table: number of a term plus 1, or 0
	triples []triple
	last    term.Quad // the triple that was added last
	scratch []byte
}

func newChunk() *chunk {
	return &chunk{seed: maphash.MakeSeed(), table: make([]uint32, 1<<10)}
}

// memory returns the number of bytes that the chunk uses, including those needed to sort it.
func (c *chunk) memory() int64 {
	return int64(len(c.text)) + int64(len(c.ends))*(8+1+16+4+12) + int64(len(c.table))*4 + int64(len(c.triples))*24
}

// add appends a triple.
func (c *chunk) add(q term.Quad) (err error) {
	if len(c.ends) > math.MaxUint32-4 {
		return fmt.Errorf("hdt: %w: too many terms", rdfio.ErrLimit)
	}
	var t triple
	if len(c.triples) > 0 {
		t = c.triples[len(c.triples)-1]
	}
	if q.S != c.last.S {
		if t.s, err = c.number(q.S); err != nil {
			return err
		}
	}
	if q.P != c.last.P {
		if t.p, err = c.number(q.P); err != nil {
			return err
		}
	}
	if q.O != c.last.O {
		if t.o, err = c.number(q.O); err != nil {
			return err
		}
	}
	// Roles are set only now, when the whole triple is accepted: terms without a role are in no section of the file.
	c.roles[t.s] |= isSubject
	c.roles[t.p] |= isPredicate
	c.roles[t.o] |= isObject
	c.last = term.Quad{S: q.S, P: q.P, O: q.O}
	c.triples = append(c.triples, t)
	return nil
}

// spelled returns the spelling of the term with a number.
func (c *chunk) spelled(n uint32) []byte {
	if n == 0 {
		return c.text[:c.ends[0]]
	}
	return c.text[c.ends[n-1]:c.ends[n]]
}

// number returns the number of a term, and adds the term without a role if it is new.
func (c *chunk) number(k term.Key) (uint32, error) {
	b, err := appendSpelling(c.scratch[:0], k)
	c.scratch = b[:0]
	if err != nil {
		return 0, err
	}
	hash := maphash.Bytes(c.seed, b)
	for at := hash; ; at++ {
		slot := &c.table[at&uint64(len(c.table)-1)]
		if *slot == 0 {
			if err := checkSpelled(k); err != nil {
				return 0, err
			}
			c.text = append(c.text, b...)
			c.ends = append(c.ends, uint64(len(c.text)))
			c.roles = append(c.roles, 0)
			*slot = uint32(len(c.ends))
			if n := len(c.ends); n > len(c.table)/2 {
				c.grow()
			}
			return uint32(len(c.ends) - 1), nil
		}
		if n := *slot - 1; string(c.spelled(n)) == string(b) {
			return n, nil
		}
	}
}

// grow doubles the hash table.
func (c *chunk) grow() {
	c.table = make([]uint32, 2*len(c.table))
	for n := range c.ends {
		at := maphash.Bytes(c.seed, c.spelled(uint32(n)))
		for c.table[at&uint64(len(c.table)-1)] != 0 {
			at++
		}
		c.table[at&uint64(len(c.table)-1)] = uint32(n) + 1
	}
}

// sorted returns the numbers of the terms in byte order of the spellings. It replaces the numbers in the triples by the
// positions in this order. No triple can be added afterwards.
func (c *chunk) sorted() []uint32 {
	c.table = nil
	items := make([]ranked, len(c.ends))
	for i := range items {
		items[i].n = uint32(i)
	}
	sortStrings(items, c.spelled)
	order, place := make([]uint32, len(items)), make([]uint32, len(items))
	for i, it := range items {
		order[i] = it.n
		place[it.n] = uint32(i)
	}
	for i := range c.triples {
		t := &c.triples[i]
		*t = triple{place[t.s], place[t.p], place[t.o]}
	}
	return order
}

// termSource returns the terms of one chunk in byte order.
type termSource interface {
	// next returns the spelling of the next term, which is valid until the next call, and its roles. err is io.EOF
	// after the last term.
	next() (spelling []byte, roles byte, err error)
}

// heldTerms is the termSource of a chunk in memory.
type heldTerms struct {
	c     *chunk
	order []uint32
}

func (h *heldTerms) next() ([]byte, byte, error) {
	if len(h.order) == 0 {
		return nil, 0, io.EOF
	}
	n := h.order[0]
	h.order = h.order[1:]
	return h.c.spelled(n), h.c.roles[n], nil
}

// writeTerms writes the terms in order, with front coding: roles, number of bytes shared with the term before, length
// of the rest, rest. w must be a spool, which keeps errors.
func (c *chunk) writeTerms(w io.Writer, order []uint32) {
	var b, last []byte
	for _, n := range order {
		s := c.spelled(n)
		keep := shared(last, s)
		b = append(b[:0], c.roles[n])
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(keep)), uint64(len(s)-keep))
		w.Write(append(b, s[keep:]...))
		last = s
	}
}

// shared returns how many bytes a and b have in common at their start.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// storedTerms is the termSource of a chunk that writeTerms wrote.
type storedTerms struct {
	in  *bufio.Reader
	cur []byte
}

func (s *storedTerms) next() ([]byte, byte, error) {
	roles, err := s.in.ReadByte()
	if err != nil {
		return nil, 0, err
	}
	keep, err := binary.ReadUvarint(s.in)
	if err == nil {
		var n uint64
		if n, err = binary.ReadUvarint(s.in); err == nil {
			from := int(keep)
			s.cur = append(s.cur[:from], make([]byte, n)...)
			_, err = io.ReadFull(s.in, s.cur[from:])
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return s.cur, roles, err
}

// writeTriples writes triples: three numbers of four bytes each. w must be a spool, which keeps errors.
func writeTriples(w io.Writer, all []triple) {
	b := make([]byte, 0, 12*1024)
	for len(all) > 0 {
		n := min(len(all), 1024)
		b = b[:0]
		for _, t := range all[:n] {
			b = binary.LittleEndian.AppendUint32(b, t.s)
			b = binary.LittleEndian.AppendUint32(b, t.p)
			b = binary.LittleEndian.AppendUint32(b, t.o)
		}
		w.Write(b)
		all = all[n:]
	}
}

// readTriple reads a triple that writeTriples wrote. It returns io.EOF after the last one.
func readTriple(r *bufio.Reader) (triple, error) {
	b, err := r.Peek(12)
	if len(b) < 12 {
		if len(b) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return triple{}, err
	}
	t := triple{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])}
	r.Discard(12)
	return t, nil
}
