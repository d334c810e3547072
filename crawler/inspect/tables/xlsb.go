package tables

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Records of a binary workbook ([MS-XLSB] 2.3).
const (
	brtRowHdr        = 0
	brtCellRk        = 2
	brtCellBool      = 4
	brtCellReal      = 5
	brtCellSt        = 6
	brtCellIsst      = 7
	brtFmlaString    = 8
	brtFmlaNum       = 9
	brtFmlaBool      = 10
	brtShortBlank    = 12 // from here to 18: cells in the column after the last one, of the kinds 1 to 7
	brtShortIsst     = 18
	brtSSTItem       = 19
	brtFmt           = 44
	brtXF            = 47
	brtCellRString   = 62
	brtEndSheetData  = 146
	brtWbProp        = 153
	brtBundleSh      = 156
	brtBeginCellXFs  = 617
	brtEndCellXFs    = 618
	brtBeginSheet    = 145
	xlsbMaxRecord    = 1 << 20 // bytes of a record that are read
	xlsbMaxStrings   = 64 << 20
	xlsbMaxColumn    = 1 << 14
	xlsbMaxStyles    = 1 << 16
	xlsbMaxPartNames = 10_000
)

// xlsb reads the sheets of a binary workbook: values, and the last results of formulas.
func xlsb(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if err := in.Within(o.MaxBytes); err != nil {
		return nil, err
	}
	if _, err := checkZip(in, o); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	b := &xlsbBook{parts: map[string]*zip.File{}}
	for _, f := range z.File {
		b.parts[strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))] = f
	}
	if err := b.globals(); err != nil {
		return nil, err
	}
	var found []*csvprofile.Profile
	for _, sheet := range b.sheets {
		if len(found) >= o.MaxTables {
			break
		}
		part, err := b.open(sheet.part)
		if err != nil {
			continue // a chart sheet, or one that is missing
		}
		rows := &xlsbRows{book: b, records: part, row: -1}
		found, _, err = source.Sheet(ctx, sheet.name, rows.next, found, o)
		part.Close()
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// xlsbBook is what the sheets of a workbook share.
type xlsbBook struct {
	xlsWorkbook // calendar, number formats and styles
	parts       map[string]*zip.File
	sheets      []xlsbSheet
}

type xlsbSheet struct{ name, part string }

// xlsbRecords reads the records of a part.
type xlsbRecords struct {
	r     *bufio.Reader
	close func() error
	buf   []byte
}

// Close closes the part.
func (r *xlsbRecords) Close() { _ = r.close() }

// open opens a part.
func (b *xlsbBook) open(name string) (*xlsbRecords, error) {
	f := b.parts[strings.ToLower(name)]
	if f == nil {
		return nil, fmt.Errorf("%w: %s is missing", ErrFormat, name)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return &xlsbRecords{r: bufio.NewReaderSize(rc, 32<<10), close: rc.Close}, nil
}

// next returns the next record, whose data are valid until the next call, and io.EOF at the end.
func (r *xlsbRecords) next() (id int, data []byte, err error) {
	first, err := r.r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	if id = int(first); first&0x80 != 0 {
		second, err := r.r.ReadByte()
		if err != nil {
			return 0, nil, io.ErrUnexpectedEOF
		}
		id = int(first&0x7f) | int(second&0x7f)<<7
	}
	size := 0
	for shift := 0; shift < 28; shift += 7 {
		c, err := r.r.ReadByte()
		if err != nil {
			return 0, nil, io.ErrUnexpectedEOF
		}
		size |= int(c&0x7f) << shift
		if c&0x80 == 0 {
			break
		}
	}
	kept := min(size, xlsbMaxRecord)
	r.buf = slices.Grow(r.buf[:0], min(kept, 64<<10))
	for len(r.buf) < kept {
		at := len(r.buf)
		step := min(kept-at, 64<<10)
		r.buf = slices.Grow(r.buf, step)[:at+step]
		if _, err := io.ReadFull(r.r, r.buf[at:]); err != nil {
			return 0, nil, io.ErrUnexpectedEOF
		}
	}
	if _, err := r.r.Discard(size - kept); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return id, r.buf, nil
}

// wide decodes a string of UTF-16 after its length ([MS-XLSB] 2.5.169), and returns what follows it.
func wide(b []byte) (string, []byte) {
	if len(b) < 4 {
		return "", nil
	}
	n := int64(u32(b))
	if b = b[4:]; n == 0xffffffff {
		return "", b
	}
	n = min(n, int64(len(b)/2))
	units := make([]uint16, n)
	for i := range units {
		units[i] = u16(b[2*i:])
	}
	return string(utf16.Decode(units)), b[2*n:]
}

// globals reads the workbook, its styles and its shared strings.
func (b *xlsbBook) globals() error {
	targets := b.relations()
	book, err := b.open("xl/workbook.bin")
	if err != nil {
		return err
	}
	defer book.Close()
	for {
		id, data, err := book.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: the workbook: %v", ErrFormat, err)
		}
		switch {
		case id == brtWbProp && len(data) >= 4 && data[0]&1 != 0:
			b.from = 1462
		case id == brtBundleSh && len(data) >= 8 && len(b.sheets) < xlsbMaxPartNames:
			rel, rest := wide(data[8:])
			name, _ := wide(rest)
			b.sheets = append(b.sheets, xlsbSheet{name, targets[rel]})
		}
	}
	if err := b.readStyles(); err != nil {
		return err
	}
	return b.readStrings()
}

// relations returns the parts that the workbook names by an id.
func (b *xlsbBook) relations() map[string]string {
	targets := map[string]string{}
	f := b.parts["xl/_rels/workbook.bin.rels"]
	if f == nil {
		return targets
	}
	rc, err := f.Open()
	if err != nil {
		return targets
	}
	defer rc.Close()
	dec := xml.NewDecoder(io.LimitReader(rc, 4<<20))
	for len(targets) < xlsbMaxPartNames {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "Relationship" {
			target := attr(e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join("xl", target)
			}
			targets[attr(e, "Id")] = strings.TrimPrefix(target, "/")
		}
	}
	return targets
}

// readStyles reads which number format each style has.
func (b *xlsbBook) readStyles() error {
	b.formats = map[uint16]dateParts{}
	part, err := b.open("xl/styles.bin")
	if err != nil {
		return nil // numbers are numbers then
	}
	defer part.Close()
	cells := false
	for len(b.styles) < xlsbMaxStyles {
		id, data, err := part.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: the styles: %v", ErrFormat, err)
		}
		switch {
		case id == brtFmt && len(data) >= 6:
			code, _ := wide(data[2:])
			b.formats[u16(data)] = datePartsOf(code)
		case id == brtBeginCellXFs:
			cells = true
		case id == brtEndCellXFs:
			return nil
		case id == brtXF && cells && len(data) >= 4:
			b.styles = append(b.styles, u16(data[2:]))
		}
	}
	return nil
}

// readStrings reads the shared strings.
func (b *xlsbBook) readStrings() error {
	part, err := b.open("xl/sharedStrings.bin")
	if err != nil {
		return nil // there are none
	}
	defer part.Close()
	for size := 0; ; {
		id, data, err := part.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: the shared strings: %v", ErrFormat, err)
		}
		if id == brtSSTItem && len(data) > 1 {
			s, _ := wide(data[1:])
			if size += len(s) + 16; size > xlsbMaxStrings {
				return fmt.Errorf("more than %d bytes of shared strings", xlsbMaxStrings)
			}
			b.strings = append(b.strings, s)
		}
	}
}
