package index

import (
	"encoding/binary"
	"errors"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// A block has about blockRows quads that are consecutive in a layout, column by column. FORMAT.md describes the
// encoding.
const (
	blockRows    = 1024
	maxBlockRows = 4 * blockRows

	blockVersion = 1
	blockHeader  = 4 // version, layout, number of rows (uint16)
)

// Encodings of a column.
const (
	colConst = 0 // one value for all rows
	colDelta = 1 // differences from the previous row, packed
	colDict  = 2 // up to 256 distinct values, and an index into them for each row
	// differences from the previous row with the same predicate, grouped by predicate, packed; requires predicates in a
	// colDict
	colContext = 3
)

var errBlock = errors.New("malformed block")

// codec has the scratch memory to encode and decode blocks. It must not be used concurrently.
type codec struct {
	col  [maxBlockRows]uint64
	zig  [maxBlockRows]uint64
	grp  [maxBlockRows]uint64 // differences grouped by predicate
	idx  [maxBlockRows]uint8  // index of each row's predicate, if the predicates are in a dictionary
	last [256]uint64
	size [257]int // size of each predicate's group; then its offset
	out  []byte
}

// Columns in the order in which they are encoded. The predicate is first because others may refer to it.
const (
	fieldP = iota
	fieldS
	fieldO
	fieldG
	numFields
)

func (c *codec) gather(rows []term.IDQuad, field int) []uint64 {
	col := c.col[:len(rows)]
	switch field {
	case fieldP:
		for i := range col {
			col[i] = uint64(rows[i].P)
		}
	case fieldS:
		for i := range col {
			col[i] = uint64(rows[i].S)
		}
	case fieldO:
		for i := range col {
			col[i] = uint64(rows[i].O)
		}
	default:
		for i := range col {
			col[i] = uint64(rows[i].G)
		}
	}
	return col
}

func scatter(rows []term.IDQuad, field int, col []uint64) {
	col = col[:len(rows)]
	switch field {
	case fieldP:
		for i := range rows {
			rows[i].P = term.ID(col[i])
		}
	case fieldS:
		for i := range rows {
			rows[i].S = term.ID(col[i])
		}
	case fieldO:
		for i := range rows {
			rows[i].O = term.ID(col[i])
		}
	default:
		for i := range rows {
			rows[i].G = term.ID(col[i])
		}
	}
}

// encode encodes 1 to maxBlockRows rows, sorted in the layout. The result is valid until the next call. id is the
// number of the block, which its checksum includes.
func (c *codec) encode(l Layout, id uint64, rows []term.IDQuad) []byte {
	b := append(c.out[:0], blockVersion, byte(l))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(rows)))
	contexts := 0 // number of distinct predicates if that column is a colDict
	for f := range numFields {
		col := c.gather(rows, f)
		if constant(col) {
			b = append(b, colConst)
			b = binary.LittleEndian.AppendUint64(b, col[0])
			continue
		}
		if f == fieldP || f == fieldG {
			if dict, ok := c.dictionary(col); ok {
				b = c.appendDict(b, dict, len(col))
				if f == fieldP {
					contexts = len(dict)
				}
				continue
			}
		}
		b = append(b, colDelta)
		c.zigDelta(col)
		at := len(b)
		b = appendPacked(b, c.zig[:len(col)])
		if contexts > 0 && f != fieldG {
			c.zigContext(col, contexts)
			plain := len(b)
			b = c.appendGroups(b, contexts)
			if grouped := len(b) - plain; grouped < plain-at {
				b[at-1] = colContext
				b = append(b[:at], b[plain:]...)
			} else {
				b = b[:plain]
			}
		}
	}
	c.out = segments.AppendSeal(b, id)
	return c.out
}

func constant(col []uint64) bool {
	for _, v := range col {
		if v != col[0] {
			return false
		}
	}
	return true
}

// dictionary returns the distinct values of a column, in order of appearance, and sets c.idx to each row's index.
func (c *codec) dictionary(col []uint64) (dict []uint64, ok bool) {
	var slots [1024]uint16 // position in dict + 1, by hash
	for i, v := range col {
		h := v * 0x9E3779B97F4A7C15 >> 54
		for slots[h] != 0 && dict[slots[h]-1] != v {
			h = (h + 1) & 1023
		}
		if slots[h] == 0 {
			if len(dict) == 256 {
				return nil, false
			}
			dict = append(dict, v)
			slots[h] = uint16(len(dict))
		}
		c.idx[i] = uint8(slots[h] - 1)
	}
	return dict, true
}

// appendDict appends the number of values minus one, the values as differences, and the indexes in four or eight bits
// each.
func (c *codec) appendDict(b []byte, dict []uint64, n int) []byte {
	b = append(b, colDict, byte(len(dict)-1))
	prev := uint64(0)
	for _, v := range dict {
		b = binary.AppendVarint(b, int64(v-prev))
		prev = v
	}
	if len(dict) > 16 {
		return append(b, c.idx[:n]...)
	}
	for i := 0; i < n; i += 2 {
		x := c.idx[i]
		if i+1 < n {
			x |= c.idx[i+1] << 4
		}
		b = append(b, x)
	}
	return b
}

func zigzag(d uint64) uint64   { return d<<1 ^ uint64(int64(d)>>63) }
func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

func (c *codec) zigDelta(col []uint64) {
	prev := uint64(0)
	for i, v := range col {
		c.zig[i] = zigzag(v - prev)
		prev = v
	}
}

// zigContext sets c.grp to the differences grouped by predicate, and c.size to the bounds of the groups.
func (c *codec) zigContext(col []uint64, contexts int) {
	c.groups(len(col), contexts)
	clear(c.last[:contexts])
	at := c.size
	for i, v := range col {
		x := c.idx[i]
		c.grp[at[x]] = zigzag(v - c.last[x])
		at[x]++
		c.last[x] = v
	}
}

// groups counts the rows of each predicate. Group x is [size[x], size[x+1]).
func (c *codec) groups(n, contexts int) {
	clear(c.size[:contexts+1])
	for _, x := range c.idx[:n] {
		c.size[int(x)+1]++
	}
	for x := range contexts {
		c.size[x+1] += c.size[x]
	}
}

func (c *codec) appendGroups(b []byte, contexts int) []byte {
	for x := range contexts {
		b = appendPacked(b, c.grp[c.size[x]:c.size[x+1]])
	}
	return b
}

// MaxRows is the maximum number of rows for EncodeRows.
const MaxRows = maxBlockRows

// EncodeRows encodes rows sorted in GSPO order as one block.
func EncodeRows(rows []term.IDQuad) []byte { return new(codec).encode(GSPO, 0, rows) }
