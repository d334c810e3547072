package sqlite

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Limits of a table.
const (
	maxDepth = 24       // of a tree; that of a file of 2^32 pages is less
	maxRow   = 32 << 20 // bytes of a row; larger ones are skipped
)

// The kinds of pages of b-trees.
const (
	interiorIndex = 0x02
	interiorTable = 0x05
	leafIndex     = 0x0a
	leafTable     = 0x0d
)

// level is a page on the way from the root to the present row.
type level struct {
	page  []byte
	kind  byte
	head  int // where the header of the page begins
	cells int
	next  int // 2*i: the child before cell i; 2*i+1: the cell itself
	room  int // bytes of its cells that were not read; cells share none, or a page could have the same long row many times
}

// cursor reads the rows of a tree in order.
type cursor struct {
	db      *base
	t       *table
	stack   []level
	spare   [][]byte // pages to use again
	visits  int64    // pages that may still be visited
	payload []byte
	row     row
	skipped int // rows that are too large
}

// rows returns a cursor before the first row of a table.
func (db *base) rows(t *table) (*cursor, error) {
	c := &cursor{db: db, t: t, visits: db.pages}
	return c, c.push(t.root)
}

func (c *cursor) visit() error {
	c.db.visits--
	if c.visits--; c.visits < 0 || c.db.visits < 0 {
		return fmt.Errorf("%w: more pages belong to it than there are", errDamaged)
	}
	return nil
}

// push goes down to a page.
func (c *cursor) push(number uint32) error {
	if err := c.visit(); err != nil {
		return err
	}
	if len(c.stack) >= maxDepth {
		return fmt.Errorf("%w: its tree is too deep", errDamaged)
	}
	var buf []byte
	if n := len(c.spare); n > 0 {
		buf, c.spare = c.spare[n-1], c.spare[:n-1]
	}
	page, err := c.db.page(number, buf)
	if err != nil {
		return err
	}
	l := level{page: page, room: c.db.usable}
	if number == 1 {
		l.head = 100
	}
	l.kind, l.cells = page[l.head], int(binary.BigEndian.Uint16(page[l.head+3:]))
	header := 8
	switch l.kind {
	case interiorTable, interiorIndex:
		header = 12
	case leafTable, leafIndex:
	default:
		return fmt.Errorf("%w: page %d is not of a table", errDamaged, number)
	}
	if isIndex := l.kind == interiorIndex || l.kind == leafIndex; isIndex != c.t.withoutRowID {
		return fmt.Errorf("%w: page %d is not of a table", errDamaged, number)
	}
	if l.head+header+2*l.cells > c.db.usable {
		return fmt.Errorf("%w: page %d has %d cells", errDamaged, number, l.cells)
	}
	c.stack = append(c.stack, l)
	return nil
}

// cell returns the bytes of a cell up to the end of its page.
func (l *level) cell(i, usable int) ([]byte, error) {
	pointers := l.head + 8
	if l.kind == interiorTable || l.kind == interiorIndex {
		pointers += 4
	}
	at := int(binary.BigEndian.Uint16(l.page[pointers+2*i:]))
	if at < pointers || at >= usable-1 {
		return nil, fmt.Errorf("%w: a cell lies outside its page", errDamaged)
	}
	return l.page[at:usable], nil
}

// next returns the next row, or io.EOF. The row is valid until the next call.
func (c *cursor) next() (*row, error) {
	for len(c.stack) > 0 {
		l := &c.stack[len(c.stack)-1]
		leaf := l.kind == leafTable || l.kind == leafIndex
		i := l.next / 2
		switch {
		case leaf && i < l.cells:
			l.next += 2
			found, err := c.read(l, i)
			if err != nil || found {
				return &c.row, err
			}
		case leaf || l.next > 2*l.cells: // done
			c.spare = append(c.spare, l.page)
			c.stack = c.stack[:len(c.stack)-1]
		case l.next%2 == 0: // a child
			child := binary.BigEndian.Uint32(l.page[l.head+8:]) // the rightmost
			if i < l.cells {
				cell, err := l.cell(i, c.db.usable)
				if err != nil {
					return nil, err
				}
				if len(cell) < 4 {
					return nil, errDamaged
				}
				child = binary.BigEndian.Uint32(cell)
			}
			l.next++
			if l.kind == interiorTable {
				l.next++ // its cells have no rows
			}
			if err := c.push(child); err != nil {
				return nil, err
			}
		default:
			l.next++
			found, err := c.read(l, i)
			if err != nil || found {
				return &c.row, err
			}
		}
	}
	return nil, io.EOF
}

// read reads the row in a cell. found is false if it is too large.
func (c *cursor) read(l *level, i int) (found bool, err error) {
	cell, err := l.cell(i, c.db.usable)
	if err != nil {
		return false, err
	}
	if l.kind == interiorIndex {
		cell = cell[min(4, len(cell)):]
	}
	size, n := varint(cell)
	if n == 0 || size > uint64(c.db.size) {
		return false, fmt.Errorf("%w: a row is longer than the file", errDamaged)
	}
	cell = cell[n:]
	c.row.id = 0
	if l.kind == leafTable {
		id, n := varint(cell)
		if n == 0 {
			return false, errDamaged
		}
		c.row.id, cell = int64(id), cell[n:]
	}
	local := c.local(int(size), l.kind == leafTable)
	if l.room -= local; l.room < 0 {
		return false, fmt.Errorf("%w: rows on a page overlap", errDamaged)
	}
	if size > maxRow {
		c.skipped++
		return false, nil
	}
	body, err := c.assemble(cell, int(size), local)
	if err != nil {
		return false, err
	}
	return true, c.row.parse(body)
}

// local returns how many bytes of a payload are in its cell. The others are on overflow pages.
func (c *cursor) local(size int, ofTable bool) int {
	u := c.db.usable
	most := (u-12)*64/255 - 23
	if ofTable {
		most = u - 35
	}
	if size <= most {
		return size
	}
	few := (u-12)*32/255 - 23
	if n := few + (size-few)%(u-4); n <= most {
		return n
	}
	return few
}

// assemble returns a payload, of which the first local bytes are in b, with what is on its overflow pages.
func (c *cursor) assemble(b []byte, size, local int) ([]byte, error) {
	if len(b) < local || local < size && len(b) < local+4 {
		return nil, fmt.Errorf("%w: a row runs beyond its page", errDamaged)
	}
	if local == size {
		return b[:size], nil
	}
	c.payload = append(c.payload[:0], b[:local]...)
	for next := binary.BigEndian.Uint32(b[local:]); len(c.payload) < size; {
		if err := c.visit(); err != nil {
			return nil, err
		}
		var buf []byte
		if n := len(c.spare); n > 0 {
			buf, c.spare = c.spare[n-1], c.spare[:n-1]
		}
		page, err := c.db.page(next, buf)
		if err != nil {
			return nil, err
		}
		c.payload = append(c.payload, page[4:4+min(c.db.usable-4, size-len(c.payload))]...)
		next = binary.BigEndian.Uint32(page)
		c.spare = append(c.spare, page)
	}
	return c.payload, nil
}
