package statistical

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// sasFile is a data set of SAS versions 7 to 9 (as M. Shotwell's "SAS7BDAT Database Binary Format" describes it). It
// consists of pages; pages have subheaders, which describe the data set or hold compressed rows, and rows.
type sasFile struct {
	in      source.Input
	order   binary.ByteOrder
	wide    bool // lengths are of eight bytes
	header  int64
	page    int64 // length of a page
	pages   int64
	cut     bool // the file ends before its last page does
	texts   texts
	name    string
	packing byte // of rows: 0 none, r run lengths, d a dictionary of what was before

	rowLength int64
	rows      int64
	mixed     int64 // rows of a page that has subheaders, too
	columnsN  int64
	blocks    [][]byte // texts that others refer to
	names     []sasRef
	formats   []sasRef
	labels    []sasRef
	fields    []sasField
}

// sasRef is a part of a block of texts.
type sasRef struct{ block, at, length int }

// sasField is where a variable is in the row.
type sasField struct {
	at, width int64
	text      bool
	kind      sasKind
}

// Limits of a data set of SAS.
const (
	sasMaxPage   = 64 << 20
	sasMaxRow    = 16 << 20
	sasMaxBlocks = 10_000
)

// sas reads a data set of SAS.
func sas(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &sasFile{in: in}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	if err := f.describe(); err != nil {
		return nil, err
	}
	columns, err := f.columns()
	if err != nil {
		return nil, err
	}
	rows := &sasRows{sasFile: f, at: -1}
	return one(profiled(ctx, f.name, columns, rows.next, o.Reading(0)))
}

// bytesAt reads n bytes of the file.
func (f *sasFile) bytesAt(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if m, err := f.in.Body.ReadAt(b, at); int64(m) < n {
		return nil, malformed("it ends at byte %d: %v", at+int64(m), err)
	}
	return b, nil
}

// readHeader reads what the file says of itself.
func (f *sasFile) readHeader() error {
	b, err := f.bytesAt(0, min(f.in.Size, 400))
	if err != nil || len(b) < 400 {
		return malformed("its header ends too early")
	}
	shift := int64(0)
	f.wide = b[32] == '3'
	if b[35] == '3' {
		shift = 4
	}
	f.order = binary.BigEndian
	if b[37] == 1 {
		f.order = binary.LittleEndian
	}
	f.texts = textsIn(sasCharset(b[70]), nil)
	f.name = f.texts.text(ended(b[92:156]))
	f.header, f.page = int64(f.order.Uint32(b[196+shift:])), int64(f.order.Uint32(b[200+shift:]))
	if f.wide {
		f.pages = int64(f.order.Uint64(b[204+shift:]))
	} else {
		f.pages = int64(f.order.Uint32(b[204+shift:]))
	}
	if f.header < 288 || f.header > f.in.Size || f.page < 256 || f.page > sasMaxPage {
		return malformed("pages of %d bytes behind a header of %d", f.page, f.header)
	}
	if most := (f.in.Size - f.header + f.page - 1) / f.page; f.pages < 0 || f.pages > most {
		f.pages, f.cut = most, true
	}
	f.cut = f.cut || f.header+f.pages*f.page > f.in.Size
	return nil
}

// integer returns the length or place at a place of b, 0 outside of it.
func (f *sasFile) integer(b []byte, at int64) int64 {
	n := f.intLen()
	if at < 0 || at+n > int64(len(b)) {
		return 0
	}
	if f.wide {
		return int64(f.order.Uint64(b[at:]))
	}
	return int64(f.order.Uint32(b[at:]))
}

// short returns the number of two bytes at a place of b, 0 outside of it.
func (f *sasFile) short(b []byte, at int64) int {
	if at < 0 || at+2 > int64(len(b)) {
		return 0
	}
	return int(f.order.Uint16(b[at:]))
}

func (f *sasFile) intLen() int64 {
	if f.wide {
		return 8
	}
	return 4
}

// pageHead returns the length of a page's header, and of a pointer to a subheader.
func (f *sasFile) pageHead() (head, pointer int64) {
	if f.wide {
		return 40, 24
	}
	return 24, 12
}

// sasPage is one page.
type sasPage struct {
	bytes      []byte
	kind       int // without the bit that says that rows were deleted
	deleted    bool
	blocks     int64 // rows and subheaders
	subheaders int64
}

// readPage reads a page.
func (f *sasFile) readPage(i int64) (sasPage, error) {
	at := f.header + i*f.page
	b, err := f.bytesAt(at, min(f.page, f.in.Size-at))
	if err != nil || len(b) < 64 {
		return sasPage{}, malformed("it ends before page %d", i+1)
	}
	head, _ := f.pageHead()
	kind := f.short(b, head-8)
	p := sasPage{bytes: b, kind: kind &^ 0x80, deleted: kind&0x80 != 0, blocks: int64(f.short(b, head-6)),
		subheaders: int64(f.short(b, head-4))}
	return p, nil
}

// Kinds of pages.
const (
	sasMeta     = 0x0000
	sasData     = 0x0100
	sasMix      = 0x0200
	sasAmended  = 0x0400
	sasMetaMore = 0x4000
)

// described reports whether a page may have subheaders.
func (p sasPage) described() bool {
	switch p.kind {
	case sasMeta, sasMix, sasAmended, sasMetaMore:
		return true
	}
	return false
}

// sasSub is a subheader.
type sasSub struct {
	bytes     []byte
	signature uint32
	packed    bool // a compressed row
	row       bool // may be a row
}

// subheaders calls each with the subheaders of a page.
func (f *sasFile) subheaders(p sasPage, each func(sasSub) error) error {
	if !p.described() {
		return nil
	}
	head, size := f.pageHead()
	for i := range p.subheaders {
		at := head + i*size
		if at+size > int64(len(p.bytes)) {
			return malformed("a page of %d subheaders", p.subheaders)
		}
		start, length := f.integer(p.bytes, at), f.integer(p.bytes, at+f.intLen())
		packing, kind := p.bytes[at+2*f.intLen()], p.bytes[at+2*f.intLen()+1]
		if length == 0 || packing == 1 { // was cut off
			continue
		}
		if start < 0 || length < 0 || start > int64(len(p.bytes)) || length > int64(len(p.bytes))-start {
			return malformed("a subheader of %d bytes at byte %d of a page", length, start)
		}
		s := sasSub{bytes: p.bytes[start : start+length], packed: packing == 4, row: kind == 1 && (packing == 4 || packing == 0)}
		if length >= 4 {
			s.signature = f.order.Uint32(s.bytes)
			if f.wide && length >= 8 && f.order == binary.ByteOrder(binary.BigEndian) && (s.signature == 0 || s.signature == 0xffffffff) {
				s.signature = f.order.Uint32(s.bytes[4:])
			}
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return nil
}

// Signatures of subheaders.
const (
	sasRowSize    = 0xf7f7f7f7
	sasColumnSize = 0xf6f6f6f6
	sasColumnText = 0xfffffffd
	sasColumnName = 0xffffffff
	sasColumnAttr = 0xfffffffc
	sasFormat     = 0xfffffbfe
	sasCounts     = 0xfffffc00
	sasList       = 0xfffffffe
)

// described reports whether a subheader has a part of the description, not a row.
func (s sasSub) described() bool {
	switch s.signature {
	case sasRowSize, sasColumnSize, sasColumnText, sasColumnName, sasColumnAttr, sasFormat, sasCounts, sasList:
		return !s.packed
	}
	return false
}

// describe reads the subheaders of all pages before the first that has only rows.
func (f *sasFile) describe() error {
	for i := range f.pages {
		p, err := f.readPage(i)
		if err != nil {
			return err
		}
		if !p.described() && p.kind != 0x9000 {
			break
		}
		if err := f.subheaders(p, f.learn); err != nil {
			return err
		}
		if p.kind == sasMix && int64(len(f.fields)) >= f.columnsN {
			break
		}
	}
	return nil
}

// learn reads one subheader.
func (f *sasFile) learn(s sasSub) error {
	n := f.intLen()
	b := s.bytes
	if !s.described() {
		return nil
	}
	switch s.signature {
	case sasRowSize:
		f.rowLength, f.rows, f.mixed = f.integer(b, 5*n), f.integer(b, 6*n), f.integer(b, 15*n)
		if f.rowLength <= 0 || f.rowLength > sasMaxRow {
			return malformed("rows of %d bytes", f.rowLength)
		}
	case sasColumnSize:
		f.columnsN = f.integer(b, n)
	case sasColumnText:
		if len(f.blocks) >= sasMaxBlocks {
			return malformed("more than %d blocks of texts", sasMaxBlocks)
		}
		text := b[min(n, int64(len(b))):]
		if len(f.blocks) == 0 {
			switch {
			case bytes.Contains(text, []byte("SASYZCRL")):
				f.packing = 'r'
			case bytes.Contains(text, []byte("SASYZCR2")):
				f.packing = 'd'
			}
		}
		f.blocks = append(f.blocks, bytes.Clone(text))
	case sasColumnName:
		for at := n + 8; at+8 <= int64(len(b))-n-4 && len(f.names) <= maxVariables; at += 8 {
			f.names = append(f.names, f.ref(b, at))
		}
	case sasColumnAttr:
		for at := n + 8; at+n+8 <= int64(len(b))-n-4 && len(f.fields) <= maxVariables; at += n + 8 {
			width := int64(f.order.Uint32(b[at+n:]))
			f.fields = append(f.fields, sasField{at: f.integer(b, at), width: width, text: b[at+n+6] != 1})
		}
	case sasFormat:
		if len(f.formats) <= maxVariables {
			f.formats = append(f.formats, f.ref(b, 3*n+22))
			f.labels = append(f.labels, f.ref(b, 3*n+28))
		}
	}
	return nil
}

// ref reads a reference to a text.
func (f *sasFile) ref(b []byte, at int64) sasRef {
	return sasRef{f.short(b, at), f.short(b, at+2), f.short(b, at+4)}
}

// resolve returns the text of a reference, "" if there is none.
func (f *sasFile) resolve(r sasRef) string {
	if r.block >= len(f.blocks) || r.at > len(f.blocks[r.block]) || r.length > len(f.blocks[r.block])-r.at {
		return ""
	}
	return strings.TrimSpace(f.texts.text(f.blocks[r.block][r.at : r.at+r.length]))
}

// columns checks and returns the variables.
func (f *sasFile) columns() ([]variable, error) {
	n := len(f.fields)
	if f.columnsN > 0 && int64(n) > f.columnsN {
		n = int(f.columnsN)
	}
	if n == 0 || f.rowLength == 0 {
		return nil, malformed("it describes no variables")
	}
	columns := make([]variable, n)
	for i := range columns {
		v := &f.fields[i]
		if v.at < 0 || v.width < 0 || v.at > f.rowLength || v.width > f.rowLength-v.at || !v.text && v.width > 8 {
			return nil, malformed("a variable of %d bytes at byte %d of a row of %d", v.width, v.at, f.rowLength)
		}
		if i < len(f.names) {
			columns[i].name = f.resolve(f.names[i])
		}
		if i < len(f.formats) {
			columns[i].label = f.resolve(f.labels[i])
			v.kind = sasKindOf(f.resolve(f.formats[i]))
		}
	}
	f.fields = f.fields[:min(n, maxVariables)]
	return columns, nil
}

// sasCharset returns the name of an encoding by its number, "" if it is unknown.
func sasCharset(n byte) string {
	names := map[byte]string{20: "utf-8", 28: "ascii", 29: "iso-8859-1", 30: "iso-8859-2", 31: "iso-8859-3", 32: "iso-8859-4",
		33: "iso-8859-5", 34: "iso-8859-6",
		35: "iso-8859-7", 36: "iso-8859-8", 37: "iso-8859-9", 38: "iso-8859-10", 39: "windows-874", 40: "iso-8859-15", 41: "ibm437",
		42: "ibm850", 43: "ibm852",
		45: "ibm858", 46: "ibm862", 49: "ibm866", 51: "windows-874", 60: "windows-1250", 61: "windows-1251", 62: "windows-1252",
		63: "windows-1253",
		64: "windows-1254", 65: "windows-1255", 66: "windows-1256", 67: "windows-1257", 68: "windows-1258", 118: "big5", 119: "euc-tw",
		123: "big5",
		125: "gb2312", 126: "gbk", 134: "euc-jp", 136: "cp949", 138: "shift_jis", 140: "euc-kr", 141: "cp949", 142: "cp949",
		167: "iso-2022-jp",
		205: "gb18030", 242: "iso-8859-13"}
	return names[n]
}
