package arrays

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// fractal is a fractal heap, which has the links or attributes of an object with many of them.
type fractal struct {
	idSize, filter, width, startRows, rows int
	start, maxDirect                       uint64
	bits                                   int // of offsets
	checked                                bool
	root                                   uint64
}

// dense calls f with the objects of a fractal heap in the order of a tree of version 2, and the order in which
// attributes were made. kind is that of the tree's records: 5 has the ids of links behind a hash, 8 those of attributes
// at the beginning.
func (h *h5) dense(heap, tree uint64, kind int, f func(object []byte, order uint64)) error {
	n := 4 + 1 + 2 + 2 + 1 + 4 + 12*h.l + 3*h.o + 2 + 2 + 2 + 2
	b, err := h.upTo(heap, n)
	if err != nil {
		return err
	}
	c := &cursor{b: b}
	if string(c.take(4)) != "FRHP" || c.u8() != 0 {
		return errHDF5
	}
	var x fractal
	x.idSize, x.filter = c.u16(), c.u16()
	x.checked = c.u8()&2 != 0
	c.take(4 + h.l + h.o + h.l + h.o + 3*h.l + h.l + 4*h.l)
	x.width = c.u16()
	x.start, x.maxDirect = h.length(c), h.length(c)
	x.bits, x.startRows = c.u16(), c.u16()
	x.root, x.rows = h.addr(c), c.u16()
	if c.bad || x.filter != 0 || x.width == 0 || x.start == 0 || x.maxDirect < x.start || bits.OnesCount64(x.start) != 1 ||
		x.maxDirect > 1<<32 || x.bits > 64 || x.idSize < 2 || x.idSize > 64 {
		return errHDF5
	}
	return h.treeTwo(tree, func(record []byte) error {
		if kind == 5 {
			if len(record) < 4 {
				return errHDF5
			}
			record = record[4:]
		}
		if len(record) < x.idSize {
			return errHDF5
		}
		object, err := h.object(&x, record[:x.idSize])
		if err == nil && object != nil {
			order := uint64(0)
			if rest := record[x.idSize:]; kind == 8 && len(rest) >= 5 {
				order = uint64(binary.LittleEndian.Uint32(rest[1:]))
			}
			f(object, order)
		}
		return err
	})
}

// object returns an object of a heap by its id, nil for a huge one.
func (h *h5) object(x *fractal, id []byte) ([]byte, error) {
	switch id[0] >> 4 & 3 {
	case 2: // tiny: it is in the id
		n := int(id[0]&15) + 1
		if n > len(id)-1 {
			return nil, errHDF5
		}
		return id[1 : 1+n], nil
	case 1:
		return nil, nil
	}
	c := &cursor{b: id[1:]}
	offset := c.uint((x.bits + 7) / 8)
	n := c.uint(len(c.b))
	if c.bad || n > 64<<20 {
		return nil, errHDF5
	}
	if x.rows == 0 {
		return h.at(x.root+offset, int(n))
	}
	return h.inIndirect(x, x.root, 0, x.rows, offset, int(n), 0)
}

// inIndirect returns n bytes at an offset of a heap that are below an indirect block, whose blocks begin at first.
func (h *h5) inIndirect(x *fractal, addr, first uint64, rows int, offset uint64, n, depth int) ([]byte, error) {
	if depth > 8 || rows > 64 {
		return nil, errHDF5
	}
	direct := bits.Len64(x.maxDirect) - bits.Len64(x.start) + 2 // rows of direct blocks
	head := 5 + h.o + (x.bits+7)/8
	size := x.start
	for row := range rows {
		if row > 1 {
			size *= 2
		}
		if size > 1<<48 {
			return nil, errHDF5
		}
		if offset >= first+size*uint64(x.width) {
			first += size * uint64(x.width)
			continue
		}
		if offset < first {
			return nil, errHDF5
		}
		column := (offset - first) / size
		entry, err := h.at(addr+uint64(head)+uint64(row*x.width+int(column))*uint64(h.o), h.o)
		if err != nil {
			return nil, err
		}
		child := h.addr(&cursor{b: entry})
		first += column * size
		if row < direct {
			if offset-first > size || child == undefined {
				return nil, errHDF5
			}
			return h.at(child+offset-first, n)
		}
		inner := bits.Len64(size) - bits.Len64(x.start*uint64(x.width)) + 1
		return h.inIndirect(x, child, first, inner, offset, n, depth+1)
	}
	return nil, errHDF5
}

// treeTwo calls f with the records of a tree of version 2.
func (h *h5) treeTwo(addr uint64, f func([]byte) error) error {
	b, err := h.at(addr, 16+h.o+2)
	if err != nil {
		return err
	}
	c := &cursor{b: b}
	if string(c.take(4)) != "BTHD" {
		return errHDF5
	}
	c.take(2)
	node, record, depth := c.u32(), c.u16(), c.u16()
	c.take(2)
	root, n := h.addr(c), c.u16()
	if c.bad || record == 0 || node < record+10 || node > 16<<20 || depth > 8 {
		return errHDF5
	}
	if root == undefined || n == 0 {
		return nil
	}
	// The sizes of the fields of internal nodes depend on how many records the nodes below them can have.
	width := func(n uint64) int { return (bits.Len64(n) + 7) / 8 }
	most := []uint64{uint64((node - 10) / record)}
	all := []uint64{most[0]}
	allWidth := []int{0}
	for u := 1; u <= depth; u++ {
		pointer := h.o + width(most[0]) + allWidth[u-1]
		if node < 10+pointer+record {
			return errHDF5
		}
		most = append(most, uint64((node-10-pointer)/(record+pointer)))
		total := (most[u]+1)*all[u-1] + most[u]
		all, allWidth = append(all, total), append(allWidth, width(total))
	}
	var visit func(addr uint64, n, level int) error
	visit = func(addr uint64, n, level int) error {
		b, err := h.at(addr, node)
		if err != nil {
			return err
		}
		if want := map[bool]string{true: "BTLF", false: "BTIN"}[level == 0]; !bytes.HasPrefix(b, []byte(want)) {
			return errHDF5
		}
		records := &cursor{b: b[6:]}
		children := &cursor{b: b[min(len(b), 6+n*record):]}
		for i := 0; i <= n; i++ {
			if level > 0 {
				child, count := h.addr(children), int(children.uint(width(most[0])))
				children.take(allWidth[level-1])
				if children.bad {
					return errHDF5
				}
				if err := visit(child, count, level-1); err != nil {
					return err
				}
			}
			if i == n {
				break
			}
			r := records.take(record)
			if records.bad {
				return errHDF5
			}
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(root, n, depth)
}

// maxHeaps bounds the global heaps that are kept, in bytes.
const maxHeaps = 64 << 20

// global returns an object of a global heap, where values of variable length are.
func (h *h5) global(addr uint64, index int) ([]byte, error) {
	objects, ok := h.heaps[addr]
	if !ok {
		head, err := h.at(addr, 8+h.l)
		if err != nil || string(head[:4]) != "GCOL" {
			return nil, errHDF5
		}
		size := h.length(&cursor{b: head[8:]})
		if size > 16<<20 {
			return nil, errHDF5
		}
		h.left += int(size) + len(head) // it is bounded here, and may be read again
		b, err := h.at(addr, int(size))
		if err != nil {
			return nil, err
		}
		if h.held += len(b); h.held > maxHeaps {
			clear(h.heaps)
			h.held = len(b)
		}
		objects = map[int][]byte{}
		for at := 8 + h.l; at+8+h.l <= len(b); {
			n := int(binary.LittleEndian.Uint16(b[at:]))
			size := h.length(&cursor{b: b[at+8:]})
			at += 8 + h.l
			if n == 0 || size > uint64(len(b)-at) {
				break
			}
			objects[n] = b[at:][:size]
			at += int(size+7) &^ 7
		}
		h.heaps[addr] = objects
	}
	object, ok := objects[index]
	if !ok {
		return nil, errHDF5
	}
	return object, nil
}
