package statistical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of what is kept of a file besides its rows.
const (
	maxLongStrings = 1_000_000 // whose places are kept
	maxLongString  = 64 << 10  // bytes of a long string that a cell shows
)

// stataRows reads the rows.
type stataRows struct {
	*stataFile
	data  *source.Cursor
	long  *stataStrings
	width int64 // of a row in bytes
	row   int64
	cells []string
}

// next returns the next row.
func (s *stataRows) next() ([]string, error) {
	if s.row >= s.rows {
		return nil, io.EOF
	}
	b := s.data.Block(s.width)
	if b == nil {
		return nil, malformed("the file ends after row %d of %d", s.row, s.rows)
	}
	s.row++
	s.cells = s.cells[:0]
	for i, t := range s.types[:min(len(s.types), maxVariables)] {
		raw := b[:t.width]
		b = b[t.width:]
		switch t.kind {
		case 's':
			s.cells = append(s.cells, s.texts.text(ended(raw)))
		case 'L':
			s.cells = append(s.cells, s.long.text(raw))
		default:
			s.cells = append(s.cells, s.number(t.kind, raw, s.formats[i]))
		}
	}
	return s.cells, nil
}

// number formats a number by its display format, "" for missing values.
func (f *stataFile) number(kind byte, raw []byte, format string) string {
	v, ok := f.value(kind, raw)
	if !ok {
		return ""
	}
	if date, ok := isDate(format); ok {
		return shown(stataDate(date, v), v)
	}
	if kind == 'f' {
		return number(v, 32)
	}
	return number(v, 64)
}

// value decodes a number. The greatest numbers of each type are missing values: 27 of them since release 113, one
// before.
func (f *stataFile) value(kind byte, raw []byte) (v float64, ok bool) {
	modern := f.release >= 113
	switch kind {
	case 'b':
		n := int8(raw[0])
		return float64(n), modern && n <= 100 || !modern && n != 127
	case 'i':
		n := int16(f.order.Uint16(raw))
		return float64(n), modern && n <= 32740 || !modern && n != math.MaxInt16
	case 'l':
		n := int32(f.order.Uint32(raw))
		return float64(n), modern && n <= 2147483620 || !modern && n != math.MaxInt32
	case 'f':
		n := f.order.Uint32(raw)
		return float64(math.Float32frombits(n)), n < 0x7f000000 || n >= 0x80000000
	}
	n := f.order.Uint64(raw)
	return math.Float64frombits(n), n < 0x7fe0000000000000 || n >= 0x8000000000000000
}

// stataDate formats a date of a kind, "" if it is none.
func stataDate(kind byte, v float64) string {
	if !(math.Abs(v) < 1e15) {
		return ""
	}
	part := func(perYear int) (year, part int) {
		n := int(math.Floor(v))
		year = 1960 + n/perYear
		if part = n % perYear; part < 0 {
			year, part = year-1, part+perYear
		}
		return year, part
	}
	year, n := 0, 0
	text := ""
	switch kind {
	case 'd':
		return from1960.date(v)
	case 'c', 'C':
		return from1960.moment(v / 1000)
	case 'H':
		if v < 0 || v >= 86_400_000 {
			return from1960.moment(v / 1000)
		}
		return clock(v / 1000)
	case 'w': // the last of 52 weeks has the rest of the year
		year, n = part(52)
		text = inFourDigits(from1960.epoch.AddDate(year-1960, 0, 7*n), "2006-01-02")
	case 'm':
		year, n = part(12)
		text = fmt.Sprintf("%04d-%02d", year, n+1)
	case 'q':
		year, n = part(4)
		text = fmt.Sprintf("%04d-Q%d", year, n+1)
	case 'h':
		year, n = part(2)
		text = fmt.Sprintf("%04d-H%d", year, n+1)
	case 'y':
		year = int(math.Floor(v))
		text = fmt.Sprintf("%04d", year)
	}
	if year < 1 || year > 9999 {
		return ""
	}
	return text
}

// stataStrings finds long strings by the reference that a cell has.
type stataStrings struct {
	body   io.ReaderAt
	file   *stataFile
	places map[[2]uint64]stataPlace
	split  int // bytes of the first of a reference's two numbers; 0: not known yet
}

type stataPlace struct {
	at   int64
	size int
}

// longStrings reads where the long strings are.
func (f *stataFile) longStrings(in source.Input) *stataStrings {
	s := &stataStrings{body: in.Body, file: f, places: map[[2]uint64]stataPlace{}}
	if f.strings == 0 {
		return s
	}
	r := source.NewCursor(io.NewSectionReader(in.Body, f.strings, in.Size-f.strings), f.order)
	for len(s.places) < maxLongStrings && string(r.Peek(3)) == "GSO" {
		r.Skip(3)
		v, o := uint64(r.U32()), uint64(0)
		if f.release == 117 {
			o = uint64(r.U32())
		} else {
			o = r.U64()
		}
		binary := r.U8() == 129
		size := int64(r.U32())
		if r.Err() != nil {
			break
		}
		if !binary {
			s.places[[2]uint64{v, o}] = stataPlace{f.strings + r.Pos(), int(min(size, maxLongString))}
		}
		r.Skip(size)
	}
	return s
}

// text returns the string that a reference names, "" if there is none.
func (s *stataStrings) text(ref []byte) string {
	if s.split == 0 {
		s.split = s.splits(ref)
	}
	place, ok := s.places[s.file.reference(ref, max(2, s.split))]
	if !ok {
		return ""
	}
	text := make([]byte, place.size)
	n, _ := s.body.ReadAt(text, place.at)
	return s.file.texts.text(ended(text[:n]))
}

// splits returns how references are split, 0 if ref does not show it. Some programs write those of release 119 as those
// of 118.
func (s *stataStrings) splits(ref []byte) int {
	switch s.file.release {
	case 117:
		return 4
	case 118:
		return 2
	}
	for _, n := range []int{3, 2} {
		if _, ok := s.places[s.file.reference(ref, n)]; ok {
			return n
		}
	}
	return 0
}

// reference returns the two numbers of a reference, the first of split bytes.
func (f *stataFile) reference(ref []byte, split int) [2]uint64 {
	var b [16]byte
	if f.order == binary.ByteOrder(binary.LittleEndian) {
		copy(b[:8], ref[:split])
		copy(b[8:], ref[split:])
	} else {
		copy(b[8-split:8], ref[:split])
		copy(b[8+split:], ref[split:])
	}
	return [2]uint64{f.order.Uint64(b[:8]), f.order.Uint64(b[8:])}
}

// readLabels reads what the codes of the variables stand for. Labels that cannot be read are omitted.
func (f *stataFile) readLabels(in source.Input) {
	at := f.labels
	if f.release < 117 {
		width := int64(0)
		for _, t := range f.types {
			width += int64(t.width)
		}
		if width == 0 || f.rows > (in.Size-f.at)/width {
			return
		}
		at = f.at + f.rows*width
	}
	if at == 0 || f.release < 105 {
		return
	}
	sets := map[string][]csvprofile.Label{}
	r := source.NewCursor(io.NewSectionReader(in.Body, at, max(0, in.Size-at)), f.order)
	for r.More() && len(sets) < maxLabelSets {
		if f.release >= 117 {
			if string(r.Peek(5)) != "<lbl>" {
				break
			}
			r.Skip(5)
		}
		r.U32() // length of the table
		name := f.texts.text(ended(r.Bytes(widthsOf(f.release).set)))
		r.Skip(3)
		n, length := int64(r.U32()), int64(r.U32())
		if r.Err() != nil || n > 65_536 || length > source.MaxBlock {
			break
		}
		numbers := bytes.Clone(r.Block(8 * n))
		text := r.Block(length)
		if r.Err() != nil {
			break
		}
		var set []csvprofile.Label
		for i := range min(n, maxLabels) {
			offset := int64(f.order.Uint32(numbers[4*i:]))
			code := int32(f.order.Uint32(numbers[4*(n+i):]))
			if offset >= length || code > 2147483620 { // of a missing value
				continue
			}
			set = append(set, labelled(strconv.Itoa(int(code)), f.texts.text(ended(text[offset:]))))
		}
		sets[name] = set
		if f.release >= 117 {
			r.Skip(int64(len("</lbl>")))
		}
	}
	for i, name := range f.sets {
		if name != "" && f.types[i].kind != 's' {
			f.columns[i].values = sets[name]
		}
	}
}
