package tables

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// xlsx reads the sheets of an Office Open XML workbook, row by row.
func xlsx(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if err := in.Within(o.MaxBytes); err != nil {
		return nil, err
	}
	z, err := checkZip(in, o)
	if err != nil {
		return nil, err
	}
	if err := checkRows(ctx, z, o.MaxUnpack); err != nil {
		return nil, err
	}
	book, err := excelize.OpenReader(io.NewSectionReader(in.Body, 0, in.Size),
		excelize.Options{UnzipSizeLimit: o.MaxUnpack, UnzipXMLSizeLimit: min(16<<20, o.MaxUnpack), TmpDir: in.TempDir,
			ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss"})
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	defer book.Close()
	book.CharsetTranscoder(asciiCharset(book.CharsetReader))
	var found []*csvprofile.Profile
	for _, sheet := range book.GetSheetList() {
		if len(found) >= o.MaxTables {
			break
		}
		rows, err := book.Rows(sheet)
		if err != nil {
			continue // a chart sheet, or a broken one
		}
		found, _, err = source.Sheet(ctx, sheet, func() ([]string, error) {
			if !rows.Next() {
				if err := rows.Error(); err != nil {
					return nil, err
				}
				return nil, io.EOF
			}
			return rows.Columns()
		}, found, o)
		rows.Close()
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// maxParts is the maximum number of files in a workbook. The time of its decoder grows with their square, and cannot be
// cut short.
const maxParts = 25_000

// errLocked is the error of a document that is encrypted as a whole ([MS-OFFCRYPTO] 2.3.4).
var errLocked = errors.New("it is encrypted: reading it needs a password")

// checkZip refuses containers that unpack to more than the limits, before a decoder opens them.
func checkZip(in Input, o Options) (*zip.Reader, error) {
	head := make([]byte, 8)
	if n, _ := in.Body.ReadAt(head, 0); n == len(head) && string(head) == "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" { // an OLE file around it
		return nil, errLocked
	}
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if len(z.File) > maxParts {
		return nil, source.Limit(fmt.Sprintf("%d parts, at most %d are read", len(z.File), maxParts))
	}
	total := uint64(0)
	for _, f := range z.File {
		if total += f.UncompressedSize64; total > uint64(o.MaxUnpack) {
			return nil, source.Limit(fmt.Sprintf("unpacks to more than %d bytes", o.MaxUnpack))
		}
	}
	return z, nil
}

// ods reads the sheets of an OpenDocument spreadsheet from content.xml (OpenDocument 1.3 part 3, 9).
func ods(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	content, err := z.Open("content.xml")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	defer content.Close()
	dec := xml.NewDecoder(io.LimitReader(content, o.MaxUnpack))
	dec.Strict = false
	var found []*csvprofile.Profile
	repeats := budget.New("a sheet that repeats its cells", budget.Repeats)
	for len(found) < o.MaxTables {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, fmt.Errorf("%w: %v", ErrFormat, err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "table" || start.Name.Space != "table" {
			continue
		}
		sheet := &odsSheet{dec: dec, repeats: repeats}
		var whole bool
		if found, whole, err = source.Sheet(ctx, attr(start, "name"), sheet.next, found, o); err != nil || !whole {
			return found, err
		}
	}
	return found, nil
}

// odsSheet reads the rows of one sheet.
type odsSheet struct {
	dec    *xml.Decoder
	row    []string
	repeat int
	done   bool

	repeats *budget.Budget // cells that are repetitions, over all sheets; once it is spent, repeated ones are there once
}

// maxRepeat is the maximum number of copies of a repeated row or cell. More are only padding.
const maxRepeat = 1000

// next returns the next row, io.EOF after the last.
func (s *odsSheet) next() ([]string, error) {
	if s.repeat > 0 {
		s.repeat--
		return s.row, nil
	}
	for !s.done {
		tok, err := s.dec.RawToken()
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.EndElement:
			s.done = t.Name.Local == "table" && t.Name.Space == "table"
		case xml.StartElement:
			if t.Name.Local != "table-row" {
				continue
			}
			if s.row, err = s.cells(); err != nil {
				return nil, err
			}
			if n, _ := strconv.Atoi(attr(t, "number-rows-repeated")); n > 1 && len(s.row) > 0 {
				if n = min(n, maxRepeat) - 1; s.repeats.Spend(uint64(n), uint64(len(s.row))) == nil {
					s.repeat = n
				}
			}
			return s.row, nil
		}
	}
	return nil, io.EOF
}

// maxODSCells is the maximum number of cells of a row that are read: the columns that spreadsheet programs have.
const maxODSCells = 1 << 14

// cells reads one row to its end tag.
func (s *odsSheet) cells() ([]string, error) {
	var row []string
	var text strings.Builder
	var cell xml.StartElement
	depth, pending := 0, 0 // empty cells, written only before one with a value
	for {
		tok, err := s.dec.RawToken()
		if err != nil {
			return row, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "table-cell", "covered-table-cell":
				cell = t.Copy()
				text.Reset()
				depth = 1
			case "annotation":
				if err := skip(s.dec, "annotation"); err != nil {
					return row, err
				}
			case "p":
				if text.Len() > 0 {
					text.WriteByte('\n')
				}
			case "s":
				text.WriteByte(' ')
			}
		case xml.CharData:
			if depth > 0 && text.Len() < 1<<16 {
				text.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "table-row":
				return row, nil
			case "table-cell", "covered-table-cell":
				depth = 0
				n := 1
				if r, err := strconv.Atoi(attr(cell, "number-columns-repeated")); err == nil && r > 1 {
					if r = min(r, maxRepeat); s.repeats.Spend(uint64(r-1), 1) == nil {
						n = r
					}
				}
				v := odsValue(cell, strings.TrimSpace(text.String()))
				if v == "" {
					pending += n
					continue
				}
				for ; pending > 0 && len(row) < maxODSCells; pending-- {
					row = append(row, "")
				}
				pending = 0
				for ; n > 0 && len(row) < maxODSCells; n-- {
					row = append(row, v)
				}
			}
		}
	}
}

// odsValue returns the value of a typed cell, or the text of others.
func odsValue(cell xml.StartElement, text string) string {
	switch attr(cell, "value-type") {
	case "float", "percentage", "currency":
		if v := attr(cell, "value"); v != "" {
			return v
		}
	case "date":
		if v := strings.TrimSuffix(attr(cell, "date-value"), "T00:00:00"); v != "" {
			if strings.Contains(text, ":") && !strings.Contains(v, "T") { // midnight in a column of times
				v += "T00:00:00"
			}
			return v
		}
	case "boolean":
		if v := attr(cell, "boolean-value"); v != "" {
			return v
		}
	}
	return text
}

// attr returns an attribute by its local name.
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// skip reads to the end tag of an open element.
func skip(dec *xml.Decoder, local string) error {
	for depth := 1; depth > 0; {
		tok, err := dec.RawToken()
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if t.Name.Local == local {
				depth++
			}
		case xml.EndElement:
			if t.Name.Local == local {
				depth--
			}
		}
	}
	return nil
}
