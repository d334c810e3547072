package tables

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/csvprofile"
)

// Limits of a text document.
const (
	textNest  = 256     // elements within each other
	textCells = 2000000 // of all tables
)

// wordTables profiles the tables of a text document in Office Open XML (ECMA-376 part 1, 17.4). A table in a cell of
// another is a table of its own.
func wordTables(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	return textTables(ctx, in, o, "word/document.xml", func(s *textScan, t xml.StartElement) {
		switch t.Name.Local {
		case "tbl":
			s.open()
		case "tr":
			s.row(false)
		case "tblHeader":
			s.head()
		case "tc":
			s.cell(1, 1)
		case "gridSpan":
			s.spans(attr(t, "val"))
		case "vMerge":
			if v := attr(t, "val"); v == "" || v == "continue" {
				s.merge()
			}
		case "p", "br", "tab", "cr":
			s.write(" ")
		case "delText", "instrText": // removed text, and codes of fields
			s.mute = len(s.at)
		}
	}, map[string]bool{"tbl": true}, map[string]bool{"tc": true}, "t")
}

// openTables profiles the tables of a text document in OpenDocument (OpenDocument 1.3 part 3, clause 9).
func openTables(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	return textTables(ctx, in, o, "content.xml", func(s *textScan, t xml.StartElement) {
		switch t.Name.Local {
		case "table":
			s.open()
			s.top().caption.WriteString(attr(t, "name"))
		case "table-row":
			s.row(s.inside("table-header-rows"))
		case "table-cell":
			across, _ := strconv.Atoi(attr(t, "number-columns-spanned"))
			down, _ := strconv.Atoi(attr(t, "number-rows-spanned"))
			s.cell(max(1, min(across, 100)), max(1, min(down, 1000)))
		case "p", "h", "s", "tab", "line-break":
			s.write(" ")
		case "annotation", "note-body", "tracked-changes":
			s.mute = len(s.at)
		}
	}, map[string]bool{"table": true}, map[string]bool{"table-cell": true}, "")
}

// textScan is the state of reading a text document.
type textScan struct {
	dec    *xml.Decoder
	at     []string // local names of the open elements
	tables []*htmlTable
	cells  int
	memory *budget.Budget
	mute   int // depth of the element whose text does not count, 0 if there is none
}

func (s *textScan) top() *htmlTable {
	if len(s.tables) == 0 {
		return nil
	}
	return s.tables[len(s.tables)-1]
}

func (s *textScan) inside(local string) bool {
	for i := len(s.at) - 1; i >= 0 && s.at[i] != "table"; i-- {
		if s.at[i] == local {
			return true
		}
	}
	return false
}

func (s *textScan) open() { s.tables = append(s.tables, &htmlTable{memory: s.memory}) }

func (s *textScan) row(head bool) {
	if t := s.top(); t != nil {
		t.row()
		t.allHeads = head
	}
}

func (s *textScan) head() {
	if t := s.top(); t != nil {
		t.allHeads = true
	}
}

func (s *textScan) cell(across, down int) {
	if s.cells++; s.top() != nil && s.cells < textCells {
		s.top().cell(s.top().allHeads, across, down)
	}
}

// spans sets how many columns the open cell takes.
func (s *textScan) spans(n string) {
	if t, across := s.top(), 0; t != nil && t.inCell {
		if across, _ = strconv.Atoi(n); across > 1 {
			t.span = min(across, 100)
		}
	}
}

// merge continues the cell above.
func (s *textScan) merge() {
	if t := s.top(); t != nil && t.inCell {
		t.above = true
	}
}

func (s *textScan) write(text string) {
	if t := s.top(); t != nil && s.mute == 0 {
		t.write(text)
	}
}

// textTables profiles the tables of one part of a package. start handles elements; ends are the names of tables and of
// cells; only text in elements of a name counts, all if it is "".
func textTables(ctx context.Context, in Input, o Options, part string, start func(*textScan, xml.StartElement), table, cell map[string]bool,
	text string) ([]*csvprofile.Profile, error) {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	f, err := z.Open(part)
	if err != nil {
		return nil, fmt.Errorf("%w: it has no %s", ErrFormat, part)
	}
	defer f.Close()
	s := &textScan{dec: xml.NewDecoder(io.LimitReader(f, o.MaxUnpack)), memory: budget.New("the tables of a document", budget.Table)}
	s.dec.Strict = false
	s.dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var found []*csvprofile.Profile
	for n := 0; ; n++ {
		tok, err := s.dec.RawToken()
		if err == nil && n&4095 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			for len(s.tables) > 0 {
				found = keep(ctx, found, s.tables[len(s.tables)-1], o)
				s.tables = s.tables[:len(s.tables)-1]
			}
			if errors.Is(err, io.EOF) && len(s.at) == 0 {
				err = nil
			} else if ctx.Err() == nil {
				err = fmt.Errorf("%w: %v", ErrFormat, err)
			}
			return found, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(s.at) == textNest || len(s.tables) > 32 {
				return found, fmt.Errorf("%w: nested too deeply", ErrFormat)
			}
			s.at = append(s.at, t.Name.Local)
			start(s, t)
		case xml.CharData:
			if text == "" || len(s.at) > 0 && s.at[len(s.at)-1] == text {
				s.write(string(t))
			}
		case xml.EndElement:
			if len(s.at) == 0 {
				return found, fmt.Errorf("%w: an element ends that does not begin", ErrFormat)
			}
			if s.mute == len(s.at) {
				s.mute = 0
			}
			s.at = s.at[:len(s.at)-1]
			switch top := s.top(); {
			case top == nil:
			case table[t.Name.Local]:
				s.tables = s.tables[:len(s.tables)-1]
				found = keep(ctx, found, top, o)
			case cell[t.Name.Local]:
				top.end()
			}
		}
	}
}
