package index

import (
	"odarchive/triplestore/term"
)

// Rows returns quads in batches, sorted in a layout, and an empty batch at the end. term.Cursor is a Rows.
type Rows interface {
	Next() ([]term.IDQuad, error)
}

// RowsOf returns the rows of a slice.
func RowsOf(rows []term.IDQuad) Rows { return &sliceRows{rows} }

// Rows returns the quads of the run in a layout.
func (r *Run) Rows(l Layout) (Rows, error) { return &sliceRows{r.in(l).rows}, nil }

type sliceRows struct{ rows []term.IDQuad }

func (s *sliceRows) Next() ([]term.IDQuad, error) {
	rows := s.rows
	s.rows = nil
	return rows, nil
}
