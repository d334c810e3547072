package plan

import "math"

// Costs in nanoseconds on the machine of BENCHMARKS.md. Only their proportions matter.
const (
	costRow       = 3.0    // copy one row of columns
	costScan      = 8.0    // read one quad in order
	costSeek      = 2500.0 // jump to another place of an index
	costProbe     = 60.0   // move on within a range that is being read anyway
	costMerge     = 8.0    // advance a merge join by one row
	costHashBuild = 45.0
	costHashProbe = 30.0
	costSort      = 150.0
	costExpr      = 80.0
	costGroup     = 40.0
	costTerm      = 400.0 // fetch a term of the dictionary
	costLateral   = 20000.0
	costEdge      = 200.0 // read one repetition of a path into memory
	costHop       = 60.0  // find one more node of a path in memory
)

// bindBatch is how many rows a bind join sorts at a time if its input is not sorted by the key.
const bindBatch = 8192

// distinctOf returns the estimated number of distinct values of a slot, the square root of the rows if it is unknown.
func distinctOf(p *Props, slot int) float64 {
	if d, ok := p.Distinct[slot]; ok {
		return max(1, min(d, p.Rows))
	}
	return max(1, math.Sqrt(p.Rows))
}

// joinRows estimates the size of an equi-join. The first shared variable keeps one row in max(distinct left, distinct
// right); each further one counts less, since the variables depend on each other.
func joinRows(l, r *Props, shared []int) float64 {
	rows := l.Rows * r.Rows
	exponent := 1.0
	for _, s := range shared {
		d := max(distinctOf(l, s), distinctOf(r, s))
		rows /= math.Pow(d, exponent)
		exponent /= 2
	}
	return rows
}

// joinDistinct merges the distinct counts of a join's inputs.
func joinDistinct(l, r *Props, rows float64) map[int]float64 {
	m := make(map[int]float64, len(l.Distinct)+len(r.Distinct))
	for s, d := range l.Distinct {
		m[s] = min(d, rows)
	}
	for s, d := range r.Distinct {
		if o, ok := m[s]; ok {
			d = min(o, d)
		}
		m[s] = min(d, rows)
	}
	return m
}

// joinCols returns the columns of a join, and the slots that are bound in each of its rows.
func joinCols(l, r *Props) (cols []int, sure Set) {
	cols = append([]int(nil), l.Cols...)
	have := setOf(l.Cols...)
	for _, c := range r.Cols {
		if !have.Has(c) {
			cols = append(cols, c)
		}
	}
	return cols, l.Sure.Or(r.Sure)
}
