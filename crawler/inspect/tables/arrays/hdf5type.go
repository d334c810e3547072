package arrays

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// The classes of datatypes.
const (
	classInteger   = 0
	classFloat     = 1
	classString    = 3
	classCompound  = 6
	classReference = 7
	classEnum      = 8
	classVariable  = 9
	classArray     = 10
)

// datatype is a datatype of HDF5.
type datatype struct {
	class   int
	size    int // of an element, in bytes
	kind    kind
	text    bool      // a string of variable length
	base    *datatype // of enumerations, arrays and sequences
	members []member
	names   map[string]string // of the values of an enumeration, by the number's text
}

// member is a member of a record.
type member struct {
	name string
	at   int
	typ  *datatype
}

// Limits of a datatype.
const (
	maxMembers = 1000
	maxNesting = 8
)

// datatype reads a datatype.
func (h *h5) datatype(c *cursor, depth int) (*datatype, error) {
	if depth > maxNesting {
		return nil, errHDF5
	}
	first := c.u8()
	flags := int(c.uint(3))
	t := &datatype{class: first & 15, size: c.u32()}
	version := first >> 4
	if c.bad || t.size <= 0 || t.size > 64<<20 {
		return nil, errHDF5
	}
	var err error
	switch t.class {
	case classInteger, 4: // 4 is a bit field
		t.kind = kind{size: t.size, signed: flags&8 != 0 && t.class == classInteger, big: flags&1 != 0}
		c.take(4)
		t.class = classInteger
	case classFloat:
		t.kind = kind{size: t.size, float: true, signed: true, big: flags&1 != 0}
		c.take(2)
		precision := c.u16()
		c.take(8)
		if precision != 8*t.size {
			t.kind.size = 0 // not of IEEE 754
		}
	case classString, classReference:
	case 2:
		c.take(2)
	case 5:
		c.take((flags&255 + 7) &^ 7)
	case classEnum:
		err = h.enum(t, c, flags&0xffff, version, depth)
	case classCompound:
		err = h.compound(t, c, flags&0xffff, version, depth)
	case classVariable:
		t.text = flags&15 == 1
		t.base, err = h.datatype(c, depth+1)
	case classArray:
		n := c.u8()
		if version < 3 {
			c.take(3)
		}
		c.take(4 * n)
		if version < 3 {
			c.take(4 * n)
		}
		t.base, err = h.datatype(c, depth+1)
	default:
		return nil, errHDF5
	}
	if c.bad {
		return nil, errHDF5
	}
	return t, err
}

// nameOf reads the name of a member, which older versions pad to eight bytes.
func nameOf(c *cursor, version int) string {
	i := strings.IndexByte(string(c.b), 0)
	if i < 0 {
		c.bad = true
		return ""
	}
	name := cut(c.b[:i], maxName)
	n := i + 1
	if version < 3 {
		n = (n + 7) &^ 7
	}
	c.take(min(n, len(c.b)))
	return name
}

func (h *h5) enum(t *datatype, c *cursor, n, version, depth int) (err error) {
	if t.base, err = h.datatype(c, depth+1); err != nil {
		return err
	}
	if t.base.class != classInteger || !t.base.whole() || n > 10_000 {
		return errHDF5
	}
	t.kind, t.names = t.base.kind, map[string]string{}
	var names []string
	for range n {
		names = append(names, nameOf(c, version))
	}
	for _, name := range names {
		b := c.take(t.base.size)
		if c.bad {
			return errHDF5
		}
		_, s := t.kind.number(b)
		t.names[s] = name
	}
	return nil
}

func (h *h5) compound(t *datatype, c *cursor, n, version, depth int) (err error) {
	if n > maxMembers {
		return errHDF5
	}
	for range n {
		m := member{name: nameOf(c, version)}
		if version < 3 {
			m.at = c.u32()
		} else {
			m.at = int(c.uint((bits.Len(uint(t.size)) + 7) / 8))
		}
		dims := 0
		if version == 1 {
			dims = c.u8()
			c.take(3 + 4 + 4 + 16)
		}
		if m.typ, err = h.datatype(c, depth+1); err != nil {
			return err
		}
		if m.at < 0 || m.at > t.size-m.typ.size {
			return errHDF5
		}
		if dims == 0 {
			t.members = append(t.members, m)
		}
	}
	return nil
}

// whole reports whether numbers of the type can be read.
func (t *datatype) whole() bool {
	switch t.kind.size {
	case 1, 2, 4, 8:
		return t.kind.size == t.size && (!t.kind.float || t.size > 1)
	}
	return false
}

// simple reports whether a value of the type is one cell.
func (t *datatype) simple() bool {
	switch t.class {
	case classInteger, classFloat, classEnum:
		return t.whole()
	case classString:
		return t.size <= 64<<10
	case classVariable:
		return t.text
	}
	return false
}

// xsd returns the datatype's name, "" for records and the like.
func (t *datatype) xsd() string {
	switch {
	case t.class == classString || t.class == classEnum || t.text:
		return "string"
	case t.whole() && (t.class == classInteger || t.class == classFloat):
		return t.kind.xsd()
	}
	return ""
}

// value returns a number and the text of a value; NaN for texts.
func (h *h5) value(t *datatype, b []byte) (float64, string, error) {
	if len(b) < t.size {
		return 0, "", errHDF5
	}
	switch t.class {
	case classInteger, classFloat:
		x, s := t.kind.number(b)
		return x, s, nil
	case classEnum:
		_, s := t.kind.number(b)
		if name, ok := t.names[s]; ok {
			s = name
		}
		return math.NaN(), s, nil
	case classString:
		return math.NaN(), strings.TrimRight(cut(b[:t.size], t.size), " "), nil
	}
	text, err := h.sequence(b)
	return math.NaN(), cut(text, maxValue), err
}

// sequence returns the bytes of a value of variable length.
func (h *h5) sequence(b []byte) ([]byte, error) {
	c := &cursor{b: b}
	n := c.u32()
	addr, index := h.addr(c), c.u32()
	if c.bad {
		return nil, errHDF5
	}
	if n == 0 || addr == 0 || addr == undefined {
		return nil, nil
	}
	object, err := h.global(addr, index)
	return object, err
}

// dataspace returns the sizes of dimensions; nil and true for a single value.
func (h *h5) dataspace(body []byte) (shape []int64, scalar bool, err error) {
	c := &cursor{b: body}
	version, rank, flags := c.u8(), c.u8(), c.u8()
	kind := 1
	if version == 1 {
		c.take(5)
	} else {
		kind = c.u8()
	}
	if version < 1 || version > 2 || rank > 32 || flags > 3 {
		return nil, false, errHDF5
	}
	for range rank {
		n := h.length(c)
		if n > math.MaxInt64/16 {
			return nil, false, errHDF5
		}
		shape = append(shape, int64(n))
	}
	if c.bad {
		return nil, false, errHDF5
	}
	return shape, rank == 0 && kind != 2, nil
}

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
