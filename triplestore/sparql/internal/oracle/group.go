package oracle

import (
	"fmt"
	"maps"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// group evaluates Group and Aggregation (§18.5.1). Without keys there is one group, which may be empty.
func (o *Oracle) group(op algebra.Group, d dataset) []Solution {
	in := o.op(op.In, d)
	var order []string
	members := map[string][]Solution{}
	for _, s := range in {
		key := ""
		for _, v := range op.By {
			key += fmt.Sprintf("%q ", string(s[v]))
		}
		if _, ok := members[key]; !ok {
			order = append(order, key)
		}
		members[key] = append(members[key], s)
	}
	if len(op.By) == 0 && len(order) == 0 {
		order = []string{""}
	}
	var out []Solution
	for _, key := range order {
		n := Solution{}
		for _, v := range op.By {
			if k, ok := members[key][0][v]; ok {
				n[v] = k
			}
		}
		for _, a := range op.Aggs {
			if v := o.aggregate(a, members[key], d); !v.IsErr() {
				n[a.Var] = v.Key()
			}
		}
		out = append(out, n)
	}
	return out
}

func (o *Oracle) aggregate(a algebra.Aggregate, rows []Solution, d dataset) expr.Value {
	if a.Expr == nil {
		if a.Distinct {
			rows = distinct(named(rows))
		}
		return expr.NewInt(int64(len(rows)))
	}
	acc, ok := expr.NewAccumulator(a.Func, a.Separator, false)
	if !ok {
		o.fail(fmt.Errorf("oracle: aggregate %s", a.Func))
		return expr.Value{}
	}
	seen := map[term.Key]bool{}
	for _, s := range rows {
		v := o.value(a.Expr, s, d)
		if a.Distinct && !v.IsErr() {
			if seen[v.Key()] {
				continue
			}
			seen[v.Key()] = true
		}
		acc.Add(v)
	}
	return acc.Result()
}

// named returns the solutions without the variables that replace blank nodes and the steps of paths.
func named(rows []Solution) []Solution {
	out := make([]Solution, len(rows))
	for i, s := range rows {
		out[i] = maps.Clone(s)
		maps.DeleteFunc(out[i], func(v algebra.Var, _ term.Key) bool { return strings.HasPrefix(string(v), ".") })
	}
	return out
}
