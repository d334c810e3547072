package arrays

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// attribute is an attribute with its value.
type attribute struct {
	name, text string
	order      uint64
	typ        *datatype
	raw        []byte
	n          int
}

// attributes returns the attributes of an object, those of the header and those in a heap.
func (h *h5) attributes(messages []message) (all []attribute, err error) {
	add := func(body []byte, order uint64) {
		if h.total++; h.total > maxAttributes {
			return
		}
		if a, e := h.attribute(body); e == nil {
			a.order = order
			all = append(all, a)
		}
	}
	for _, m := range messages {
		switch m.kind {
		case msgAttribute:
			add(m.body, 0)
		case msgAttrInfo:
			c := &cursor{b: m.body}
			c.take(1)
			if flags := c.u8(); flags&1 != 0 {
				c.take(2)
			}
			if heap, tree := h.addr(c), h.addr(c); !c.bad && heap != undefined {
				err = h.dense(heap, tree, 8, add)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b attribute) int { return cmp.Compare(a.order, b.order) })
	return all, err
}

// attribute reads a message with an attribute.
func (h *h5) attribute(body []byte) (a attribute, err error) {
	c := &cursor{b: body}
	version := c.u8()
	flags := c.u8()
	nameSize, typeSize, spaceSize := c.u16(), c.u16(), c.u16()
	round := func(n int) int { return n }
	switch version {
	case 1:
		round = func(n int) int { return (n + 7) &^ 7 }
	case 2:
	case 3:
		c.take(1) // encoding of the name
	default:
		return a, errHDF5
	}
	a.name = cut(c.take(round(nameSize)), maxName)
	typ, space := c.take(round(typeSize)), c.take(round(spaceSize))
	if c.bad || flags&3 != 0 && version > 1 { // shared types are elsewhere
		return a, errHDF5
	}
	if a.typ, err = h.datatype(&cursor{b: typ}, 0); err != nil {
		return a, err
	}
	shape, scalar, err := h.dataspace(space)
	if err != nil {
		return a, err
	}
	a.n = 0
	if scalar || len(shape) > 0 {
		a.n = 1
	}
	for _, s := range shape {
		if s > int64(len(c.b)) || a.n > len(c.b) {
			return a, errHDF5
		}
		a.n *= int(s)
	}
	a.raw = c.b
	if a.n*a.typ.size > len(a.raw) {
		return a, errHDF5
	}
	if !a.typ.simple() {
		return a, nil
	}
	var text strings.Builder
	for i := range a.n {
		_, s, err := h.value(a.typ, a.raw[i*a.typ.size:])
		if err != nil || text.Len() > maxValue {
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(s)
	}
	a.text = text.String()
	return a, nil
}

// references returns the addresses in an attribute of references, or of lists of them.
func (h *h5) references(a attribute) (all [][]uint64) {
	for i := range min(a.n, 64) {
		b := a.raw[i*a.typ.size:]
		switch {
		case a.typ.class == classReference && a.typ.size == 8:
			all = append(all, []uint64{binary.LittleEndian.Uint64(b)})
		case a.typ.class == classVariable && a.typ.base.class == classReference:
			list, err := h.sequence(b[:a.typ.size])
			var addrs []uint64
			for ; err == nil && len(list) >= 8 && len(addrs) < 64; list = list[8:] {
				addrs = append(addrs, binary.LittleEndian.Uint64(list))
			}
			all = append(all, addrs)
		}
	}
	return all
}
