package diff

import (
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

// tableDiff compares the rows of two tables by two hashes: of the key columns, and of all columns that both tables
// have. Rows that do not fit into memory together are compared in several passes, each over the rows of one class of
// key hashes, so that counts cover everything. A count is wrong only if two of 2^64 random hashes collide.
type tableDiff struct {
	ctx      context.Context
	sides    [2]Side
	dialects [2]Dialect
	o        Options
	seed     maphash.Seed
	t        *Table
	report   *Report
	shared   shared
	wanted   wanted
	aligned  bool // the key was found by align
}

// row is one row of a table; n is its number.
type row struct {
	key, all uint64
	n        int64
}

const rowBytes = 24

// wanted are the rows to list.
type wanted struct {
	added, removed []row
	changed        [][2]row // from, to
}

func (c *tableDiff) compareRows() error {
	if err := c.match(); err != nil {
		return err
	}
	again, err := c.align()
	if again {
		if err = c.match(); err == nil {
			_, err = c.align()
		}
	}
	if err != nil {
		return err
	}
	return c.list()
}

// match finds and counts the rows that differ.
func (c *tableDiff) match() error {
	passes := uint64(1 + (c.t.RowsFrom+c.t.RowsTo)*rowBytes/c.o.Memory)
	for pass := range passes {
		var lists [2][]row
		err := c.each(func(side int, n int64, key, all uint64, _ []string) error {
			if key%passes == pass {
				lists[side] = append(lists[side], row{key, all, n})
			}
			return nil
		})
		if err != nil {
			return err
		}
		for side := range lists {
			slices.SortFunc(lists[side], func(a, b row) int {
				return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.all, b.all), cmp.Compare(a.n, b.n))
			})
		}
		c.merge(lists[0], lists[1])
	}
	return nil
}

// hash returns the hash of the cells of a row, in the columns of both versions or in those named only.
func (c *tableDiff) hash(h *maphash.Hash, side int, fields []string, only []string) uint64 {
	h.Reset()
	for i := range c.t.pairs {
		p := &c.t.pairs[i]
		if only != nil && !slices.Contains(only, p.name) {
			continue
		}
		h.WriteString(p.cell(side, fields))
		h.WriteByte(0xff) // not in UTF-8
	}
	return h.Sum64()
}

func (p *columnPair) cell(side int, fields []string) string {
	at := p.from
	if side == 1 {
		at = p.to
	}
	if at < len(fields) {
		return fields[at]
	}
	return ""
}

// merge counts the differences between two sorted lists. Rows with the same key are matched: equal rows first, then the
// others in pairs, which changed. The rest was removed or added.
func (c *tableDiff) merge(a, b []row) {
	for len(a) > 0 || len(b) > 0 {
		var key uint64
		switch {
		case len(a) == 0:
			key = b[0].key
		case len(b) == 0:
			key = a[0].key
		default:
			key = min(a[0].key, b[0].key)
		}
		x, y := sameKey(a, key), sameKey(b, key)
		a, b = a[len(x):], b[len(y):]
		c.mergeKey(x, y)
	}
}

func sameKey(list []row, key uint64) []row {
	n := 0
	for n < len(list) && list[n].key == key {
		n++
	}
	return list[:n]
}

// mergeKey counts the differences between the rows of one key.
func (c *tableDiff) mergeKey(x, y []row) {
	if len(x) == 1 && len(y) == 1 && x[0].all == y[0].all { // nearly always
		return
	}
	var restX, restY []row
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || (len(x) > 0 && x[0].all < y[0].all):
			restX, x = append(restX, x[0]), x[1:]
		case len(x) == 0 || y[0].all < x[0].all:
			restY, y = append(restY, y[0]), y[1:]
		default:
			x, y = x[1:], y[1:]
		}
	}
	r, w := c.report, &c.wanted
	both := min(len(restX), len(restY))
	r.RowsChanged += int64(both)
	r.RowsRemoved += int64(len(restX) - both)
	r.RowsAdded += int64(len(restY) - both)
	for i := range both {
		w.changed = append(w.changed, [2]row{restX[i], restY[i]})
	}
	w.removed = append(w.removed, restX[both:]...)
	w.added = append(w.added, restY[both:]...)
	w.trim(c.o.Offset + c.o.List)
}

// trim drops entries of long lists. Those that remain are the first in the order of the file.
func (w *wanted) trim(keep int) {
	const slack = 8192
	if len(w.added) > keep+slack {
		w.added = firstRows(w.added, keep)
	}
	if len(w.removed) > keep+slack {
		w.removed = firstRows(w.removed, keep)
	}
	if len(w.changed) > keep+slack {
		w.changed = firstChanged(w.changed, keep)
	}
}

func firstRows(list []row, keep int) []row {
	slices.SortFunc(list, func(a, b row) int { return cmp.Compare(a.n, b.n) })
	return list[:min(len(list), keep)]
}

func firstChanged(list [][2]row, keep int) [][2]row {
	slices.SortFunc(list, func(a, b [2]row) int { return cmp.Compare(a[1].n, b[1].n) })
	return list[:min(len(list), keep)]
}

// list reads the wanted rows and adds them to the table's changes.
func (c *tableDiff) list() error {
	w := &c.wanted
	last := c.o.Offset + c.o.List
	w.added, w.removed, w.changed = from(firstRows(w.added, last), c.o.Offset), from(firstRows(w.removed, last), c.o.Offset),
		from(firstChanged(w.changed, last), c.o.Offset)
	var text [2]map[int64][]string
	for side := range text {
		text[side] = make(map[int64][]string)
	}
	for _, r := range w.removed {
		text[0][r.n] = nil
	}
	for _, r := range w.added {
		text[1][r.n] = nil
	}
	for _, r := range w.changed {
		text[0][r[0].n], text[1][r[1].n] = nil, nil
	}
	if left := len(text[0]) + len(text[1]); left > 0 {
		var size [2]int64 // of both sides
		err := c.each(func(side int, n int64, _, _ uint64, fields []string) error {
			if _, want := text[side][n]; want {
				left--
				for _, f := range fields {
					size[side] += int64(len(f)) + 16
				}
				if size[side] <= c.o.Memory/2 {
					text[side][n] = slices.Clone(fields)
				} else { // it is counted, and not listed
					delete(text[side], n)
				}
			}
			if left == 0 {
				return io.EOF
			}
			return nil
		})
		if ignoreEOF(err) != nil {
			return err
		}
	}
	held := func(side int, n int64) bool { _, ok := text[side][n]; return ok }
	for _, r := range w.removed {
		if !held(0, r.n) {
			continue
		}
		c.t.Rows = append(c.t.Rows, RowChange{Op: "removed", Row: r.n, Key: c.keyOf(0, text[0][r.n]), Cells: clip(text[0][r.n])})
	}
	for _, r := range w.added {
		if !held(1, r.n) {
			continue
		}
		c.t.Rows = append(c.t.Rows, RowChange{Op: "added", Row: r.n, Key: c.keyOf(1, text[1][r.n]), Cells: clip(text[1][r.n])})
	}
	for _, r := range w.changed {
		if !held(0, r[0].n) || !held(1, r[1].n) {
			continue
		}
		c.t.Rows = append(c.t.Rows, c.changed(r[1].n, text[0][r[0].n], text[1][r[1].n]))
	}
	return nil
}

// from returns what is left of a list without its first entries.
func from[T any](list []T, first int) []T { return list[min(first, len(list)):] }

func (c *tableDiff) changed(n int64, from, to []string) RowChange {
	change := RowChange{Op: "changed", Row: n, Key: c.keyOf(1, to), Cells: clip(to)}
	for i := range c.t.pairs {
		p := &c.t.pairs[i]
		if a, b := p.cell(0, from), p.cell(1, to); a != b {
			change.Diff = append(change.Diff, CellChange{p.name, clipText(a), clipText(b)})
		}
	}
	return change
}

func (c *tableDiff) keyOf(side int, fields []string) (key []string) {
	for _, name := range c.t.Key {
		for i := range c.t.pairs {
			if p := &c.t.pairs[i]; p.name == name {
				key = append(key, clipText(p.cell(side, fields)))
			}
		}
	}
	return key
}

// Limits of what is listed.
const (
	listedText  = 500
	listedCells = 200
)

func clipText(s string) string {
	if len(s) <= listedText {
		return s
	}
	return string([]rune(s[:listedText])[:listedText/4]) + "…"
}

// IsClipped reports whether a listed text is only the beginning of a cell.
func IsClipped(text string) bool { return strings.HasSuffix(text, "…") }

func clip(cells []string) []string {
	out := make([]string, 0, min(len(cells), listedCells))
	for _, s := range cells[:min(len(cells), listedCells)] {
		out = append(out, clipText(s))
	}
	return out
}
