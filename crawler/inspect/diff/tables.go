package diff

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// TableRows is a table of a file whose rows a function reads, for formats that are not delimited text.
type TableRows struct {
	Name    string   // of the table, with the member of the archive that contains it; "" if the file has only this one
	Columns []string // their names
	Rows    int64    // number of rows
	Schema  *Schema  // nil = read it
	Cut     bool     // Rows and Each end before the table does

	// Each calls f with the rows in their order, and ends when f returns an error. The cells are valid until f returns.
	Each func(ctx context.Context, f func(cells [][]byte) error) error
}

// Limits of the comparison of files with tables of such formats.
const (
	maxTables    = 200       // of each version
	maxTableRows = 4_000_000 // of all tables of both versions
)

// errEnough ends the reading of a table of which no more rows are wanted.
var errEnough = errors.New("no more rows are wanted")

// pulled returns the rows of a table one by one. Reading begins with the first call of next; stop ends it, and must be
// called.
func (t *TableRows) pulled(ctx context.Context) (next func() ([]string, error, bool), stop func()) {
	return iter.Pull2(func(yield func([]string, error) bool) {
		var fields []string
		err := t.Each(ctx, func(cells [][]byte) error {
			fields = fields[:0]
			for _, c := range cells[:min(len(cells), maxColumns)] {
				fields = append(fields, string(c))
			}
			if !yield(fields, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	})
}

// openTable returns the rows of a table as those of a text.
func openTable(ctx context.Context, table *TableRows) *rows {
	next, stop := table.pulled(ctx)
	return &rows{ctx: ctx, pull: next, stop: stop}
}

// compareSeveral compares the tables of two files: those of the same name, and what is left if that is one of each. The
// rows of a table that only one version has are added or removed.
func (r *Report) compareSeveral(ctx context.Context, from, to Side, o Options) error {
	if n := max(len(from.Tables), len(to.Tables)); n > maxTables {
		return fmt.Errorf("it has %d tables, and at most %d are compared", n, maxTables)
	}
	pairs, removed, added := pairTables(from.Tables, to.Tables)
	total := int64(0)
	for _, list := range [][]TableRows{from.Tables, to.Tables} {
		for _, t := range list {
			total += t.Rows
		}
	}
	if total > maxTableRows {
		return fmt.Errorf("its tables have %d rows in both versions, and at most %d are compared", total, maxTableRows)
	}
	if deadline, ok := ctx.Deadline(); ok { // bytes are compared in any case: the rest of the time is for the report
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	sum := Summary{Kind: Tables, Part: hasCut(from.Tables) || hasCut(to.Tables), SizeFrom: r.SizeFrom, SizeTo: r.SizeTo,
		BytesChanged: r.BytesChanged, Same: len(removed)+len(added) == 0}
	var all []*Table
	var wrongKey *KeyError
	keyed := false
	for _, pair := range pairs {
		one, options := &Report{Summary: Summary{Kind: Tables}}, o
		compare := func() error {
			*one = Report{Summary: Summary{Kind: Tables}}
			return one.compareTables(ctx, Side{table: &pair[0], Schema: pair[0].Schema}, Side{table: &pair[1], Schema: pair[1].Schema},
				options)
		}
		err := compare()
		if errors.As(err, &wrongKey) { // a key is for the tables that have its columns
			options.Key = nil
			err = compare()
		} else if err == nil {
			keyed = true
		}
		if err != nil {
			return fmt.Errorf("table %q: %w", pair[1].Name, err)
		}
		sum.add(&one.Summary)
		one.Table.Name, one.Table.summary = pair[1].Name, one.Summary
		if !one.Same {
			all = append(all, one.Table)
			o.List = max(0, o.List-len(one.Table.Rows))
		} else if r.Table == nil {
			r.Table = one.Table // shown if nothing has changed
		}
	}
	if wrongKey != nil && !keyed {
		return wrongKey
	}
	for _, t := range removed {
		r.TablesRemoved = append(r.TablesRemoved, t.Name)
		sum.RowsRemoved += t.Rows
	}
	for _, t := range added {
		r.TablesAdded = append(r.TablesAdded, t.Name)
		sum.RowsAdded += t.Rows
	}
	if len(all) > 0 {
		r.Table, r.More = all[0], all[1:]
	}
	if sum.Same && !(from.Whole && to.Whole) {
		return errSameTables
	}
	r.Summary = sum
	return nil
}

func hasCut(list []TableRows) bool {
	return slices.ContainsFunc(list, func(t TableRows) bool { return t.Cut })
}

// errSameTables is why files are compared as bytes whose tables are the same, if they may differ in something else.
var errSameTables = errors.New("the tables are the same, so that the difference is elsewhere")

// add adds the figures of a table's change.
func (s *Summary) add(t *Summary) {
	s.Same = s.Same && t.Same
	s.RowsAdded += t.RowsAdded
	s.RowsRemoved += t.RowsRemoved
	s.RowsChanged += t.RowsChanged
	s.ColumnsAdded += t.ColumnsAdded
	s.ColumnsRemoved += t.ColumnsRemoved
	s.ColumnsRenamed += t.ColumnsRenamed
	s.ColumnsRetyped += t.ColumnsRetyped
}

// Unlisted returns the number of rows of the table that changed and are neither in Rows nor left out by Options.Offset.
func (t *Table) Unlisted() int64 {
	left := -int64(len(t.Rows))
	for _, n := range []int64{t.summary.RowsAdded, t.summary.RowsRemoved, t.summary.RowsChanged} {
		left += max(0, n-t.offset)
	}
	return max(0, left)
}

// Longest returns the number of entries of the longest list of rows, if all were listed.
func (t *Table) Longest() int64 {
	return max(t.summary.RowsAdded, t.summary.RowsRemoved, t.summary.RowsChanged)
}

// pairTables pairs tables by their names, those with the same name in their order. If one of each remains, they are a
// pair, too.
func pairTables(from, to []TableRows) (pairs [][2]TableRows, removed, added []TableRows) {
	named := map[string][]int{} // of from
	for i, t := range from {
		key := strings.ToLower(t.Name)
		named[key] = append(named[key], i)
	}
	paired := make([]bool, len(from))
	for _, t := range to {
		key := strings.ToLower(t.Name)
		if list := named[key]; len(list) > 0 {
			pairs = append(pairs, [2]TableRows{from[list[0]], t})
			named[key], paired[list[0]] = list[1:], true
			continue
		}
		added = append(added, t)
	}
	for i, t := range from {
		if !paired[i] {
			removed = append(removed, t)
		}
	}
	if len(removed) == 1 && len(added) == 1 {
		pairs = append(pairs, [2]TableRows{removed[0], added[0]})
		removed, added = nil, nil
	}
	return pairs, removed, added
}
