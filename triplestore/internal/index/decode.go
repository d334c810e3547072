package index

import (
	"encoding/binary"
	"errors"
	"fmt"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// decode decodes the block stored under id into rows, which it reallocates if it is too small.
func (c *codec) decode(b []byte, l Layout, id uint64, rows []term.IDQuad) ([]term.IDQuad, error) {
	body, err := segments.OpenSeal(b, id)
	if err != nil || len(body) < blockHeader {
		return nil, errors.Join(errBlock, err)
	}
	if body[0] != blockVersion {
		return nil, fmt.Errorf("%w: version %d", errBlock, body[0])
	}
	n := int(binary.LittleEndian.Uint16(body[2:]))
	if body[1] != byte(l) || n == 0 || n > maxBlockRows {
		return nil, fmt.Errorf("%w: %d rows in layout %d", errBlock, n, body[1])
	}
	if cap(rows) < n {
		rows = make([]term.IDQuad, n)
	}
	rows = rows[:n]
	at, contexts := blockHeader, 0
	for f := range numFields {
		if at >= len(body) {
			return nil, errBlock
		}
		kind := body[at]
		at++
		var ok bool
		switch {
		case kind == colConst:
			at, ok = c.readConst(body, at, n)
		case kind == colDict:
			var size int
			at, size, ok = c.readDict(body, at, n)
			if f == fieldP {
				contexts = size
			}
		case kind == colDelta:
			at, ok = c.readDelta(b, len(body), at, n)
		case kind == colContext && contexts > 0:
			at, ok = c.readGroups(b, len(body), at, n, contexts)
		}
		if !ok {
			return nil, errBlock
		}
		scatter(rows, f, c.col[:])
	}
	if at != len(body) {
		return nil, errBlock
	}
	return rows, nil
}

// readConst decodes a column of one value into c.col.
func (c *codec) readConst(body []byte, at, n int) (next int, ok bool) {
	if at+8 > len(body) {
		return 0, false
	}
	v := binary.LittleEndian.Uint64(body[at:])
	for i := range c.col[:n] {
		c.col[i] = v
	}
	return at + 8, true
}

// readDict decodes a column into c.col and its indexes into c.idx.
func (c *codec) readDict(body []byte, at, n int) (next, size int, ok bool) {
	if at >= len(body) {
		return 0, 0, false
	}
	size = int(body[at]) + 1
	at++
	var dict [256]uint64
	prev := uint64(0)
	for i := range size {
		d, w := binary.Varint(body[at:])
		if w <= 0 {
			return 0, 0, false
		}
		at += w
		prev += uint64(d)
		dict[i] = prev
	}
	packed := body[at:]
	if len(packed) < indexBytes(n, size) {
		return 0, 0, false
	}
	idx, col := c.idx[:n], c.col[:n]
	if size <= 16 {
		for i := range idx {
			idx[i] = packed[i>>1] >> (i & 1 * 4) & 15
		}
	} else {
		copy(idx, packed)
	}
	for i, x := range idx {
		if int(x) >= size {
			return 0, 0, false
		}
		col[i] = dict[x]
	}
	return at + indexBytes(n, size), size, true
}

func indexBytes(n, dict int) int {
	if dict <= 16 {
		return (n + 1) / 2
	}
	return n
}

// readDelta decodes a column into c.col. b must extend sealed.Size bytes beyond end, the end of the columns.
func (c *codec) readDelta(b []byte, end, at, n int) (next int, ok bool) {
	col := c.col[:n]
	if at, ok = unpack(b, end, at, col); !ok {
		return 0, false
	}
	prev := uint64(0)
	for i, z := range col {
		prev += unzigzag(z)
		col[i] = prev
	}
	return at, true
}

// readGroups is like readDelta, for differences grouped by predicate.
func (c *codec) readGroups(b []byte, end, at, n, contexts int) (next int, ok bool) {
	c.groups(n, contexts)
	for x := range contexts {
		group := c.grp[c.size[x]:c.size[x+1]]
		if at, ok = unpack(b, end, at, group); !ok {
			return 0, false
		}
		prev := uint64(0)
		for i, z := range group {
			prev += unzigzag(z)
			group[i] = prev
		}
	}
	col, pos := c.col[:n], &c.size
	for i, x := range c.idx[:n] {
		k := pos[x]
		pos[x] = k + 1
		col[i] = c.grp[k&(maxBlockRows-1)]
	}
	return at, true
}

// DecodeRows decodes what EncodeRows encoded.
func DecodeRows(b []byte) ([]term.IDQuad, error) { return new(codec).decode(b, GSPO, 0, nil) }
