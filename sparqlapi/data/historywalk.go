package data

import (
	"context"
	"net/http"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/problem"
)

// walker goes from version to version.
type walker struct {
	archive Past
	table   archive.Table // as the request means it, in one version
	single  bool          // the only table of that version
	keys    []pastKey
	column  string
	answer  *History
	states  map[[32]byte]*pastState // by digest of the file
	bytes   int                     // of the cells of all states
	names   map[string]bool         // of columns
}

// walker returns a walker for the row that a request means.
func (h *Histories) walker(ctx context.Context, all []catalog.Version, r HistoryRequest) (*walker, error) {
	w := &walker{archive: h.archive, column: r.Column, states: map[[32]byte]*pastState{}, names: map[string]bool{}}
	v, err := h.model(ctx, all, r)
	if err != nil {
		return nil, err
	}
	tables, in, err := h.archive.Tables(ctx, v)
	if err != nil {
		return nil, err
	}
	if w.table, err = choose(v, tables, in, r.Table); err != nil {
		return nil, err
	}
	w.single = len(tables) == 1
	columns := make([]column, len(w.table.Profile.Columns))
	for i, c := range w.table.Profile.Columns {
		columns[i] = newColumn(c)
	}
	var key []Comparison
	if r.Where != "" {
		key, err = keyOfCondition(r.Where, columns)
	} else {
		key, err = h.keyOfRow(ctx, v, w.table, columns, r)
	}
	if err != nil {
		return nil, err
	}
	if r.Column != "" && indexOf(columns, r.Column) < 0 {
		return nil, problem.Wrap(http.StatusBadRequest, "Bad column", unknownColumn(r.Column, columns))
	}
	for _, c := range key {
		w.keys = append(w.keys, newPastKey(c, &columns[indexOf(columns, c.Column)]))
	}
	w.answer = &History{Table: nameOf(w.table), Where: Condition(key), Key: key, Column: r.Column, Columns: []string{}, Periods: []Period{}}
	return w, nil
}

// model returns the version whose tables a request means: the one that it names, or the newest that has tables.
func (h *Histories) model(ctx context.Context, all []catalog.Version, r HistoryRequest) (catalog.Version, error) {
	if r.Where == "" && r.Version == "" {
		return catalog.Version{},
			problem.New(http.StatusBadRequest, "No row given", "expected where with the values of a key, or version and row")
	}
	if r.Version != "" {
		v, err := h.archive.Version(ctx, r.Version)
		if err == nil {
			err = v.Available()
		}
		return v, err
	}
	for _, v := range slices.Backward(all) {
		if !v.IsData() {
			continue
		}
		tables, _, err := h.archive.Tables(ctx, v)
		if err != nil {
			return v, err
		}
		if len(tables) > 0 {
			return v, nil
		}
	}
	return catalog.Version{}, problem.New(http.StatusNotFound, "No table", "the profiler found no table in any version of this file")
}

// step reads version i and adds what it says of the row.
func (w *walker) step(ctx context.Context, all []catalog.Version, i int) error {
	s, err := w.stateOf(ctx, all, i)
	if err != nil {
		return err
	}
	v := all[i]
	moment := Moment{v.ID, v.N, v.At}
	w.answer.Versions++
	if n := len(w.answer.Periods); n > 0 {
		if last := &w.answer.Periods[n-1]; last.state.same(s) {
			last.First = moment
			last.Versions++
			return nil
		}
	}
	w.answer.Periods = append(w.answer.Periods,
		Period{State: s.state, First: moment, Last: moment, Versions: 1, Row: s.row, Rows: s.rows, Cells: s.cells, Why: s.why, state: s})
	for _, c := range s.cells {
		if !w.names[c.Column] {
			w.names[c.Column] = true
			w.answer.Columns = append(w.answer.Columns, c.Column)
		}
	}
	return nil
}

// stateOf returns what version i says of the row. It reads the version only if it differs from those that were read.
func (w *walker) stateOf(ctx context.Context, all []catalog.Version, i int) (*pastState, error) {
	v := all[i]
	switch {
	case v.Withdrawn != nil:
		return &pastState{state: Taken, row: -1}, nil
	case v.ErrorPage != "":
		return &pastState{state: NotData, row: -1}, nil
	}
	s := w.states[v.Digests.SHA256]
	if s == nil && i+1 < len(all) { // the same content, written differently
		if newer := w.states[all[i+1].Digests.SHA256]; newer != nil && newer.state.known() && all[i+1].IsData() &&
			all[i+1].Previous == v.ID {
			change, err := w.archive.Change(ctx, all[i+1].ID)
			if err != nil {
				return nil, err
			}
			if change != nil && change.Kind == diff.Tables && change.Same {
				s = newer
			}
		}
	}
	if s == nil {
		var err error
		if s, err = w.read(ctx, v); err != nil {
			return nil, err
		}
		w.bytes += s.size
	}
	w.states[v.Digests.SHA256] = s
	return s, nil
}

// finish compares each period with the one before that says something of the row.
func (w *walker) finish() {
	list := w.answer.Periods
	for i := range list {
		if !list[i].State.known() {
			continue
		}
		older := slices.IndexFunc(list[i+1:], func(p Period) bool { return p.State.known() })
		if older < 0 {
			continue
		}
		p := &list[i+1+older]
		switch {
		case list[i].State == p.State && list[i].State == Present:
			if list[i].Changes = changesOf(p.Cells, list[i].Cells); !list[i].state.same(p.state) {
				list[i].Change = "changed"
			}
		case list[i].State == Present:
			list[i].Change = "added"
		case p.State == Present:
			list[i].Change = "removed"
		}
	}
}

// changesOf returns the cells that differ.
func changesOf(from, to []Cell) (list []Cells) {
	was := make(map[string]*string, len(from))
	for i := range from {
		was[from[i].Column] = &from[i].Value
	}
	for i := range to {
		old, ok := was[to[i].Column]
		delete(was, to[i].Column)
		if !ok || *old != to[i].Value {
			list = append(list, Cells{to[i].Column, old, &to[i].Value})
		}
	}
	for i := range from {
		if old, ok := was[from[i].Column]; ok {
			list = append(list, Cells{from[i].Column, old, nil})
		}
	}
	return list
}
