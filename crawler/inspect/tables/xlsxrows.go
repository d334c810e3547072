package tables

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odarchive/crawler/inspect/budget"
)

// maxRowCells is the maximum number of cells of a row of a sheet: the columns that a sheet can have (ECMA-376 part 1,
// 18.3.1.73), and some more for files that are not exact.
const maxRowCells = 20_000

// checkRows refuses workbooks with a row of more than maxRowCells cells, or of more than budget.Row bytes, before a
// decoder reads them. excelize returns a row whole, with a copy of a shared string for each cell that names it, and
// takes rows whose numbers do not rise for one: 10 kB of them took gigabytes, and the time of a visit could not end it.
// Which parts are sheets is for the decoder to say, so all are looked at.
func checkRows(ctx context.Context, z *zip.Reader, max int64) error {
	shared, err := sharedLengths(ctx, z, max)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		err := scanPart(ctx, f, max, &rowScan{shared: shared, memory: budget.New("a row", budget.Row)})
		if err != nil {
			return err
		}
	}
	return nil
}

// scanPart runs a scan over a part of a workbook.
func scanPart(ctx context.Context, f *zip.File, max int64, s *rowScan) error {
	part, err := f.Open()
	if err != nil {
		return nil // the decoder says so if it needs this part
	}
	defer part.Close()
	s.src = &counter{r: io.LimitReader(part, max)}
	s.in = bufio.NewReaderSize(s.src, 64<<10)
	return s.run(ctx)
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// lengths are those of the shared strings of a workbook, as they are in its file.
type lengths struct {
	each    []uint32
	longest uint32
	open    int64 // where the present string begins, 0 if there is none
	at      int
}

// sharedLengths returns the lengths of the shared strings. If several parts may have them, the longer of two with the
// same number counts.
func sharedLengths(ctx context.Context, z *zip.Reader, max int64) (*lengths, error) {
	l := &lengths{}
	memory := budget.New("the shared strings of a workbook", budget.Block)
	for _, f := range z.File {
		if name := strings.ToLower(strings.ReplaceAll(f.Name, "\\", "/")); !strings.HasSuffix(name, "sharedstrings.xml") {
			continue
		}
		l.at, l.open = 0, 0
		if err := scanPart(ctx, f, max, &rowScan{strings: l, memory: memory}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// sharedString is what a shared string takes in the decoder, beside its text.
const sharedString = 150

// begin and end are called at the tags of a string.
func (l *lengths) begin(at int64) {
	if l.open == 0 {
		l.open = at
	}
}

func (l *lengths) end(at int64, memory *budget.Budget) error {
	if l.open == 0 {
		return nil
	}
	n := uint32(min(at-l.open, math.MaxUint32))
	l.open = 0
	if l.at == len(l.each) {
		if err := memory.Spend(1, sharedString); err != nil {
			return err
		}
		l.each = append(l.each, 0)
	}
	l.each[l.at] = max(l.each[l.at], n)
	l.longest = max(l.longest, n)
	l.at++
	return nil
}

// rowScan counts the cells of rows as excelize joins them. It knows of XML only what is needed not to see rows where
// encoding/xml sees none: comments, CDATA, processing instructions.
type rowScan struct {
	in      *bufio.Reader
	src     *counter
	row     int  // number of the row that began last
	highest int  // highest number of a row
	cells   int  // since a row with a higher number than all before began
	begun   bool // there was a row
	inRow   bool // its end tag is still to come
	strange bool // there was markup that is not followed: no row counts as a new one from there on

	shared *lengths // of the strings that cells may name
	named  bool     // the present cell may name one
	memory *budget.Budget
	buf    []byte // of tag

	strings *lengths // if not nil, the part has the strings themselves
}

// pos returns the number of bytes of the part that have been read.
func (s *rowScan) pos() int64 { return s.src.n - int64(s.in.Buffered()) }

func (s *rowScan) run(ctx context.Context) error {
	counted := int64(0)
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := s.skipThrough("<")
		if err == nil {
			err = s.markup()
		}
		if err == nil && s.inRow {
			err = s.memory.Spend(1, uint64(s.pos()-counted))
		}
		counted = s.pos()
		switch {
		case errors.Is(err, errWide) || errors.Is(err, budget.ErrSpent):
			return err
		case err != nil:
			return nil // the end, or damage, which the decoder finds as well
		}
	}
}

var errWide = errors.New("more than is read")

// maxFormat is the maximum length of the tag of a number format. Its texts are copied for each cell.
const maxFormat = 2 << 10

// markup reads what follows a "<".
func (s *rowScan) markup() error {
	head, _ := s.in.Peek(8)
	switch {
	case bytes.HasPrefix(head, []byte("!--")):
		_, _ = s.in.Discard(3)
		return s.skipThrough("-->")
	case bytes.HasPrefix(head, []byte("![CDATA[")):
		_, _ = s.in.Discard(8)
		return s.skipThrough("]]>")
	case bytes.HasPrefix(head, []byte("?")):
		return s.skipThrough("?>")
	case bytes.HasPrefix(head, []byte("!")):
		s.strange = true
		return nil
	case bytes.HasPrefix(head, []byte("/")):
		_, _ = s.in.Discard(1)
		return s.ended()
	}
	switch name := s.name(head); string(name) {
	case "si":
		if s.strings != nil {
			return s.beginString()
		}
	case "numFmt":
		if tag, _, err := s.tag(); err != nil || len(tag) > maxFormat {
			return fmt.Errorf("a number format of more than %d bytes: %w", maxFormat, cmp.Or(err, errWide))
		}
	case "c":
		if s.begun {
			return s.cell()
		}
	case "v":
		if s.named {
			return s.value()
		}
	case "row":
		return s.beginRow()
	}
	return nil
}

// ended reads the name of an end tag.
func (s *rowScan) ended() error {
	head, _ := s.in.Peek(8)
	switch string(s.name(head)) {
	case "row":
		s.inRow = false
	case "si":
		if s.strings != nil {
			return s.strings.end(s.pos(), s.memory)
		}
	}
	return nil
}

func (s *rowScan) beginString() error {
	at := s.pos()
	tag, _, err := s.tag()
	if s.strings.begin(at); err == nil && bytes.HasSuffix(tag, []byte("/")) {
		err = s.strings.end(s.pos(), s.memory)
	}
	return err
}

func (s *rowScan) beginRow() error {
	number, err := s.rowNumber()
	if err != nil {
		return err
	}
	switch s.begun, s.inRow = true, true; {
	case number == 0:
		s.row++
	case number > 0:
		s.row = number
	}
	if s.row > s.highest && number >= 0 && !s.strange {
		s.highest, s.cells = s.row, 0
		s.memory.Reset()
	}
	return nil
}

// cell reads the tag of a cell.
func (s *rowScan) cell() error {
	if s.cells++; s.cells > maxRowCells {
		return fmt.Errorf("a row of more than %d cells: %w", maxRowCells, errWide)
	}
	tag, whole, err := s.tag()
	if s.named = !whole; err != nil {
		return err
	}
	plain := eachAttribute(tag, func(name, value []byte) {
		if string(name) == "t" && (string(value) == "s" || bytes.IndexByte(value, '&') >= 0) {
			s.named = true
		}
	})
	s.named = s.named || !plain
	return nil
}

// value reads the number of a shared string, and counts its bytes.
func (s *rowScan) value() error {
	if _, _, err := s.tag(); err != nil {
		return err
	}
	n := s.shared.longest
	head, _ := s.in.Peek(16)
	if i := bytes.IndexByte(head, '<'); i > 0 && bytes.HasPrefix(head[i:], []byte("</")) {
		switch at := plainNumber(head[:i]); {
		case string(head[:i]) == "0" && len(s.shared.each) > 0:
			n = s.shared.each[0]
		case at > 0 && at < len(s.shared.each):
			n = s.shared.each[at]
		case at > 0:
			n = 0 // no string has the number, which is the text of the cell
		}
	}
	return s.memory.Spend(1, uint64(n))
}

// name returns the local name that a tag begins with, nil for very long ones. Its prefix can be long.
func (s *rowScan) name(head []byte) []byte {
	for n := len(head); ; n *= 2 {
		if i := bytes.IndexAny(head, " \t\r\n/>"); i >= 0 {
			return head[bytes.LastIndexByte(head[:i], ':')+1 : i]
		}
		more, _ := s.in.Peek(2 * n)
		if len(more) <= len(head) || n > 1<<10 {
			return nil
		}
		head = more
	}
}

// rowNumber reads a row's tag to its end and returns its number, 0 if it has none, and -1 if it is not a plain one.
func (s *rowScan) rowNumber() (number int, err error) {
	tag, whole, err := s.tag()
	if err != nil || !whole {
		return -1, err // its number may follow
	}
	seen := 0
	plain := eachAttribute(tag, func(name, value []byte) {
		if string(name) == "r" {
			seen++
			number = plainNumber(value)
		}
	})
	if seen > 1 || !plain {
		return -1, nil
	}
	return number, nil
}

// tag reads a tag to its end. It returns its beginning, and whether that is all of it.
func (s *rowScan) tag() (tag []byte, whole bool, err error) {
	quote := byte(0)
	tag, whole = s.buf[:0], true
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return nil, false, err
		}
		if b == '>' && quote == 0 {
			s.buf = tag
			return tag, whole, nil
		}
		switch {
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
		case b == quote:
			quote = 0
		}
		if whole = whole && len(tag) < 4<<10; whole {
			tag = append(tag, b)
		}
	}
}

// eachAttribute calls f with the local names and the values of a tag's attributes. It reports whether they are plain.
func eachAttribute(tag []byte, f func(name, value []byte)) bool {
	for rest := tag; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 {
			return true
		}
		name := bytes.TrimRight(rest[:i], " \t\r\n")
		name = name[bytes.LastIndexAny(name, " \t\r\n:")+1:]
		value := bytes.TrimLeft(rest[i+1:], " \t\r\n")
		if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			return false
		}
		end := bytes.IndexByte(value[1:], value[0])
		if end < 0 {
			return false
		}
		f(name, value[1:1+end])
		rest = value[end+2:]
	}
}

// plainNumber returns a number of decimal digits from 1, or -1.
func plainNumber(digits []byte) (n int) {
	for _, c := range digits {
		if c < '0' || c > '9' || n > math.MaxInt32/10 {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	if n == 0 {
		return -1
	}
	return n
}

// skipThrough reads until after the next end.
func (s *rowScan) skipThrough(end string) error {
	last := end[len(end)-1]
	for len(end) == 1 { // most calls
		if _, err := s.in.ReadSlice(last); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	matched := ""
	for {
		piece, err := s.in.ReadSlice(last)
		if tail := matched + string(piece[max(len(piece)-len(end), 0):]); strings.HasSuffix(tail, end) {
			return nil
		} else {
			matched = tail[max(len(tail)-len(end), 0):]
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// asciiCharset refuses encodings in which markup is not what its bytes say, and which checkRows could not look into.
func asciiCharset(fallback func(string, io.Reader) (io.Reader, error)) func(string, io.Reader) (io.Reader, error) {
	return func(label string, in io.Reader) (io.Reader, error) {
		for _, prefix := range []string{"utf-8", "utf8", "us-ascii", "ascii", "iso-8859", "latin", "windows-125", "koi8", "gb", "shift",
			"euc", "big5"} {
			if strings.HasPrefix(strings.ToLower(strings.TrimSpace(label)), prefix) {
				return fallback(label, in)
			}
		}
		return nil, fmt.Errorf("encoding %q", label)
	}
}
