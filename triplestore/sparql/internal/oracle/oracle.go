// Package oracle evaluates SPARQL algebra in the slow, obviously right way: operator by operator as in SPARQL 1.1 §18,
// with nested loops over solutions that are maps from variables to terms. It is for tests, which compare the query
// engine with it. It shares only the evaluation of expressions (package expr) with the engine. It does not evaluate
// SERVICE.
package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// Solution maps bound variables to terms.
type Solution map[algebra.Var]term.Key

// Oracle evaluates queries over a list of quads.
type Oracle struct {
	Quads []term.Quad

	ctx   *expr.Context
	rowNo uint64
	work  int
	err   error
	given Solution // what the LATERALs around the operator bind
}

// ErrTooMuch reports that a query would take too long.
var ErrTooMuch = errors.New("oracle: too much work")

// maxWork bounds the number of pairs of solutions that a query compares.
const maxWork = 30_000_000

// dataset is the active graph and the named graphs.
type dataset struct {
	active []term.Quad
	named  map[term.Key][]term.Quad
}

// Eval returns the solutions of the pattern of a query, in order. Those of a SELECT have only its variables.
func (o *Oracle) Eval(q *algebra.Query) ([]Solution, error) {
	o.ctx, o.err, o.work = &expr.Context{Now: time.Now(), Base: q.Base, BlankP: "oracle"}, nil, 0
	d := o.dataset(q)
	out := o.op(q.Pattern, d)
	return out, o.err
}

// dataset returns the dataset of a query (§13): that of FROM and FROM NAMED, or that of the store.
func (o *Oracle) dataset(q *algebra.Query) dataset {
	d := dataset{named: map[term.Key][]term.Quad{}}
	for _, t := range unique(o.Quads) {
		if q.From == nil && q.FromNamed == nil {
			if t.G == "" {
				d.active = append(d.active, t)
			} else {
				d.named[t.G] = append(d.named[t.G], t)
			}
			continue
		}
		if slices.Contains(q.From, t.G.Value()) && t.G != "" {
			d.active = append(d.active, term.Quad{S: t.S, P: t.P, O: t.O})
		}
		if slices.Contains(q.FromNamed, t.G.Value()) && t.G != "" {
			d.named[t.G] = append(d.named[t.G], t)
		}
	}
	d.active = unique(d.active)
	return d
}

func unique(quads []term.Quad) []term.Quad {
	seen := map[term.Quad]bool{}
	var out []term.Quad
	for _, q := range quads {
		if !seen[q] {
			seen[q] = true
			out = append(out, q)
		}
	}
	return out
}

// withGiven joins solutions with what LATERAL has bound.
func (o *Oracle) withGiven(list []Solution) []Solution {
	if len(o.given) == 0 {
		return list
	}
	return o.join([]Solution{o.given}, list)
}

// lateral joins each solution of the left side with those of the right side in which its values are bound.
func (o *Oracle) lateral(op algebra.Lateral, d dataset) []Solution {
	var out []Solution
	outer := o.given
	defer func() { o.given = outer }()
	for _, s := range o.op(op.L, d) {
		if !o.step(1) {
			return nil
		}
		o.given = merge(outer, s)
		out = append(out, o.join([]Solution{s}, o.op(op.R, d))...)
		o.given = outer
	}
	return out
}

// projected returns the part of s that has the variables vars.
func projected(s Solution, vars []algebra.Var) Solution {
	n := Solution{}
	for _, v := range vars {
		if k, ok := s[v]; ok {
			n[v] = k
		}
	}
	return n
}

func (o *Oracle) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// step counts n steps of work. It returns false after an error, such as too much work.
func (o *Oracle) step(n int) bool {
	if o.work += n; o.work > maxWork {
		o.fail(ErrTooMuch)
	}
	return o.err == nil
}

// op evaluates an operator over the active graph (§18.6).
func (o *Oracle) op(op algebra.Op, d dataset) []Solution {
	if o.err != nil {
		return nil
	}
	switch op := op.(type) {
	case algebra.BGP:
		out := []Solution{merge(o.given, nil)}
		for _, t := range op.Patterns {
			out = o.join(out, o.triple(t, d))
		}
		return out
	case algebra.PathPattern:
		return o.withGiven(o.path(op, d))
	case algebra.Lateral:
		return o.lateral(op, d)
	case algebra.Join:
		return o.join(o.op(op.L, d), o.op(op.R, d))
	case algebra.LeftJoin:
		return o.leftJoin(o.op(op.L, d), o.op(op.R, d), op.Cond, d)
	case algebra.Minus:
		return o.minus(o.op(op.L, d), o.op(op.R, d))
	case algebra.Union:
		return append(o.op(op.L, d), o.op(op.R, d)...)
	case algebra.Filter:
		var out []Solution
		for _, s := range o.op(op.In, d) {
			if o.holds(op.Cond, s, d) {
				out = append(out, s)
			}
		}
		return out
	case algebra.Graph:
		return o.graph(op, d)
	case algebra.Extend:
		var out []Solution
		for _, s := range o.op(op.In, d) {
			n := maps.Clone(s)
			if v := o.value(op.Expr, s, d); !v.IsErr() {
				if k, ok := s[op.Var]; ok && k != v.Key() { // bound by LATERAL
					continue
				}
				n[op.Var] = v.Key()
			}
			out = append(out, n)
		}
		return out
	case algebra.Group:
		return o.group(op, d)
	case algebra.OrderBy:
		return o.order(op, d)
	case algebra.Project:
		outer := o.given
		o.given = projected(outer, op.Vars)
		in := o.op(op.In, d)
		o.given = outer
		var out []Solution
		for _, s := range in {
			n := Solution{}
			for _, v := range op.Vars {
				if k, ok := s[v]; ok {
					n[v] = k
				}
			}
			out = append(out, n)
		}
		return out
	case algebra.Distinct:
		return distinct(o.op(op.In, d))
	case algebra.Reduced:
		return distinct(o.op(op.In, d))
	case algebra.Slice:
		out := o.op(op.In, d)
		out = out[min(int64(len(out)), op.Offset):]
		if op.Limit >= 0 {
			out = out[:min(int64(len(out)), op.Limit)]
		}
		return out
	case algebra.Values:
		var out []Solution
		for _, row := range op.Rows {
			s := Solution{}
			for i, k := range row {
				if k != "" {
					s[op.Vars[i]] = k
				}
			}
			out = append(out, s)
		}
		return o.withGiven(out)
	}
	o.fail(fmt.Errorf("oracle: operator %T", op))
	return nil
}

// join returns the merged solutions of all compatible pairs (§18.5).
func (o *Oracle) join(l, r []Solution) []Solution {
	if !o.step(len(l) * len(r)) {
		return nil
	}
	var out []Solution
	for _, a := range l {
		for _, b := range r {
			if compatible(a, b) {
				out = append(out, merge(a, b))
			}
		}
	}
	return out
}

func compatible(a, b Solution) bool {
	for v, k := range a {
		if other, ok := b[v]; ok && other != k {
			return false
		}
	}
	return true
}

func merge(a, b Solution) Solution {
	n := Solution{}
	maps.Copy(n, a)
	maps.Copy(n, b)
	return n
}

func (o *Oracle) leftJoin(l, r []Solution, cond algebra.Expr, d dataset) []Solution {
	if !o.step(len(l) * len(r)) {
		return nil
	}
	var out []Solution
	for _, a := range l {
		found := false
		for _, b := range r {
			if compatible(a, b) {
				if n := merge(a, b); cond == nil || o.holds(cond, n, d) {
					out, found = append(out, n), true
				}
			}
		}
		if !found {
			out = append(out, a)
		}
	}
	return out
}

func (o *Oracle) minus(l, r []Solution) []Solution {
	if !o.step(len(l) * len(r)) {
		return nil
	}
	var out []Solution
	for _, a := range l {
		if !slices.ContainsFunc(r, func(b Solution) bool { return compatible(a, b) && overlap(a, b) }) {
			out = append(out, a)
		}
	}
	return out
}

// overlap reports whether a and b share a variable.
func overlap(a, b Solution) bool {
	for v := range a {
		if _, ok := b[v]; ok {
			return true
		}
	}
	return false
}

func (o *Oracle) graph(op algebra.Graph, d dataset) []Solution {
	if op.Name.Var == "" {
		if _, ok := d.named[op.Name.Term]; !ok {
			return nil
		}
		return o.op(op.In, dataset{active: d.named[op.Name.Term], named: d.named})
	}
	var out []Solution
	outer := o.given
	defer func() { o.given = outer }()
	o.given = maps.Clone(outer)
	delete(o.given, op.Name.Var)
	for _, name := range slices.Sorted(maps.Keys(d.named)) {
		in := o.op(op.In, dataset{active: d.named[name], named: d.named})
		out = append(out, o.join(in, []Solution{{op.Name.Var: name}})...)
	}
	return out
}

func distinct(in []Solution) []Solution {
	var out []Solution
	seen := map[string]bool{}
	for _, s := range in {
		if k := text(s); !seen[k] {
			seen[k] = true
			out = append(out, s)
		}
	}
	return out
}

// text returns a solution as text that is the same for equal solutions.
func text(s Solution) string {
	out := ""
	for _, v := range slices.Sorted(maps.Keys(s)) {
		out += fmt.Sprintf("%s=%q ", v, string(s[v]))
	}
	return out
}

func (o *Oracle) order(op algebra.OrderBy, d dataset) []Solution {
	in := o.op(op.In, d)
	keys := map[int][]expr.Value{}
	idx := make([]int, len(in))
	for i, s := range in {
		idx[i] = i
		for _, k := range op.Keys {
			keys[i] = append(keys[i], o.value(k.Expr, s, d))
		}
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		for i, k := range op.Keys {
			c := expr.Order(keys[a][i], keys[b][i])
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	out := make([]Solution, len(in))
	for i, j := range idx {
		out[i] = in[j]
	}
	return out
}
