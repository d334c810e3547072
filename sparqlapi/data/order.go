package data

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// by is a column that rows are ordered by.
type by struct {
	at         int
	descending bool
}

// parseOrder parses the parameters order: columns, each with "-" before it or " desc" behind it for descending order.
// One parameter may name several columns with commas between them.
func parseOrder(parameters []string, columns []column) ([]by, error) {
	var list []by
	for _, text := range parameters {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if one, ok := parseBy(text, columns); ok {
			list = append(list, one)
			continue
		}
		for name := range strings.SplitSeq(text, ",") {
			one, ok := parseBy(name, columns)
			if !ok {
				return nil, unknownColumn(strings.TrimSpace(name), columns)
			}
			list = append(list, one)
		}
	}
	if len(list) > maxClauses {
		return nil, errors.New("order names too many columns")
	}
	return list, nil
}

func parseBy(text string, columns []column) (b by, ok bool) {
	text = strings.TrimSpace(text)
	for _, form := range []struct {
		name       string
		descending bool
		fits       bool
	}{
		{text, false, true},
		{strings.TrimPrefix(text, "-"), true, strings.HasPrefix(text, "-")},
		{cutFold(text, " desc"), true, hasFold(text, " desc")},
		{cutFold(text, " asc"), false, hasFold(text, " asc")},
	} {
		if i := indexOf(columns, form.name); form.fits && i >= 0 {
			return by{i, form.descending}, true
		}
	}
	return b, false
}

func hasFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

func cutFold(s, suffix string) string {
	if hasFold(s, suffix) {
		return strings.TrimSpace(s[:len(s)-len(suffix)])
	}
	return s
}

// row is a row of a table with its number, from 0.
type row struct {
	number int64
	cells  []string
	keys   []value // in the columns of the order
}

// Limits of the rows that wait until all have been read, because they are ordered.
const (
	maxSorted      = 100_000
	maxSortedBytes = 64 << 20
)

// errSorting is returned if the first rows of an order do not fit into the limits.
var errSorting = errors.New(
	"the rows up to the end of the page are too many, or too large, to order: add a condition, or ask for a smaller offset and limit")

// sorter keeps the first rows of an order.
type sorter struct {
	columns []column
	order   []by
	keep    int // rows
	rows    []row
	size    int     // bytes of their cells
	last    *row    // the last of the rows that a page needs, once there are as many; later ones are not kept
	keys    []value // of the row that is offered
}

// offer adds a row if a page may need it, and copies it then.
func (s *sorter) offer(number int64, cells [][]byte) error {
	s.keys = s.keys[:0]
	for _, b := range s.order {
		cell := ""
		if b.at < len(cells) {
			cell = textOf(cells[b.at])
		}
		s.keys = append(s.keys, s.columns[b.at].read(cell))
	}
	r := row{number: number, keys: s.keys}
	if s.last != nil && s.compare(r, *s.last) >= 0 {
		return nil
	}
	r.keys, r.cells = slices.Clone(s.keys), textsOf(cells, len(s.columns))
	s.rows = append(s.rows, r)
	s.size += r.bytes()
	if len(s.rows) >= 2*s.keep+1000 || s.size > maxSortedBytes {
		if s.trim(); s.size > maxSortedBytes*3/4 {
			return errSorting
		}
	}
	return nil
}

// rowBytes is the memory of a row beside its cells, roughly.
const rowBytes = 100

func (r *row) bytes() int {
	n := rowBytes + 64*len(r.keys)
	for _, c := range r.cells {
		n += len(c) + 16
	}
	return n
}

// trim sorts the rows and drops those that no page needs.
func (s *sorter) trim() {
	slices.SortFunc(s.rows, s.compare)
	clear(s.rows[min(s.keep, len(s.rows)):])
	if s.rows = s.rows[:min(s.keep, len(s.rows))]; len(s.rows) == s.keep && s.keep > 0 {
		last := row{number: s.rows[s.keep-1].number, keys: s.rows[s.keep-1].keys}
		s.last = &last
	}
	s.size = 0
	for i := range s.rows {
		s.size += s.rows[i].bytes()
	}
}

// compare orders rows. Those without a value come last, whatever the direction, and equal ones keep their order.
func (s *sorter) compare(a, b row) int {
	for i, o := range s.order {
		x, y := a.keys[i], b.keys[i]
		switch {
		case x.null && y.null:
			continue
		case x.null:
			return 1
		case y.null:
			return -1
		}
		if d := s.columns[o.at].compare(x, y); d != 0 {
			if o.descending {
				return -d
			}
			return d
		}
	}
	return cmp.Compare(a.number, b.number)
}
