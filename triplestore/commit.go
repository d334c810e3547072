package triplestore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// commit is one record of the log: the ids of the quads that a transaction changed, and the terms it was the first to
// use.
type commit struct {
	unixMilli int64
	first     uint64 // number of terms[0]
	terms     []term.Key
	changes   []index.Change
}

const (
	commitVersion = 1
	headVersion   = 2
	partVersion   = 3
	packedVersion = 4 // a commit, compressed
)

var errBadRecord = errors.New("malformed record")

func (c *commit) removed() (n uint64) {
	for _, ch := range c.changes {
		if ch.Sign < 0 {
			n++
		}
	}
	return n
}

// encode returns the record in the format that FORMAT.md describes.
func (c *commit) encode() []byte {
	b := []byte{commitVersion}
	b = binary.AppendVarint(b, c.unixMilli)
	b = binary.AppendUvarint(b, c.first)
	b = binary.AppendUvarint(b, uint64(len(c.terms)))
	prev := ""
	for _, k := range c.terms {
		n := fields.SharedPrefix(prev, string(k))
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(len(k)-n))
		b = append(b, k[n:]...)
		prev = string(k)
	}
	for _, sign := range [2]int8{-1, 1} {
		n := 0
		for _, ch := range c.changes {
			if ch.Sign == sign {
				n++
			}
		}
		b = binary.AppendUvarint(b, uint64(n))
		var p term.IDQuad
		for _, ch := range c.changes {
			if ch.Sign == sign {
				q := ch.Quad
				b = appendID(b, q.G, p.G)
				b = appendID(b, q.S, p.S)
				b = appendID(b, q.P, p.P)
				b = appendID(b, q.O, p.O)
				p = q
			}
		}
	}
	return segments.AppendSeal(pack(b), 0)
}

// appendID appends an id as the difference from another. The ids are rotated so that their tags are in the low bits:
// differences between ids of different tags stay small.
func appendID(b []byte, id, prev term.ID) []byte {
	return binary.AppendVarint(b, int64(rotate(id)-rotate(prev)))
}

func rotate(id term.ID) uint64  { return uint64(id)<<4 | uint64(id)>>60 }
func unrotate(v uint64) term.ID { return term.ID(v>>4 | v<<60) }

func decodeCommit(b []byte) (*commit, error) {
	body, err := segments.OpenSeal(b, 0)
	if err != nil {
		return nil, err
	}
	if body[0] == packedVersion {
		if body, err = unpack(body); err != nil {
			return nil, err
		}
	}
	if body[0] != commitVersion {
		return nil, fmt.Errorf("%w: version %d", errBadRecord, body[0])
	}
	r := fields.Reader{B: body[1:]}
	c := &commit{unixMilli: r.Varint(), first: r.Uvarint()}
	prev := ""
	for range r.Count(2) {
		n, m := r.Uvarint(), r.Uvarint()
		if n > uint64(len(prev)) || m > uint64(len(r.B)) {
			return nil, errBadRecord
		}
		prev = prev[:n] + string(r.Bytes(int(m)))
		c.terms = append(c.terms, term.Key(prev))
	}
	for _, sign := range [2]int8{-1, 1} {
		var g, s, p, o uint64
		for range r.Count(4) {
			g += uint64(r.Varint())
			s += uint64(r.Varint())
			p += uint64(r.Varint())
			o += uint64(r.Varint())
			c.changes = append(c.changes,
				index.Change{Quad: term.IDQuad{S: unrotate(s), P: unrotate(p), O: unrotate(o), G: unrotate(g)}, Sign: sign})
		}
	}
	if r.End() != nil {
		return nil, errBadRecord
	}
	return c, nil
}
