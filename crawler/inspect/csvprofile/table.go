package csvprofile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/geometry"
)

// table collects the columns of a table row by row, wherever the rows come from. It is not safe for concurrent use.
type table struct {
	names   []string
	header  [][]string // the rows that names come from, if known
	cols    []*column
	rows    int64
	width   int // expected number of cells in a row
	ragged  int64
	pending [][]string // rows that may be the footer
	memory  int        // number of hashes that columns may still remember
	roles   roles
	records bool     // all rows are records: none is a note or a heading
	batch   [][]byte // cells of rows, each as wide as the columns, not yet added to them

	each  func([][]byte) error // Options.Each; nil to profile the rows
	begin Begin                // Options.Begin; nil once it has been called
	name  string               // for begin
	grows bool                 // rows may add names
	err   error                // of each or begin
}

// batchCells is the approximate number of cells that a batch collects, in at most runLen rows.
const batchCells = 4096

// maxPending is the maximum number of rows in a footer.
const maxPending = 32

// newTable returns a table with the given column names. Rows may add further columns.
func newTable(names []string) *table {
	t := &table{names: names, memory: maxUnique}
	t.widen(len(names))
	return t
}

// widen adds columns up to n.
func (t *table) widen(n int) {
	for len(t.cols) < n {
		c := newColumn(&t.memory)
		c.empty = t.rows
		t.cols = append(t.cols, c)
	}
}

// addRow adds one row, or holds it back while it may be part of the footer. It does not keep cells.
func (t *table) addRow(cells [][]byte) {
	width := len(t.cols)
	if !t.records && width > 2 && t.rows > 0 && len(t.pending) < maxPending && lone(cells) && (len(cells) < width || remark(cells[0])) {
		t.pending = append(t.pending, copyCells(cells))
		return
	}
	if len(t.pending) > 0 {
		t.flush()
	}
	t.addToColumns(cells)
}

// hold is addRow, but needs the cells until flushBatch. If the cells directly follow those of the batch in its memory,
// hold does not copy them.
func (t *table) hold(cells [][]byte) {
	if len(cells) != len(t.cols) || len(cells) != t.width || len(t.pending) > 0 || len(cells) > 2 && lone(cells) {
		t.flushBatch()
		t.addRow(cells)
		return
	}
	t.rows++
	if len(t.roles.heads) > 0 {
		t.roles.body(cells)
	}
	if !t.roles.full {
		t.roles.note(cells, t.rows)
	}
	limit := min(batchCells, runLen*len(cells))
	if t.batch == nil {
		t.batch = make([][]byte, 0, limit+len(cells))
	}
	if n := len(t.batch); n+len(cells) <= cap(t.batch) && &t.batch[:n+1][n] == &cells[0] {
		t.batch = t.batch[:n+len(cells)]
	} else {
		t.batch = append(t.batch, cells...)
	}
	if len(t.batch) >= limit {
		t.flushBatch()
	}
}

// flushBatch adds the rows of the batch to the columns.
func (t *table) flushBatch() {
	if n := len(t.batch); n > 0 {
		if t.roles.full { // of the rows behind the grid only the last one counts
			t.roles.note(t.batch[n-len(t.cols):], t.rows)
		}
		for i, c := range t.cols {
			c.addAll(run{t.batch[i:], len(t.cols)})
		}
	}
	t.batch = t.batch[:0]
}

// addToColumns adds one row to the columns.
func (t *table) addToColumns(cells [][]byte) {
	if t.width == 0 {
		t.width = max(len(t.names), len(cells))
	}
	if len(cells) != t.width {
		t.ragged++
	}
	if len(cells) != len(t.cols) {
		for len(cells) > len(t.cols) && len(cells[len(cells)-1]) == 0 {
			cells = cells[:len(cells)-1]
		}
		t.widen(len(cells))
	}
	t.rows++
	if t.each != nil {
		t.deliver(cells)
		return
	}
	switch {
	case t.records:
	case isSection(cells, t.width):
		t.roles.head(cells, t.rows)
	case lone(cells):
		t.roles.heads = t.roles.heads[:0] // a note
	default:
		t.roles.body(cells)
	}
	t.roles.note(cells, t.rows)
	for i, cell := range cells {
		t.cols[i].add(cell)
	}
	for _, c := range t.cols[len(cells):] {
		c.empty++
	}
}

// deliver passes one row to each. Of the columns, only those with values are noted, as finish needs them.
func (t *table) deliver(cells [][]byte) {
	if t.err != nil {
		return
	}
	for i, cell := range cells {
		if c := t.cols[i]; c.cells == 0 && len(trim(cell)) > 0 {
			c.cells = 1
		}
	}
	if begin := t.begin; begin != nil {
		t.begin = nil
		n := columnNamer{}
		columns := make([]string, len(t.names))
		for i := range columns {
			columns[i] = n.next(t.names)
		}
		if t.err = begin(t.name, columns, t.grows); t.err != nil {
			return
		}
	}
	t.err = t.each(cells)
}

// columnNamer names the columns of a table one after another.
type columnNamer struct {
	n    int
	seen map[string]int
}

// next returns the name of the next column. names are those that the table gives; columns without one get their number.
func (c *columnNamer) next(names []string) string {
	name := ""
	if c.n < len(names) {
		name = cut([]byte(strings.Join(strings.Fields(names[c.n]), " ")), maxName)
	}
	if c.n++; name == "" {
		name = unnamed(c.n)
	}
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[name]++
	if n := c.seen[name]; n > 1 {
		name = fmt.Sprintf("%s_%d", name, n)
		c.seen[name]++
	}
	return name
}

// unnamed returns the name of column n, from 1, if the table gives it none.
func unnamed(n int) string { return fmt.Sprintf("_col.%d", n) }

// HasColumns reports whether a table with these names of columns, as Begin gets them, can be the one that p describes.
func (p *Profile) HasColumns(names []string, more bool) bool {
	for i := range max(len(names), len(p.Columns)) {
		switch {
		case i >= len(p.Columns): // empty columns at the end are left out of a profile
			if names[i] != unnamed(i+1) {
				return false
			}
		case i >= len(names): // rows may have more cells than there are names
			if !more && p.Columns[i].Name != unnamed(i+1) {
				return false
			}
		case p.Columns[i].Name != names[i]:
			return false
		}
	}
	return true
}

// flush adds rows that looked like a footer but have rows after them.
func (t *table) flush() {
	pending := t.pending
	t.pending = nil
	for _, row := range pending {
		cells := make([][]byte, len(row))
		for i, s := range row {
			cells[i] = []byte(s)
		}
		t.addToColumns(cells)
	}
}

// lone reports whether only the first cell of a row, if it has any, may have a value.
func lone(cells [][]byte) bool {
	for _, c := range cells[min(1, len(cells)):] {
		if len(c) > 0 {
			return false
		}
	}
	return true
}

// remark reports whether a cell that is alone in a row of full width reads like a note below a table.
func remark(cell []byte) bool {
	cell = trim(cell)
	if len(cell) == 0 {
		return false
	}
	if cell[0] == '*' || bytes.HasPrefix(cell, []byte("\u00a9")) {
		return true
	}
	end := bytes.IndexAny(cell, ": ")
	if end < 2 {
		return false
	}
	switch word := strings.ToLower(string(cell[:end])); word {
	case "source", "sources", "note", "notes", "quelle", "quellen", "anmerkung", "anmerkungen", "hinweis", "hinweise", "fonte", "fuente",
		"fuentes", "nota", "notas", "bron":
		return cell[end] == ':'
	case "copyright", "footnote", "footnotes":
		return true
	}
	return false
}

func copyCells(cells [][]byte) []string {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = string(c)
	}
	return row
}

// finish sets the profile's rows and columns. It ends the table and releases its columns.
func (t *table) finish(p *Profile) {
	p.Dialect.Footer = len(t.pending)
	for _, row := range t.pending {
		p.note(row)
	}
	p.Rows, p.Ragged = t.rows, t.ragged
	namer := columnNamer{}
	for n := len(t.cols); n > 1 && t.cols[n-1].cells == 0 && (n > len(t.names) || strings.TrimSpace(t.names[n-1]) == ""); n-- {
		t.cols = t.cols[:n-1] // a delimiter at the end of every line makes no column
		p.Empty++
	}
	p.Columns = slices.Grow(p.Columns, len(t.cols))
	for i, c := range t.cols {
		name := namer.next(t.names)
		if t.each != nil {
			p.Columns = append(p.Columns, Column{Name: name})
			c.release()
			continue
		}
		col := c.finish(name, t.rows)
		if b, ok := c.st.places.extent(name); ok && col.Datatype == "string" {
			p.locate(b)
		}
		col.Titles = t.titles(i, name)
		p.Columns = append(p.Columns, col)
		c.release()
	}
	if t.each == nil {
		p.judge(&t.roles)
	}
	t.cols = nil
}

// locate adds a box to the extent.
func (p *Profile) locate(b geometry.Box) {
	if e := p.Extent; e != nil {
		b = b.Or(geometry.Box{MinX: e[0], MinY: e[1], MaxX: e[2], MaxY: e[3]})
	}
	p.Extent = &[4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY}
}

// maxName is the maximum length of a column's name, in characters.
const maxName = 200

// titles returns the cells of column i in the header rows, nil if its name says the same.
func (t *table) titles(i int, name string) []string {
	var out []string
	for _, row := range t.header {
		if i < len(row) {
			if s := strings.TrimSpace(row[i]); s != "" && len(s) <= extremeLen {
				out = append(out, s)
			}
		}
	}
	if len(out) == 1 && out[0] == name {
		return nil
	}
	return out
}
