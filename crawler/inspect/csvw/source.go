package csvw

import (
	"bytes"
	"fmt"
	"strings"

	"odarchive/crawler/inspect/charset"
	"odarchive/crawler/inspect/csvprofile"
)

// source reads the rows of a table in a dialect (Model 8).
type source struct {
	rows     *csvprofile.Rows
	d        *Dialect
	titles   []string
	comments []string
	width    int
	ahead    []string // first row, already read for its width
	aheadAt  int
	current  []string // cells of the row
	at       int      // line of the row
}

func newSource(b []byte, d *Dialect) (*source, error) {
	r, err := charset.NewReader(bytes.NewReader(b), d.Encoding)
	if err != nil {
		return nil, fmt.Errorf("csvw: %w", err)
	}
	esc := ""
	if !d.DoubleQuote {
		esc = `\`
	}
	s := &source{d: d, rows: csvprofile.NewRows(r, csvprofile.Dialect{Delimiter: d.Delimiter, QuoteChar: d.QuoteChar, EscapeChar: esc, SkipInitialSpace: d.SkipInitialSpace})}
	for range d.SkipRows {
		if !s.rows.Next() {
			break
		}
		line := strings.Join(s.raw(), d.Delimiter)
		if line = strings.TrimSpace(strings.TrimPrefix(line, d.CommentPrefix)); line != "" {
			s.comments = append(s.comments, line)
		}
	}
	for range d.HeaderRowCount {
		if !s.row() {
			break
		}
		for i, t := range s.current {
			if i >= len(s.titles) {
				s.titles = append(s.titles, strings.TrimSpace(t))
			}
		}
	}
	if s.row() {
		s.ahead, s.aheadAt, s.width = s.current, s.at, len(s.current)
	}
	return s, nil
}

func (s *source) raw() []string {
	cells := s.rows.Cells()
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = string(c)
	}
	return out
}

// row reads the next row, skipping comments and, if the dialect says so, blank rows.
func (s *source) row() bool {
	for s.rows.Next() {
		cells := s.raw()
		if p := s.d.CommentPrefix; p != "" && strings.HasPrefix(cells[0], p) {
			if text := strings.TrimSpace(strings.TrimPrefix(strings.Join(cells, s.d.Delimiter), p)); text != "" && len(s.comments) < 1000 {
				s.comments = append(s.comments, text)
			}
			continue
		}
		for i := range cells {
			switch s.d.Trim {
			case "true":
				cells[i] = strings.TrimSpace(cells[i])
			case "start":
				cells[i] = strings.TrimLeft(cells[i], " \t\r\n")
			case "end":
				cells[i] = strings.TrimRight(cells[i], " \t\r\n")
			}
		}
		if s.d.SkipBlankRows && strings.Join(cells, "") == "" {
			continue
		}
		s.current, s.at = cells[min(s.d.SkipColumns, len(cells)):], s.rows.Line()
		return true
	}
	return false
}

// next reads the next row of data.
func (s *source) next() bool {
	if s.ahead != nil {
		s.current, s.at, s.ahead = s.ahead, s.aheadAt, nil
		return true
	}
	return s.row()
}

func (s *source) err() error {
	if err := s.rows.Err(); err != nil {
		return fmt.Errorf("csvw: read: %w", err)
	}
	return nil
}
