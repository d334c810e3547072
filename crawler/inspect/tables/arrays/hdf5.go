package arrays

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// HDF5 ("HDF5 File Format Specification" version 3.0, The HDF Group). The reader follows the groups from the root,
// within limits on their number, and reads what data sets of one dimension need: contiguous, compact and chunked
// layouts, with the filters deflate, shuffle and Fletcher's checksum. Checksums are not verified.

// h5 is an open file.
type h5 struct {
	ctx     context.Context
	r       io.ReaderAt
	size    int64
	base    int64 // address 0
	o, l    int   // sizes of addresses and lengths
	left    int   // bytes of metadata that may still be read
	seen    map[uint64]bool
	found   *File
	objects int
	total   int // attributes
	heaps   map[uint64]map[int][]byte
	held    int                 // bytes of heaps
	byAddr  map[uint64]string   // names of variables, as references name them
	axes    map[*Var][][]uint64 // addresses of the scales of a variable's dimensions
	scales  map[string]int64    // sizes of dimensions by name
	hidden  map[*Var]bool       // dimensions without values
}

// maxMeta bounds the metadata that are read of one file, in bytes.
const maxMeta = 256 << 20

var errHDF5 = fmt.Errorf("%w: the structure of HDF5 is damaged", source.ErrFormat)

// undefined is the address of what does not exist.
const undefined = ^uint64(0)

// cursor reads fields of a piece of metadata, all little-endian. After the first error, all are zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if c.bad || n < 0 || n > len(c.b) {
		c.bad = true
		return make([]byte, min(max(n, 0), 8))
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() int  { return int(c.take(1)[0]) }
func (c *cursor) u16() int { return int(binary.LittleEndian.Uint16(c.take(2))) }
func (c *cursor) u32() int { return int(binary.LittleEndian.Uint32(c.take(4))) }

// uint reads a number of up to eight bytes.
func (c *cursor) uint(n int) (x uint64) {
	b := c.take(n)
	for i := min(n, 8, len(b)) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

// addr reads an address, undefined if all its bits are set.
func (h *h5) addr(c *cursor) uint64 {
	x := c.uint(h.o)
	if h.o < 8 && x == 1<<(8*h.o)-1 {
		return undefined
	}
	return x
}

func (h *h5) length(c *cursor) uint64 { return c.uint(h.l) }

// at reads n bytes of metadata.
func (h *h5) at(addr uint64, n int) ([]byte, error) {
	if addr == undefined || addr > uint64(h.size) || n < 0 || int64(addr)+h.base > h.size-int64(n) {
		return nil, errHDF5
	}
	if h.left -= n; h.left < 0 {
		return nil, fmt.Errorf("%w: the metadata of HDF5 are too large", source.ErrFormat)
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if got, err := h.r.ReadAt(b, int64(addr)+h.base); got < n {
		return nil, fmt.Errorf("%w: %v", errHDF5, err)
	}
	return b, nil
}

// upTo reads at most n bytes of metadata, less at the end of the file.
func (h *h5) upTo(addr uint64, n int) ([]byte, error) {
	if addr == undefined || addr >= uint64(h.size) {
		return nil, errHDF5
	}
	return h.at(addr, int(min(int64(n), h.size-int64(addr)-h.base)))
}

// openHDF5 reads what a file describes.
func openHDF5(ctx context.Context, in source.Input) (*File, error) {
	h := &h5{
		ctx: ctx, r: in.Body, size: in.Size, left: maxMeta, seen: map[uint64]bool{}, found: &File{body: in.Body, size: in.Size},
		heaps:  map[uint64]map[int][]byte{},
		byAddr: map[uint64]string{}, axes: map[*Var][][]uint64{}, scales: map[string]int64{}, hidden: map[*Var]bool{},
	}
	root, err := h.superblock()
	if err != nil {
		return nil, err
	}
	if err := h.group(root, "", 0); err != nil {
		if len(h.found.Vars) == 0 {
			return nil, err
		}
		h.fault(err)
	}
	h.dimensions()
	return h.found, nil
}

// fault keeps an error, at most a few.
func (h *h5) fault(err error) {
	if len(h.found.Faults) < 10 {
		h.found.Faults = append(h.found.Faults, strings.ReplaceAll(err.Error(), source.ErrFormat.Error()+": ", ""))
	}
}

// superblock finds the superblock, at a power of two from 512 or at the beginning, and returns the address of the root
// group's header.
func (h *h5) superblock() (uint64, error) {
	for off := int64(0); off < h.size && off <= 1<<20; off = max(512, off*2) {
		b := make([]byte, min(128, h.size-off))
		if n, err := h.r.ReadAt(b, off); n < len(b) {
			return 0, fmt.Errorf("%w: %v", errHDF5, err)
		}
		if !bytes.HasPrefix(b, []byte("\x89HDF\r\n\x1a\n")) {
			continue
		}
		c := &cursor{b: b[8:]}
		version := c.u8()
		switch version {
		case 0, 1:
			c.take(4)
			h.o, h.l = c.u8(), c.u8()
			c.take(1 + 2 + 2 + 4)
			if version == 1 {
				c.take(4)
			}
		case 2, 3:
			h.o, h.l = c.u8(), c.u8()
			c.take(1)
		default:
			return 0, fmt.Errorf("%w: version %d of HDF5", source.ErrFormat, version)
		}
		if h.o != 2 && h.o != 4 && h.o != 8 || h.l != 2 && h.l != 4 && h.l != 8 {
			return 0, errHDF5
		}
		h.base = int64(h.addr(c))
		if h.base != 0 && h.base != off {
			return 0, errHDF5
		}
		h.addr(c) // free space or extension
		h.addr(c) // end of file
		if version < 2 {
			h.addr(c) // driver information
			h.addr(c) // name of the root
		}
		root := h.addr(c)
		if c.bad {
			return 0, errHDF5
		}
		return root, nil
	}
	return 0, fmt.Errorf("%w: it is no file of HDF5", source.ErrFormat)
}

// message is a message of an object's header.
type message struct {
	kind int
	body []byte
}

// The kinds of messages.
const (
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgFill         = 0x05
	msgLink         = 0x06
	msgLayout       = 0x08
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbols      = 0x11
	msgAttrInfo     = 0x15
)

// maxMessages bounds the messages of one object.
const maxMessages = 20_000

// header reads the messages of an object.
func (h *h5) header(addr uint64) (all []message, err error) {
	b, err := h.upTo(addr, 64)
	if err != nil {
		return nil, err
	}
	type block struct {
		addr uint64
		n    int
	}
	var blocks []block
	second := bytes.HasPrefix(b, []byte("OHDR"))
	tracked := false
	c := &cursor{b: b}
	if second {
		c.take(5)
		flags := c.u8()
		tracked = flags&4 != 0
		if flags&0x20 != 0 {
			c.take(16)
		}
		if flags&0x10 != 0 {
			c.take(4)
		}
		n := int(c.uint(1 << (flags & 3)))
		blocks = []block{{addr + uint64(len(b)-len(c.b)), n}}
	} else {
		if c.u8() != 1 {
			return nil, errHDF5
		}
		c.take(1 + 2 + 4)
		n := c.u32()
		blocks = []block{{addr + 16, n}}
	}
	if c.bad {
		return nil, errHDF5
	}
	for i := 0; i < len(blocks) && i < 1000; i++ {
		body, err := h.at(blocks[i].addr, blocks[i].n)
		if err != nil {
			return all, err
		}
		c := &cursor{b: body}
		if second && i > 0 {
			c.take(4)
			c.b = c.b[:max(len(c.b)-4, 0)] // without the checksum
		}
		for len(c.b) >= 4 && !c.bad {
			m := message{}
			var n int
			if second {
				m.kind, n = c.u8(), c.u16()
				c.take(1)
				if tracked {
					c.take(2)
				}
			} else {
				m.kind, n = c.u16(), c.u16()
				c.take(4)
			}
			if m.body = c.take(n); c.bad {
				break // a gap at the end
			}
			if m.kind == msgContinuation {
				next := &cursor{b: m.body}
				blocks = append(blocks, block{h.addr(next), int(min(h.length(next), 64<<20))})
				continue
			}
			if all = append(all, m); len(all) > maxMessages {
				return all, errHDF5
			}
		}
	}
	return all, nil
}
