package tables

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// xlsRows reads the cells of a sheet, row by row.
type xlsRows struct {
	book    *xlsWorkbook
	rest    []byte
	depth   int      // of nested substreams, such as a chart in a sheet
	cells   []string // of the current row
	row     int      // number of the current row
	held    []string // a complete row
	heldRow int
	given   int // number of the next row to return
	done    bool
}

func (r *xlsRows) next() ([]string, error) {
	for r.held == nil && !r.done {
		r.read()
	}
	if r.held == nil {
		return nil, io.EOF
	}
	if gap := r.heldRow - r.given; gap > 0 && gap <= xlsGap {
		r.given++
		return []string{}, nil
	}
	row := r.held
	r.held, r.given = nil, max(r.given, r.heldRow+1)
	return row, nil
}

// read reads one record.
func (r *xlsRows) read() {
	id, data, rest, ok := xlsRecord(r.rest)
	r.rest = rest
	switch {
	case !ok:
		r.end()
		r.done = true
	case id == recBOF:
		r.depth++
	case id == recEOF:
		if r.depth--; r.depth <= 0 {
			r.end()
			r.done = true
		}
	case r.depth == 1 && len(data) >= 6:
		r.cell(id, data)
	}
}

// end ends the current row.
func (r *xlsRows) end() {
	if len(r.cells) > 0 {
		r.held, r.heldRow = slices.Clone(r.cells), r.row
		r.cells = r.cells[:0]
	}
}

// put sets a cell, which ends the current row if it is in another.
func (r *xlsRows) put(row, col int, text string) {
	if text == "" || col >= xlsWidth {
		return
	}
	if row != r.row {
		r.end()
		r.row = row
	}
	for len(r.cells) <= col {
		r.cells = append(r.cells, "")
	}
	r.cells[col] = text
}

// cell reads a record of one or more cells.
func (r *xlsRows) cell(id uint16, data []byte) {
	b := r.book
	row, col, style := int(u16(data)), int(u16(data[2:])), u16(data[4:])
	switch {
	case id == recLabelSST && len(data) >= 10:
		if i := int(u32(data[6:])); i < len(b.strings) {
			r.put(row, col, b.strings[i])
		}
	case id == recLabel || id == recRString:
		r.put(row, col, b.text(data[6:], true))
	case id == recNumber && len(data) >= 14:
		r.put(row, col, b.number(math.Float64frombits(binary.LittleEndian.Uint64(data[6:])), style))
	case id == recRk && len(data) >= 10:
		r.put(row, col, b.number(rk(u32(data[6:])), style))
	case id == recMulRk:
		for at := 4; at+6 <= len(data)-2; at += 6 {
			r.put(row, col, b.number(rk(u32(data[at+2:])), u16(data[at:])))
			col++
		}
	case id == recBoolErr && len(data) >= 8 && data[7] == 0:
		r.put(row, col, strconv.FormatBool(data[6] != 0))
	case id == recFormula && len(data) >= 14:
		r.put(row, col, r.result(data[6:14], style))
	}
}

// result returns the last result of a formula ([MS-XLS] 2.5.133): a number, or what the first byte says.
func (r *xlsRows) result(v []byte, style uint16) string {
	if v[6] != 0xFF || v[7] != 0xFF {
		return r.book.number(math.Float64frombits(binary.LittleEndian.Uint64(v)), style)
	}
	switch v[0] {
	case 0: // a string, which follows, possibly after the formula of an array
		rest := r.rest
		for range 3 {
			id, data, after, ok := xlsRecord(rest)
			if !ok || id == recFormula || id == recEOF {
				break
			}
			if id == recString {
				return r.book.text(data, true)
			}
			rest = after
		}
	case 1:
		return strconv.FormatBool(v[2] != 0)
	}
	return ""
}

// rk decodes a number in 30 bits ([MS-XLS] 2.5.217).
func rk(v uint32) float64 {
	x := float64(int32(v) >> 2)
	if v&2 == 0 {
		x = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		x /= 100
	}
	return x
}

// number returns a cell's number in XSD's form, or the date or time that its style makes it.
func (w *xlsWorkbook) number(x float64, style uint16) string {
	if x-x != 0 {
		return ""
	}
	parts := dateParts(0)
	if int(style) < len(w.styles) {
		parts = w.parts(w.styles[style])
	}
	if parts == 0 || x < 0 || x+w.from >= 2958466 { // the year 10000
		if short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 14, 64), 64); err == nil {
			x = short // Excel shows 15 digits
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	days := x + w.from
	if days < 61 && w.from == 0 {
		days++ // Excel has a 29 February 1900
	}
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(math.Round(math.Mod(days, 1)*86400))*time.Second).AddDate(0, 0,
		int(days))
	clock := at.Format("15:04:05")
	switch {
	case parts == clockPart && x < 1:
		return clock
	case parts == datePart && clock == "00:00:00":
		return at.Format("2006-01-02")
	case parts == clockPart && x < 366:
		return strconv.FormatFloat(x*24, 'f', -1, 64) // a duration, in hours
	}
	return at.Format("2006-01-02T15:04:05")
}

// dateParts says which parts of a date a number format shows.
type dateParts byte

const (
	datePart dateParts = 1 << iota
	clockPart
)

// parts returns the parts of a number format of the file, or of a predefined one.
func (w *xlsWorkbook) parts(format uint16) dateParts {
	if p, ok := w.formats[format]; ok {
		return p
	}
	switch f := format; {
	case f >= 14 && f <= 17, f >= 27 && f <= 31, f == 36, f >= 50 && f <= 54, f == 57, f == 58:
		return datePart
	case f >= 18 && f <= 21, f >= 32 && f <= 35, f >= 45 && f <= 47, f == 55, f == 56:
		return clockPart
	case f == 22:
		return datePart | clockPart
	}
	return 0
}

// datePartsOf parses a number format such as dd.mm.yyyy or [h]:mm. Quoted texts, colours and escaped characters do not
// count. A digit placeholder, other than for fractions of a second, means a number.
func datePartsOf(format string) (p dateParts) {
	format, _, _ = strings.Cut(strings.ToLower(format), ";")
	if format == "general" || format == "standard" {
		return 0
	}
	months := false
	for i := 0; i < len(format); i++ {
		switch c := format[i]; c {
		case '"', '[':
			end := strings.IndexByte(format[i+1:], map[byte]byte{'"': '"', '[': ']'}[c])
			if end < 0 {
				return p
			}
			if inner := format[i+1 : i+1+end]; c == '[' && strings.Trim(inner, "hms") == "" {
				p |= clockPart
			}
			i += end + 1
		case '\\', '_', '*':
			i++
		case 'y', 'd':
			p |= datePart
		case 'h', 's':
			p |= clockPart
		case 'm':
			months = true
		case '#', '?':
			return 0
		case '0':
			if p&clockPart == 0 { // of seconds
				return 0
			}
		}
	}
	if months && p == 0 {
		return datePart
	}
	return p
}
