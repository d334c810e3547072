package tables

import (
	"fmt"
	"io"
	"unicode/utf16"
)

// Values of sector numbers and sizes of a compound file ([MS-CFB] 2).
const (
	cfbLastSector = 0xFFFFFFFA // numbers above it are marks, such as the end of a chain
	cfbHeader     = 512
	cfbEntry      = 128
	cfbMini       = 64   // size of the sectors of small streams
	cfbSmall      = 4096 // streams below this size are small ones
)

// cfb is a compound file (OLE). What is read of it is bounded by its size: its counts are not used, and no chain has
// more sectors than the file.
type cfb struct {
	body  io.ReaderAt
	size  int64
	shift uint
	fat   []uint32 // next sector of each
	mini  []uint32 // next small sector of each
	small []byte   // the small sectors

	entries []cfbFile
}

// cfbFile is an entry of the directory, a node of the tree of names of its storage.
type cfbFile struct {
	name               string
	left, right, child uint32
	start              uint32
	size               int64
}

// openCFB reads the tables and the directory of a compound file.
func openCFB(body io.ReaderAt, size int64) (*cfb, error) {
	head := make([]byte, cfbHeader)
	if _, err := body.ReadAt(head, 0); err != nil || string(head[:8]) != "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" {
		return nil, fmt.Errorf("%w: not a compound file", ErrFormat)
	}
	c := &cfb{body: body, size: size, shift: uint(u16(head[30:]))}
	if c.shift != 9 && c.shift != 12 {
		return nil, fmt.Errorf("%w: sectors of 2^%d bytes", ErrFormat, c.shift)
	}
	c.readFAT(head)
	for b := c.chain(u32(head[48:]), size); len(b) >= cfbEntry; b = b[cfbEntry:] {
		c.entries = append(c.entries, entryOf(b, c.shift))
	}
	if len(c.entries) == 0 {
		return nil, fmt.Errorf("%w: a compound file without a directory", ErrFormat)
	}
	for b := c.chain(u32(head[60:]), size); len(b) >= 4; b = b[4:] {
		c.mini = append(c.mini, u32(b))
	}
	if root := c.entries[0]; len(c.mini) > 0 {
		c.small = c.chain(root.start, root.size)
	}
	return c, nil
}

func entryOf(b []byte, shift uint) cfbFile {
	f := cfbFile{left: u32(b[68:]), right: u32(b[72:]), child: u32(b[76:]), start: u32(b[116:]), size: int64(u32(b[120:]))}
	if shift == 12 {
		f.size = min(f.size|int64(u32(b[124:])&0x7FFFFFFF)<<32, 1<<40) // writers of small sectors leave anything there
	}
	if n := int(u16(b[64:])); b[66] != 0 && n >= 2 && n <= 64 {
		units := make([]uint16, n/2-1)
		for i := range units {
			units[i] = u16(b[2*i:])
		}
		f.name = string(utf16.Decode(units))
	}
	return f
}

// readFAT reads the allocation table: its sectors are listed in the header, and then in a chain of further sectors.
func (c *cfb) readFAT(head []byte) {
	list, next := head[76:], u32(head[68:])
	for left := c.sectors(); ; {
		for ; len(list) >= 4 && int64(len(c.fat)) < c.sectors(); list = list[4:] {
			for b := c.sector(u32(list)); len(b) >= 4; b = b[4:] {
				c.fat = append(c.fat, u32(b))
			}
		}
		if left--; left <= 0 || next > cfbLastSector || int64(len(c.fat)) >= c.sectors() {
			return
		}
		if list = c.sector(next); len(list) < 4 {
			return
		}
		next, list = u32(list[len(list)-4:]), list[:len(list)-4]
	}
}

// sectors returns the number of sectors of the file.
func (c *cfb) sectors() int64 { return (c.size + 1<<c.shift - 1) >> c.shift }

// sector returns a sector, which may be cut off by the end of the file, nil if there is none.
func (c *cfb) sector(n uint32) []byte {
	if n > cfbLastSector || int64(n) >= c.sectors() {
		return nil
	}
	b := make([]byte, 1<<c.shift)
	got, _ := c.body.ReadAt(b, (int64(n)+1)<<c.shift)
	return b[:got]
}

// chain returns the bytes of a chain of sectors, at most max.
func (c *cfb) chain(n uint32, max int64) (all []byte) {
	for left := c.sectors(); left > 0 && int64(len(all)) < max; left-- {
		b := c.sector(n)
		all = append(all, b...)
		if len(b) < 1<<c.shift || int64(n) >= int64(len(c.fat)) {
			break
		}
		n = c.fat[n]
	}
	return all[:min(int64(len(all)), max)]
}

// read returns the bytes of a stream, at most max.
func (c *cfb) read(f cfbFile, max int64) (all []byte) {
	max = min(max, f.size)
	if f.size >= cfbSmall {
		return c.chain(f.start, max)
	}
	n := f.start
	for int64(len(all)) < max && int64(n) < int64(len(c.mini)) && (int64(n)+1)*cfbMini <= int64(len(c.small)) {
		all = append(all, c.small[int64(n)*cfbMini:(int64(n)+1)*cfbMini]...)
		n = c.mini[n]
	}
	return all[:min(int64(len(all)), max)]
}

// find returns the first stream with one of some names: of those at the top, or, if there is none, of all.
func (c *cfb) find(names ...string) (cfbFile, bool) {
	has := func(f cfbFile) bool {
		for _, n := range names {
			if f.name == n {
				return true
			}
		}
		return false
	}
	seen := make([]bool, len(c.entries))
	for todo := []uint32{c.entries[0].child}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int64(n) >= int64(len(c.entries)) || seen[n] {
			continue
		}
		seen[n] = true
		if f := c.entries[n]; has(f) {
			return f, true
		}
		todo = append(todo, c.entries[n].right, c.entries[n].left)
	}
	for _, f := range c.entries {
		if has(f) {
			return f, true
		}
	}
	return cfbFile{}, false
}
