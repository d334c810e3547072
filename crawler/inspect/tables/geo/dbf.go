package geo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// field is a column of a dBASE table.
type field struct {
	name   string
	kind   byte // as the format calls it: C, N, D ...
	at     int  // in a record
	size   int
	null   int // bit in the null flags, -1 if it has none
	varies int // bit that says that the last byte is the length, -1 if it has none
}

// dbf is a dBASE table: of dBASE III to 7, FoxPro or Clipper.
type dbf struct {
	fields []field
	record int   // bytes of a record
	head   int64 // bytes before the first
	stated int64 // number of records that the header states
	rows   int64 // number of records that the file has room for
	level7 bool
	flags  field // of nulls in FoxPro's tables; size 0 if there are none
	page   string
	memos  bool // a field has its texts in another file

	body   io.ReaderAt
	decode func([]byte) string

	buf     []byte // records that were read
	first   int64  // number of the first of them
	deleted int64  // rows that were skipped
}

// maxFields bounds the fields of a table: FoxPro allows 255, dBASE 7 1024.
const maxFields = 2048

// openDBF reads the header of a table. encoding is what a file beside it says, "" if none does.
func openDBF(body io.ReaderAt, size int64, encoding string) (*dbf, error) {
	var start [32]byte
	if n, err := body.ReadAt(start[:], 0); n < len(start) {
		return nil, cutOff(err)
	}
	d := &dbf{body: body, stated: int64(binary.LittleEndian.Uint32(start[4:])), head: int64(binary.LittleEndian.Uint16(start[8:])),
		record: int(binary.LittleEndian.Uint16(start[10:])), level7: start[0]&7 == 4, flags: field{null: -1, varies: -1}}
	if start[0] == 0x02 || d.record < 2 || d.head < 33 || d.head > size {
		return nil, fmt.Errorf("%w: not a dBASE table of level 3 or later", source.ErrFormat)
	}
	head := make([]byte, d.head)
	if n, err := body.ReadAt(head, 0); n < len(head) {
		return nil, cutOff(err)
	}
	if err := d.readFields(head); err != nil {
		return nil, err
	}
	d.rows = min(d.stated, (size-d.head)/int64(d.record))
	if d.stated == 0 && (size-d.head)/int64(d.record) > 0 && start[0] != 0x30 { // a writer that did not finish
		d.rows = (size - d.head) / int64(d.record)
	}
	d.page = codePages[start[29]]
	d.chooseEncoding(encoding)
	return d, nil
}

func cutOff(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%w: it is cut off", source.ErrFormat)
}

// readFields reads the descriptions of the fields.
func (d *dbf) readFields(head []byte) error {
	at, step, name := 32, 32, 11
	if d.level7 {
		at, step, name = 68, 48, 32
	}
	offset, flags := 1, 0
	for ; at+step <= len(head) && head[at] != 0x0d && head[at] != 0; at += step {
		b := head[at : at+step]
		if len(d.fields) >= maxFields {
			return fmt.Errorf("%w: more than %d fields", source.ErrFormat, maxFields)
		}
		f := field{name: strings.TrimRight(cString(b[:name]), " "), kind: b[name], size: int(b[16]), null: -1, varies: -1}
		decimals := int(b[17])
		if d.level7 {
			f.kind, f.size, decimals = b[32], int(b[33]), int(b[34])
		}
		if f.kind == 'C' && decimals > 0 && offset+f.size+decimals<<8 <= d.record { // Clipper and FoxPro: longer than 255
			f.size += decimals << 8
		}
		f.at = offset
		if offset += f.size; f.size == 0 || offset > d.record {
			return fmt.Errorf("%w: the fields are longer than a record", source.ErrFormat)
		}
		if f.kind == '0' && f.name == "_NullFlags" {
			d.flags = f
			continue
		}
		if f.kind == 'V' || f.kind == 'Q' {
			f.varies, flags = flags, flags+1
		}
		if !d.level7 && b[18]&0x02 != 0 && head[0]&0xf0 == 0x30 {
			f.null, flags = flags, flags+1
		}
		d.memos = d.memos || strings.IndexByte("MGPW", f.kind) >= 0 || f.kind == 'B' && !d.binary(f)
		d.fields = append(d.fields, f)
	}
	if len(d.fields) == 0 {
		return fmt.Errorf("%w: no fields", source.ErrFormat)
	}
	return nil
}

// binary reports whether a field of kind B has a number, as in FoxPro, rather than the place of a memo.
func (d *dbf) binary(f field) bool { return f.size == 8 && !d.level7 }

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// block is how much is read at once, in bytes.
const block = 256 << 10

// raw returns record i, valid until the next call.
func (d *dbf) raw(i int64) ([]byte, error) {
	r := int64(d.record)
	if i < d.first || (i-d.first+1)*r > int64(len(d.buf)) {
		n := min(max(1, block/r), d.rows-i)
		if int64(cap(d.buf)) < n*r {
			d.buf = make([]byte, n*r)
		}
		d.buf, d.first = d.buf[:n*r], i
		if read, err := d.body.ReadAt(d.buf, d.head+i*r); read < len(d.buf) {
			d.buf = d.buf[:0]
			return nil, cutOff(err)
		}
	}
	return d.buf[(i-d.first)*r:][:r], nil
}

// row reads record i into cells. live is false if it was deleted.
func (d *dbf) row(i int64, cells []string) (live bool, err error) {
	b, err := d.raw(i)
	if err != nil || b[0] == 0x1a {
		if err == nil {
			err = io.EOF
		}
		return false, err
	}
	if b[0] == '*' {
		d.deleted++
		return false, nil
	}
	flag := func(bit int) bool {
		return bit >= 0 && bit/8 < d.flags.size && b[d.flags.at+bit/8]>>(bit%8)&1 != 0
	}
	for n, f := range d.fields {
		raw := b[f.at : f.at+f.size]
		if flag(f.null) {
			cells[n] = ""
			continue
		}
		if flag(f.varies) {
			raw = raw[:min(int(raw[len(raw)-1]), len(raw)-1)]
		}
		cells[n] = d.cell(f, raw)
	}
	return true, nil
}

// cell returns a value as text.
func (d *dbf) cell(f field, raw []byte) string {
	text := func() string { return strings.Trim(string(raw), " \x00") }
	switch f.kind {
	case 'C', 'V':
		return d.decode(trimRight(raw))
	case 'N', 'F':
		return number(text())
	case 'D':
		s := text()
		if at, err := time.Parse("20060102", s); err == nil {
			return at.Format("2006-01-02")
		}
		if strings.Trim(s, "0") == "" {
			return ""
		}
		return d.decode([]byte(s))
	case 'L':
		switch raw[0] {
		case 'T', 't', 'Y', 'y':
			return "true"
		case 'F', 'f', 'N', 'n':
			return "false"
		}
		return ""
	case 'M', 'G', 'P', 'W', 'Q':
		return ""
	}
	return d.binaryCell(f, raw)
}

// binaryCell returns a number or time that is stored in binary.
func (d *dbf) binaryCell(f field, raw []byte) string {
	switch {
	case (f.kind == 'I' || f.kind == '+') && len(raw) == 4 && d.level7: // with the sign bit reversed
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(raw) ^ 0x80000000)))
	case (f.kind == 'I' || f.kind == '+') && len(raw) == 4:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(raw))))
	case f.kind == 'B' && d.binary(f):
		return decimal(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	case f.kind == 'O' && len(raw) == 8: // ordered as bytes
		bits := binary.BigEndian.Uint64(raw)
		if bits == 0 {
			return ""
		}
		if bits>>63 != 0 {
			bits ^= 1 << 63
		} else {
			bits = ^bits
		}
		return decimal(math.Float64frombits(bits))
	case f.kind == 'Y' && len(raw) == 8: // ten thousandths
		v := int64(binary.LittleEndian.Uint64(raw))
		sign, u := "", uint64(v)
		if v < 0 {
			sign, u = "-", -u
		}
		return fmt.Sprintf("%s%d.%04d", sign, u/10000, u%10000)
	case f.kind == 'T' && len(raw) == 8: // the Julian day and milliseconds
		day, ms := int64(binary.LittleEndian.Uint32(raw)), int64(binary.LittleEndian.Uint32(raw[4:]))
		if day == 0 || day > 5373484 { // that of the year 9999
			return ""
		}
		return time.UnixMilli((day-2440588)*86400_000 + ms).UTC().Format("2006-01-02T15:04:05.999")
	case f.kind == '@' && len(raw) == 8: // milliseconds since the day before the year 1
		if ms := math.Float64frombits(binary.BigEndian.Uint64(raw) ^ 1<<63); ms > 0 && ms < 3.2e14 {
			return time.UnixMilli(int64(ms) - 62135683200_000).UTC().Format("2006-01-02T15:04:05.999")
		}
	}
	return ""
}

func trimRight(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			b = b[:i]
			break
		}
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// number returns a number without padding: leading zeros, and zeros at the end of a fraction. Asterisks, which mean
// that the number was too long for its field, are no value.
func number(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(s, ",", ".")), "+")
	if s == "" || s[0] == '*' {
		return ""
	}
	if strings.ContainsAny(s, "eE") {
		if v, err := strconv.ParseFloat(s, 64); v < -1.79e308 { // how ESRI's programs write that there is no value
			return ""
		} else if err == nil {
			return decimal(v)
		}
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	minus := strings.HasPrefix(s, "-")
	whole, fraction, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if strings.Trim(whole+fraction, "0123456789") != "" {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if point {
		if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
			fraction = "0"
		}
		whole += "." + fraction
	}
	if minus {
		return "-" + whole
	}
	return whole
}

// decimal formats a number as XSD does.
func decimal(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case a != 0 && (a < 1e-9 || a >= 1e15):
		return strconv.FormatFloat(v, 'E', -1, 64)
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// names returns the names of the fields.
func (d *dbf) names() []string {
	names := make([]string, len(d.fields))
	for i, f := range d.fields {
		names[i] = d.decode([]byte(f.name))
	}
	return names
}

// note says on the profile what the table's cells lack.
func (d *dbf) note(p *csvprofile.Profile) {
	p.Note("encoding %s", d.page)
	if d.rows < d.stated {
		p.Note("the header states %d records, and there are %d", d.stated, d.rows)
		p.Truncated = true
	}
	if d.deleted > 0 {
		p.Note("%d records are marked as deleted", d.deleted)
	}
	if d.memos {
		p.Note("texts in the memo file are left out")
	}
}

// dbfFile profiles a dBASE table.
func dbfFile(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	d, err := openDBF(in.Body, in.Size, codePage(textBeside(in, ".cpg")))
	if err != nil {
		return nil, err
	}
	cells := make([]string, len(d.fields))
	at := int64(0)
	p, err := csvprofile.ReadRecords(ctx, "", d.names(), func() ([]string, error) {
		for at < d.rows {
			live, err := d.row(at, cells)
			if at++; err != nil || live {
				return cells, err
			}
		}
		return nil, io.EOF
	}, o.Reading(0))
	if err != nil {
		return nil, err
	}
	d.note(p)
	if !source.Declared(p) {
		return nil, nil
	}
	return []*csvprofile.Profile{p}, nil
}
