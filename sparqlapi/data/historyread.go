package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
)

// pastState is what a version says of a row.
type pastState struct {
	state RowsState
	why   string
	row   int64
	rows  int64 // with the key, if there are several
	cells []Cell
	sum   [32]byte // of the whole cells
	size  int      // bytes of cells
}

// same reports whether two versions say the same.
func (s *pastState) same(t *pastState) bool {
	return s.state == t.state && s.why == t.why && s.sum == t.sum && s.rows == t.rows
}

// read looks for the row in a version. A table that cannot be read is a state; an error ends the history.
func (w *walker) read(ctx context.Context, v catalog.Version) (*pastState, error) {
	tables, _, err := w.archive.Tables(ctx, v)
	if err != nil {
		return nil, err
	}
	t, ok := w.find(tables)
	if !ok {
		return &pastState{state: NoTable, row: -1}, nil
	}
	m := matcher{keys: w.keys, state: &pastState{state: Absent, row: -1}}
	unique := false // no other row has the key
	for _, c := range t.Profile.Columns {
		m.columns = append(m.columns, newColumn(c))
	}
	for i := range w.keys {
		at := indexOf(m.columns, w.keys[i].name)
		if at < 0 {
			return &pastState{state: NoColumn, row: -1}, nil
		}
		unique = unique || t.Profile.Columns[at].Key
		m.at = append(m.at, at)
		m.values = append(m.values, w.keys[i].in(&m.columns[at]))
	}
	var number int64
	err = w.archive.EachRowFrom(ctx, v, t, inspect.Marks{}, func(cells [][]byte) error {
		if m.fits(cells) {
			if m.state.rows++; m.state.rows == 1 {
				m.state.state, m.state.row = Present, number
				m.state.keep(m.columns, cells, w.column)
			}
			if unique {
				return errEnough
			}
		}
		number++
		return nil
	})
	if m.state.rows == 1 {
		m.state.rows = 0
	}
	switch {
	case err == nil || errors.Is(err, errEnough):
		return m.state, nil
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return &pastState{state: Unreadable, why: err.Error(), row: -1}, nil
}

// find returns the table that corresponds to the one of the request: that of the same name, or the only one.
func (w *walker) find(tables []archive.Table) (archive.Table, bool) {
	name := nameOf(w.table)
	var found *archive.Table
	for i := range tables {
		if nameOf(tables[i]) == name && (found == nil || tables[i].Index == w.table.Index) {
			found = &tables[i]
		}
	}
	switch {
	case found != nil:
		return *found, true
	case len(tables) == 1 && w.single:
		return tables[0], true
	}
	return archive.Table{}, false
}

// keep sets the cells of the state: those of all columns, or of one.
func (s *pastState) keep(columns []column, cells [][]byte, only string) {
	sum := sha256.New()
	add := func(b []byte) {
		sum.Write(binary.AppendUvarint(nil, uint64(len(b))))
		sum.Write(b)
	}
	for i := range columns {
		if only != "" && columns[i].name != only {
			continue
		}
		var cell []byte
		if i < len(cells) {
			cell = cells[i]
		}
		add([]byte(columns[i].name))
		add(cell)
		if len(s.cells) == pastCells {
			continue
		}
		text := textOf(cell[:min(len(cell), pastText)])
		if len(cell) > pastText {
			text = strings.TrimRight(text, "\uFFFD") + "…"
		}
		s.cells = append(s.cells, Cell{columns[i].name, text})
		s.size += len(text) + len(columns[i].name) + 64
	}
	sum.Sum(s.sum[:0])
}

// matcher finds the rows that have the values of a key.
type matcher struct {
	keys    []pastKey
	columns []column
	at      []int     // columns of the keys
	values  [][]value // likewise: what their cells may be
	state   *pastState
}

func (m *matcher) fits(cells [][]byte) bool {
	for i, at := range m.at {
		var cell []byte
		if at < len(cells) {
			cell = cells[at]
		}
		if string(cell) != m.keys[i].text && !m.alike(i, string(cell)) {
			return false
		}
	}
	return true
}

// alike reports whether a cell has the value of key i, written in another way.
func (m *matcher) alike(i int, cell string) bool {
	col := &m.columns[m.at[i]]
	v := col.read(textOf([]byte(cell)))
	for _, want := range m.values[i] {
		if v.null != want.null {
			continue
		}
		if v.null || col.compare(v, want) == 0 {
			return true
		}
	}
	return false
}
