package index

import (
	"odarchive/triplestore/term"
)

// Rows hands out quads in batches, sorted in a layout; none at the end. term.Cursor is one.
type Rows interface {
	Next() ([]term.IDQuad, error)
}

// RowsOf hands out a slice.
func RowsOf(rows []term.IDQuad) Rows { return &sliceRows{rows} }

// Rows hands out a run's rows in a layout.
func (r *Run) Rows(l Layout) (Rows, error) { return &sliceRows{r.in(l).rows}, nil }

type sliceRows struct{ rows []term.IDQuad }

func (s *sliceRows) Next() ([]term.IDQuad, error) {
	rows := s.rows
	s.rows = nil
	return rows, nil
}
