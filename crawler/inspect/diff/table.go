package diff

import (
	"context"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

// Table is the change of a table.
type Table struct {
	From     []Column     `json:"from"`
	To       []Column     `json:"to"`
	Added    []Column     `json:"columnsAdded"`
	Removed  []Column     `json:"columnsRemoved"`
	Renamed  []Renamed    `json:"columnsRenamed"`
	Retyped  []Retyped    `json:"columnsRetyped"`
	RowsFrom int64        `json:"rowsFrom"`
	RowsTo   int64        `json:"rowsTo"`
	Key      []string     `json:"key"`            // columns that identify a row, by their new names; empty if rows are compared whole
	KeyFound bool         `json:"keyFound"`       // Key was found, not given
	Rows     []RowChange  `json:"rows"`           // some of them, in file order
	Name     string       `json:"name,omitempty"` // of one of several tables
	summary  Summary      // of one of several tables
	offset   int64        // Options.Offset
	pairs    []columnPair // columns of both versions
}

// RowChange is one row that differs.
type RowChange struct {
	Op    string       `json:"op"`  // "added", "removed" or "changed"
	Row   int64        `json:"row"` // from 1, in the new version, or in the old one if removed
	Key   []string     `json:"key,omitempty"`
	Cells []string     `json:"cells,omitempty"` // as the row is in the new version, or was in the old one if it was removed
	Diff  []CellChange `json:"diff,omitempty"`  // of a changed row, in the columns of both versions
}

// CellChange is one value that differs.
type CellChange struct {
	Column string `json:"column"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// columnPair is the place of a column in both versions.
type columnPair struct {
	from, to int
	name     string
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func (r *Report) compareTables(ctx context.Context, from, to Side, o Options) error {
	before := *r
	c := &tableDiff{ctx: ctx, sides: [2]Side{from, to}, o: o, seed: maphash.MakeSeed()}
	schemas, err := c.schemas()
	if err != nil {
		return err
	}
	t := &Table{From: schemas[0].list(), To: schemas[1].list(), RowsFrom: schemas[0].rows, RowsTo: schemas[1].rows, offset: int64(o.Offset)}
	t.pair(schemas[0], schemas[1])
	if err := t.chooseKey(schemas[0], schemas[1], o.Key); err != nil {
		return err
	}
	r.Table, c.t, c.report = t, t, r
	if err := c.skipCommon(); err != nil {
		return err
	}
	r.ColumnsAdded, r.ColumnsRemoved = int64(len(t.Added)), int64(len(t.Removed))
	r.ColumnsRenamed, r.ColumnsRetyped = int64(len(t.Renamed)), int64(len(t.Retyped))
	if err := c.compareRows(); err != nil {
		return err
	}
	if t.RowsTo-t.RowsFrom != r.RowsAdded-r.RowsRemoved { // the given schemas count other rows
		*r, from.Schema, to.Schema = before, nil, nil
		return r.compareTables(ctx, from, to, o)
	}
	t.summary = r.Summary
	r.Same = r.ColumnsAdded+r.ColumnsRemoved+r.ColumnsRenamed+r.ColumnsRetyped+r.RowsAdded+r.RowsRemoved+r.RowsChanged == 0
	return nil
}

// pair matches the columns of both versions: by name, then, the others, by their values.
func (t *Table) pair(a, b *schema) {
	left := make(map[string]int)
	for i, c := range a.columns {
		left[c.name] = i
	}
	var fresh []int
	for k, c := range b.columns {
		i, ok := left[c.name]
		if !ok {
			fresh = append(fresh, k)
			continue
		}
		delete(left, c.name)
		t.pairs = append(t.pairs, columnPair{i, k, c.name})
	}
	gone := make([]int, 0, len(left))
	for _, i := range left {
		gone = append(gone, i)
	}
	slices.Sort(gone)
	for _, k := range fresh {
		best, at := 0.5, -1
		for n, i := range gone {
			score := alike(a.columns[i], b.columns[k])
			if i == k { // the same place counts a little
				score += 0.1
			}
			if score > best {
				best, at = score, n
			}
		}
		if at < 0 {
			t.Added = append(t.Added, Column{b.columns[k].name, b.columns[k].types.String()})
			continue
		}
		i := gone[at]
		gone = slices.Delete(gone, at, at+1)
		t.Renamed = append(t.Renamed, Renamed{a.columns[i].name, b.columns[k].name})
		t.pairs = append(t.pairs, columnPair{i, k, b.columns[k].name})
	}
	for _, i := range gone {
		t.Removed = append(t.Removed, Column{a.columns[i].name, a.columns[i].types.String()})
	}
	for _, p := range t.pairs {
		x, y := a.columns[p.from].types, b.columns[p.to].types
		if x != 0 && y != 0 && x.String() != y.String() {
			t.Retyped = append(t.Retyped, Retyped{p.name, x.String(), y.String()})
		}
	}
	slices.SortFunc(t.pairs, func(x, y columnPair) int { return x.to - y.to })
}

// chooseKey sets the given key, or the best column whose values are unique in both versions and partly the same.
func (t *Table) chooseKey(a, b *schema, given []string) error {
	if len(given) > 0 {
		for _, name := range given {
			if !slices.ContainsFunc(t.pairs, func(p columnPair) bool { return p.name == name }) {
				wrong := &KeyError{Column: name}
				for _, p := range t.pairs {
					wrong.Columns = append(wrong.Columns, p.name)
				}
				return wrong
			}
		}
		t.Key = given
		return nil
	}
	best := 0.0
	for n, p := range t.pairs {
		x, y := a.columns[p.from], b.columns[p.to]
		if !x.unique || !y.unique {
			continue
		}
		score := alike(x, y)
		if name := strings.ToLower(p.name); name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "nr") ||
			name == "key" || name == "code" {
			score += 0.2
		}
		if score -= 0.01 * float64(n); score > best+0.05 && alike(x, y) > 0.05 {
			best, t.Key, t.KeyFound = score, []string{p.name}, true
		}
	}
	return nil
}
