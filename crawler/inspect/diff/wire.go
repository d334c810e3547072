package diff

import (
	"encoding/json"
	"errors"
)

// A report travels between processes as JSON, with what the JSON for clients leaves out beside it.
type wire struct {
	Report *Report
	Tables []wireTable // of Report.Tables
}

type wireTable struct {
	Summary Summary
	Offset  int64
	Pairs   []wirePair
}

type wirePair struct {
	From, To int
	Name     string
}

// Wire returns the report for another process.
func (r *Report) Wire() ([]byte, error) {
	w := wire{Report: r}
	for _, t := range r.Tables() {
		one := wireTable{Summary: t.summary, Offset: t.offset}
		for _, p := range t.pairs {
			one.Pairs = append(one.Pairs, wirePair{p.from, p.to, p.name})
		}
		w.Tables = append(w.Tables, one)
	}
	return json.Marshal(w)
}

var errWire = errors.New("the report of a comparison does not fit together")

// ReadWire reads what Wire has written, perhaps by a process that cannot be trusted.
func ReadWire(b []byte) (*Report, error) {
	w := wire{}
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, err
	}
	if w.Report == nil {
		return nil, errWire
	}
	for _, t := range w.Report.More {
		if t == nil {
			return nil, errWire
		}
	}
	tables := w.Report.Tables()
	if len(tables) != len(w.Tables) {
		return nil, errWire
	}
	for i, t := range tables {
		t.summary, t.offset = w.Tables[i].Summary, w.Tables[i].Offset
		for _, p := range w.Tables[i].Pairs {
			if p.From < 0 || p.From >= len(t.From) || p.To < 0 || p.To >= len(t.To) {
				return nil, errWire
			}
			t.pairs = append(t.pairs, columnPair{p.From, p.To, p.Name})
		}
	}
	return w.Report, nil
}
