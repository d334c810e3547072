package tables

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// maxRowCells is the maximum number of cells of a row of a sheet: the columns that a sheet can have (ECMA-376 part 1,
// 18.3.1.73), and some more for files that are not exact.
const maxRowCells = 20_000

// checkRows refuses workbooks with a row of more than maxRowCells cells, before a decoder reads them. excelize returns
// a row whole, and takes rows whose numbers do not rise for one: 70 kB of them took gigabytes, and the time of a visit
// could not end it. Which parts are sheets is for the decoder to say, so all are looked at.
func checkRows(ctx context.Context, z *zip.Reader, max int64) error {
	for _, f := range z.File {
		part, err := f.Open()
		if err != nil {
			continue // the decoder says so if it needs this part
		}
		s := rowScan{in: bufio.NewReaderSize(io.LimitReader(part, max), 64<<10)}
		err = s.run(ctx)
		part.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// rowScan counts the cells of rows as excelize joins them. It knows of XML only what is needed not to see rows where
// encoding/xml sees none: comments, CDATA, processing instructions.
type rowScan struct {
	in      *bufio.Reader
	row     int  // number of the row that began last
	highest int  // highest number of a row
	cells   int  // since a row with a higher number than all before began
	begun   bool // there was a row
	strange bool // there was markup that is not followed: no row counts as a new one from there on
}

func (s *rowScan) run(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.skipThrough("<"); err != nil {
			return nil // the end, or damage, which the decoder finds as well
		}
		if err := s.markup(); err != nil {
			if errors.Is(err, errWideRow) {
				return err
			}
			return nil
		}
	}
}

var errWideRow = fmt.Errorf("a row of more than %d cells", maxRowCells)

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
	}
	name := s.name(head)
	switch {
	case string(name) == "c" && s.begun:
		if s.cells++; s.cells > maxRowCells {
			return errWideRow
		}
	case string(name) == "row":
		number, err := s.rowNumber()
		if err != nil {
			return err
		}
		switch s.begun = true; {
		case number == 0:
			s.row++
		case number > 0:
			s.row = number
		}
		if s.row > s.highest && number >= 0 && !s.strange {
			s.highest, s.cells = s.row, 0
		}
	}
	return nil
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
	var tag []byte
	quote := byte(0)
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b == '>' && quote == 0 {
			break
		}
		switch {
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
		case b == quote:
			quote = 0
		}
		if len(tag) < 4<<10 {
			tag = append(tag, b)
		} else {
			number = -1 // its number may follow
		}
	}
	if number < 0 {
		return number, nil
	}
	seen := 0
	for rest := tag; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 {
			break
		}
		name := bytes.TrimRight(rest[:i], " \t\r\n")
		name = name[bytes.LastIndexAny(name, " \t\r\n:")+1:]
		value := bytes.TrimLeft(rest[i+1:], " \t\r\n")
		if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			return -1, nil
		}
		end := bytes.IndexByte(value[1:], value[0])
		if end < 0 {
			return -1, nil
		}
		if string(name) == "r" {
			seen++
			number = plainNumber(value[1 : 1+end])
		}
		rest = value[end+2:]
	}
	if seen > 1 {
		return -1, nil
	}
	return number, nil
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
