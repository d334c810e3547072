package plan

import (
	"math"
	"time"
)

// Line is an operator of the printed plan, for programs.
type Line struct {
	Operator string   // what it does, as Explain prints it
	Sorted   []string // variables that its output ascends by, with "?"
	Rows     float64  // estimated; -1 if there is no estimate
	Measured *Measured
	Inputs   []Line
}

// Lines returns the plan as Explain prints it.
func (p *Plan) Lines(measured map[int]Measured) Line {
	var walk func(Node) Line
	walk = func(n Node) Line {
		pr := n.Info()
		s := Line{Operator: n.label(p), Rows: pr.Rows}
		if math.IsInf(pr.Rows, 0) || math.IsNaN(pr.Rows) {
			s.Rows = -1
		}
		for _, slot := range pr.Sorted {
			s.Sorted = append(s.Sorted, "?"+string(p.Vars[slot]))
		}
		if m, ok := measured[pr.Nr]; ok {
			s.Measured = &m
		}
		for _, in := range Inputs(n) {
			s.Inputs = append(s.Inputs, walk(in))
		}
		return s
	}
	return walk(p.Root)
}

// Cost returns the estimated time of a run on one processor.
func (p *Plan) Cost() time.Duration {
	cost := p.Root.Info().Cost
	if !(cost < float64(math.MaxInt64)) { // also NaN
		return math.MaxInt64
	}
	return time.Duration(cost)
}
