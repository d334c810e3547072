package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// Sheet profiles the tables of a sheet and appends those that are worth it to found. The first has the sheet's name,
// the others also a number. whole reports whether the rows were read to
// the end of the sheet, or to the limit of tables.
func Sheet(ctx context.Context, sheet string, next func() ([]string, error), found []*csvprofile.Profile,
	o Options) (all []*csvprofile.Profile, whole bool, err error) {
	blocks := NewBlocks(next)
	for n := 1; len(found) < o.MaxTables && blocks.Next(); n++ {
		name := sheet
		if n > 1 {
			name = strings.TrimSpace(fmt.Sprintf("%s (%d)", sheet, n))
		}
		p, err := csvprofile.ReadRows(ctx, name, nil, blocks.Row, o.Reading(len(found)))
		if err != nil {
			return found, false, err
		}
		if Worthwhile(p) {
			found = append(found, p)
		}
		if p.Truncated {
			return found, false, nil
		}
	}
	return found, true, nil
}

// Blocks divides the rows of a sheet into tables that stand below one another. Most sheets have one, often with blank
// rows in it, so another begins only where everything says so: behind a blank row, with at most a few lines of title in
// front, a row of names, which are not those of the table above and stand in columns where that has numbers, and rows
// of other cells under them.
type Blocks struct {
	next  func() ([]string, error)
	ahead [][]string // rows that were read already
	err   error      // of next, after ahead

	begun, ended bool // the present table
	rows         int  // of the present table, with several cells
	head         []string
	columns      []blockColumn // the first maxBlockColumns
}

// blockColumn counts the cells of a column of the present table, without the first rows.
type blockColumn struct{ numbers, years, others int } // years are numbers, too

// Limits of the search.
const (
	maxBlockColumns = 100
	maxAhead        = 12 // rows that are read after a blank one
	minBlockRows    = 3  // rows of several cells of a table, with its names
)

// NewBlocks returns the blocks of the rows that next returns, io.EOF after the last. It does not keep a row.
func NewBlocks(next func() ([]string, error)) *Blocks { return &Blocks{next: next} }

// Next begins the next table and reports whether there is one. The first is there always.
func (b *Blocks) Next() bool {
	if b.begun && !b.ended {
		return false
	}
	next := NewBlocks(b.next)
	next.ahead, next.err, next.begun = b.ahead, b.err, true
	*b = *next
	return true
}

// Row returns the next row of the present table, io.EOF after the last.
func (b *Blocks) Row() ([]string, error) {
	if b.ended {
		return nil, io.EOF
	}
	row, err := b.pull()
	if err != nil {
		return nil, err
	}
	cells := 0
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			cells++
		}
	}
	switch {
	case cells == 0 && b.rows >= minBlockRows:
		if b.look(); b.startsTable(b.ahead) {
			b.ended = true
			return nil, io.EOF
		}
	case cells > 1:
		b.count(row)
	}
	return row, nil
}

// pull returns the next row.
func (b *Blocks) pull() ([]string, error) {
	if len(b.ahead) > 0 {
		row := b.ahead[0]
		b.ahead = b.ahead[1:]
		return row, nil
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.next()
}

// look reads rows ahead.
func (b *Blocks) look() {
	for len(b.ahead) < maxAhead && b.err == nil {
		row, err := b.next()
		if err != nil {
			b.err = err
			return
		}
		b.ahead = append(b.ahead, slices.Clone(row))
	}
}

// count adds a row to what is known of the present table.
func (b *Blocks) count(row []string) {
	if b.rows++; b.rows == 1 {
		b.head = slices.Clone(row[:min(len(row), maxBlockColumns)])
		return
	}
	for i, c := range row[:min(len(row), maxBlockColumns)] {
		if i >= len(b.columns) {
			b.columns = append(b.columns, blockColumn{})
		}
		switch c = strings.TrimSpace(c); {
		case isNumber(c):
			if b.columns[i].numbers++; isYear(c) {
				b.columns[i].years++
			}
		case c != "":
			b.columns[i].others++
		}
	}
}

// startsTable reports whether rows that follow a blank one begin another table.
func (b *Blocks) startsTable(rows [][]string) bool {
	titles := 0
	for len(rows) > 0 && filled(rows[0]) < 2 {
		if filled(rows[0]) == 1 {
			if titles++; titles > 3 {
				return false
			}
		}
		rows = rows[1:]
	}
	if len(rows) < minBlockRows || !b.isHead(rows[0]) {
		return false
	}
	return hasBody(rows[0], rows[1:])
}

// isHead reports whether a row has the names of the columns of another table.
func (b *Blocks) isHead(row []string) bool {
	seen := map[string]bool{}
	same, among, odd := 0, 0, 0 // names of the present table; columns of numbers above names, and those that a name does not fit
	for i, c := range row {
		if c = strings.TrimSpace(c); c == "" {
			continue
		}
		if isNumber(c) && !isYear(c) || len(c) > 100 || seen[c] {
			return false
		}
		seen[c] = true
		if i < len(b.head) && strings.TrimSpace(b.head[i]) == c {
			same++
		}
		if i < len(b.columns) {
			if n := b.columns[i]; n.numbers >= 2 && n.numbers >= 4*n.others {
				if among++; !isNumber(c) || 2*n.years < n.numbers {
					odd++
				}
			}
		}
	}
	return len(seen) >= 2 && same < len(seen) && odd > 0 && odd*2 >= among
}

// hasBody reports whether rows are those below names: several cells each, with numbers in a column that a name heads,
// and none without a name.
func hasBody(head []string, rows [][]string) bool {
	body, numbers := 0, 0
	for _, row := range rows {
		if filled(row) == 0 {
			break
		}
		if filled(row) < 2 {
			continue // a heading
		}
		body++
		for i, c := range row {
			if c = strings.TrimSpace(c); c == "" {
				continue
			}
			if i >= len(head) || strings.TrimSpace(head[i]) == "" && i > 0 {
				return false
			}
			if name := strings.TrimSpace(head[i]); isNumber(c) && (!isNumber(name) || !isYear(c)) {
				numbers++
			}
		}
	}
	return body >= minBlockRows-1 && numbers >= body
}

// filled returns the number of cells with a value.
func filled(row []string) (n int) {
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}

// isNumber reports whether a cell is a number, perhaps with grouped digits, a percent sign or a currency.
func isNumber(s string) bool {
	s = strings.Trim(s, "$€£%() ")
	if s == "" || len(s) > 30 || strings.ContainsAny(s, "xXpPnNiI_") {
		return false
	}
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// isYear reports whether a cell is a year of the last or next decades.
func isYear(s string) bool { return len(s) == 4 && s >= "1900" && s < "2100" && isNumber(s) }
