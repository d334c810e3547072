package statistical

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// card is the length of the records of a SAS transport file.
const card = 80

// xportFile is a transport file of SAS, version 5 or 8 (SAS technical support, TS-140 and "Record Layout of a SAS
// Version 8 or 9 Data Set in SAS Transport Format").
type xportFile struct {
	*source.Cursor
}

// xportVariable is a variable of a data set.
type xportVariable struct {
	variable
	raw, rawLabel []byte
	text          bool
	at, width     int // in the row
	kind          sasKind
}

// xport reads the data sets of a transport file.
func xport(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &xportFile{Cursor: open(in, binary.BigEndian)}
	if !bytes.HasPrefix(f.Peek(card), []byte("HEADER RECORD*******LIB")) {
		return nil, malformed("not a SAS transport file")
	}
	f.Skip(3 * card)
	var found []*csvprofile.Profile
	for len(found) < o.MaxTables && f.member() {
		name, vars, err := f.dataset()
		if err == nil && f.Err() != nil {
			err = malformed("the description of a data set ends too early: %v", f.Err())
		}
		if err != nil {
			return found, err
		}
		columns := make([]variable, len(vars))
		rows := &xportRows{xportFile: f, vars: vars}
		for i, v := range vars {
			columns[i] = v.variable
			rows.width = max(rows.width, v.at+v.width)
		}
		rows.texts = textsIn("", nil)
		p, err := profiled(ctx, name, columns, rows.next, o.Reading(len(found)))
		if err != nil {
			return found, err
		}
		if p != nil {
			found = append(found, p)
		}
		if !rows.end { // cut off by a limit
			break
		}
	}
	return found, nil
}

// member reports whether a header of a data set follows.
func (f *xportFile) member() bool {
	return bytes.HasPrefix(f.Peek(card), []byte("HEADER RECORD*******MEMB"))
}

// numberAt returns the number of five digits at a place of a header.
func numberAt(head []byte, at int) int {
	if len(head) < at+5 {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(head[at : at+5])))
	return n
}

// dataset reads the description of a data set, up to its first row.
func (f *xportFile) dataset() (name string, vars []xportVariable, err error) {
	size := numberAt(f.Bytes(card), 73)
	if size != 136 && size != 140 {
		size = 140
	}
	f.Skip(card)
	first := bytes.Clone(f.Bytes(card))
	if name = string(bytes.TrimSpace(first[8:16])); bytes.HasPrefix(first[40:], []byte("SASDATA")) { // version 8, with long names
		name = string(bytes.TrimSpace(first[8:40]))
	}
	f.Skip(card)
	head := bytes.Clone(f.Bytes(card))
	if !bytes.HasPrefix(head, []byte("HEADER RECORD*******NAMEST")) && !bytes.HasPrefix(head, []byte("HEADER RECORD*******NAMSTV")) {
		return "", nil, malformed("the variables of a data set are missing")
	}
	n := numberAt(head, 53)
	var sample []byte
	at := 0 // The description says where a variable is, too, but not rightly in what SAS' own macros write.
	for range n {
		b := f.Bytes(size)
		if f.Err() != nil || len(vars) > maxVariables {
			break
		}
		v := xportVariable{raw: bytes.Clone(b[8:16]), rawLabel: bytes.Clone(b[16:56]), text: binary.BigEndian.Uint16(b) == 2,
			width: int(binary.BigEndian.Uint16(b[4:])), at: at, kind: sasKindOf(strings.TrimSpace(string(b[56:64])))}
		if bytes.HasPrefix(head, []byte("HEADER RECORD*******NAMSTV")) {
			if long := bytes.TrimSpace(ended(b[88:120])); len(long) > 0 {
				v.raw = bytes.Clone(long)
			}
		}
		if at += v.width; v.width == 0 || at > 1<<24 || !v.text && v.width > 8 {
			return "", nil, malformed("a variable of %d bytes at byte %d of a row", v.width, v.at)
		}
		sample = append(append(sample, v.rawLabel...), '\n')
		vars = append(vars, v)
	}
	f.align()
	if !bytes.HasPrefix(f.Peek(card), []byte("HEADER RECORD*******OBS")) {
		f.longLabels(vars)
	}
	if b := f.Bytes(card); f.Err() == nil && !bytes.HasPrefix(b, []byte("HEADER RECORD*******OBS")) {
		return "", nil, malformed("the rows of a data set are missing")
	}
	t := textsIn("", sample)
	for i := range vars {
		vars[i].name, vars[i].label = t.text(vars[i].raw), t.text(vars[i].rawLabel)
	}
	return name, vars, nil
}

// align passes over what fills up a record.
func (f *xportFile) align() { f.Skip((card - f.Pos()%card) % card) }

// longLabels reads the names and labels that are longer than version 5 allows.
func (f *xportFile) longLabels(vars []xportVariable) {
	head := bytes.Clone(f.Bytes(card))
	formats := bytes.HasPrefix(head, []byte("HEADER RECORD*******LABELV9"))
	if !formats && !bytes.HasPrefix(head, []byte("HEADER RECORD*******LABELV8")) {
		f.Fail("a record of an unknown kind")
		return
	}
	for n := numberAt(head, 48); n > 0 && f.Err() == nil; n-- {
		which, name, label := int(f.U16()), int(f.U16()), int(f.U16())
		rest := 0
		if formats {
			rest = int(f.U16()) + int(f.U16())
		}
		long := bytes.Clone(f.Block(int64(name)))
		text := bytes.Clone(f.Block(int64(label)))
		f.Skip(int64(rest))
		if which >= 1 && which <= len(vars) && f.Err() == nil {
			vars[which-1].raw, vars[which-1].rawLabel = long, text
		}
	}
	f.align()
}

// xportRows reads the rows of a data set.
type xportRows struct {
	*xportFile
	vars  []xportVariable
	texts texts
	width int
	cells []string
	end   bool
}

// next returns the next row.
func (s *xportRows) next() ([]string, error) {
	if s.end || s.width == 0 || s.ends() {
		s.end = true
		return nil, io.EOF
	}
	row := s.Block(int64(s.width))
	if row == nil {
		return nil, malformed("the file ends within a row")
	}
	s.cells = s.cells[:0]
	for _, v := range s.vars[:min(len(s.vars), maxVariables)] {
		raw := row[v.at : v.at+v.width]
		switch {
		case v.text:
			s.cells = append(s.cells, s.texts.text(raw))
		default:
			n, ok := ibmFloat(raw)
			if !ok {
				s.cells = append(s.cells, "")
				continue
			}
			s.cells = append(s.cells, sasNumber(n, v.kind))
		}
	}
	return s.cells, nil
}

// ends reports whether no row follows: only blanks up to the end of the record, and then the end or a header.
func (s *xportRows) ends() bool {
	fill := int((card - s.Pos()%card) % card)
	b := s.Peek(fill + 2*card)
	if len(b) == 0 {
		return true
	}
	if s.width < card && len(b) < card && len(bytes.Trim(b, " \x00")) == 0 {
		s.Skip(int64(len(b)))
		return true
	}
	if len(b) < fill || len(bytes.Trim(b[:fill], " \x00")) > 0 {
		return false
	}
	if len(b) == fill || bytes.HasPrefix(b[fill:], []byte("HEADER RECORD*******MEMB")) {
		s.Skip(int64(fill))
		return true
	}
	return false
}

// ibmFloat decodes a number to the base 16 as IBM's mainframes have it, of two to eight bytes; false for missing
// values.
func ibmFloat(raw []byte) (float64, bool) {
	var b [8]byte
	copy(b[:], raw)
	bits := binary.BigEndian.Uint64(b[:])
	fraction := bits & (1<<56 - 1)
	if fraction == 0 {
		return 0, b[0] == 0 || b[0] == 0x80
	}
	v := math.Ldexp(float64(fraction), 4*(int(b[0]&0x7f)-64)-56)
	if b[0]&0x80 != 0 {
		v = -v
	}
	return v, true
}
