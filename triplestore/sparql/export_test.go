package sparql

import (
	"odarchive/triplestore/term"
)

// Changed returns a dataset as a later operation of an update reads it: ds with quads inserted, then others removed.
func Changed(ds term.Dataset, insert, remove []term.Quad) (term.Dataset, error) {
	o := newOverlay(ds)
	for _, q := range insert {
		if err := o.insert(q); err != nil {
			return nil, err
		}
	}
	for _, q := range remove {
		if err := o.remove(q); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Occupy takes bytes of the memory of all queries, and Held returns how many are taken.
func (e *Engine) Occupy(n int64) bool { return e.pool.Reserve(n) }
func (e *Engine) Held() int64         { return e.pool.Used() }
