package geo

import (
	"encoding/binary"
	"fmt"

	"odarchive/crawler/inspect/tables/source"
)

var errBuffer = fmt.Errorf("%w: an offset points outside its buffer", source.ErrFormat)

// buffer is a FlatBuffer. What is read outside it sets bad, and reads as zero.
type buffer struct {
	b   []byte
	bad bool
}

// node is a table in a buffer: where it is, and where the offsets of its fields are.
type node struct {
	buf    *buffer
	at     int
	fields []byte
}

func (f *buffer) bytes(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.b) || n > len(f.b)-at {
		f.bad = true
		return nil
	}
	return f.b[at : at+n]
}

func (f *buffer) u32(at int) int {
	if b := f.bytes(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// table returns the table that the offset at a place leads to.
func (f *buffer) table(at int) node {
	at += f.u32(at)
	b := f.bytes(at, 4)
	if b == nil {
		return node{buf: f}
	}
	fields := at - int(int32(binary.LittleEndian.Uint32(b)))
	head := f.bytes(fields, 4)
	if head == nil {
		return node{buf: f}
	}
	size := int(binary.LittleEndian.Uint16(head))
	if size < 4 {
		f.bad = true
		return node{buf: f}
	}
	return node{f, at, f.bytes(fields+4, size-4)}
}

// field returns the place of a field, 0 if the table does not have it.
func (n node) field(i int) int {
	if 2*i+2 > len(n.fields) {
		return 0
	}
	if off := int(binary.LittleEndian.Uint16(n.fields[2*i:])); off > 0 {
		return n.at + off
	}
	return 0
}

// number returns an unsigned number of up to 8 bytes.
func (n node) number(i, size int, preset uint64) uint64 {
	at := n.field(i)
	if at == 0 {
		return preset
	}
	v := uint64(0)
	for k, c := range n.buf.bytes(at, size) {
		v |= uint64(c) << (8 * k)
	}
	return v
}

// vector returns the elements of a field, of size bytes each.
func (n node) vector(i, size int) []byte {
	at := n.field(i)
	if at == 0 {
		return nil
	}
	at += n.buf.u32(at)
	count := n.buf.u32(at)
	if count > len(n.buf.b)/size {
		n.buf.bad = true
		return nil
	}
	return n.buf.bytes(at+4, count*size)
}

func (n node) text(i int) string { return string(n.vector(i, 1)) }

// tables returns the tables of a field, and takes their number from left. More than are left make the buffer bad.
func (n node) tables(i int, left *int) (list []node) {
	at := n.field(i)
	if at == 0 {
		return nil
	}
	at += n.buf.u32(at)
	count := len(n.vector(i, 4)) / 4
	if *left -= count; *left < 0 {
		n.buf.bad = true
		return nil
	}
	for k := range count {
		list = append(list, n.buf.table(at+4+4*k))
	}
	return list
}
