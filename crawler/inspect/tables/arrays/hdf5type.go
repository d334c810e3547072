package arrays

import (
	"math"
	"math/bits"
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
