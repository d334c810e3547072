package sparql

import "odarchive/triplestore/sparql/internal/plan"

// PlanStep is an operator of a plan, as JSON. Rows and Milliseconds are measured, if QueryOptions.Explain was set;
// Milliseconds includes the inputs.
type PlanStep struct {
	Operator     string     `json:"operator"`
	Sorted       []string   `json:"sorted,omitempty"`
	Estimated    *float64   `json:"estimatedRows,omitempty"`
	Rows         *int64     `json:"rows,omitempty"`
	Milliseconds *float64   `json:"milliseconds,omitempty"`
	Inputs       []PlanStep `json:"inputs,omitempty"`
}

// Plan returns what Explain prints, for programs.
func (r *Results) Plan() PlanStep { return planStep(r.solutions.Lines()) }

func planStep(s plan.Line) PlanStep {
	out := PlanStep{Operator: s.Operator, Sorted: s.Sorted}
	if s.Rows >= 0 {
		out.Estimated = &s.Rows
	}
	if s.Measured != nil {
		took := float64(s.Measured.Nanos) / 1e6
		out.Rows, out.Milliseconds = &s.Measured.Rows, &took
	}
	for _, in := range s.Inputs {
		out.Inputs = append(out.Inputs, planStep(in))
	}
	return out
}
