package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// plainlyPlaced is placed for positions that are no geometry literals: latitude and longitude of the W3C's vocabulary,
// and the properties of GeoRSS. Literals are made of them row by row, which no index serves. direct and linked are nil
// if the data has no such positions.
func (b *builder) plainlyPlaced(n algebra.Node, w algebra.Var, prefix string, links []string) (direct, linked algebra.Op, err error) {
	v := func(s string) algebra.Node { return algebra.Node{Var: algebra.Var("." + prefix + s)} }
	iri := func(s string) algebra.Node { return algebra.Node{Term: term.IRI(s)} }
	made := func(at algebra.Op, name string, args ...algebra.Node) algebra.Op {
		call := algebra.Call{Func: vocab.GeoFunctionNS + name}
		for _, a := range args {
			call.Args = append(call.Args, algebra.VarExpr{Var: a.Var})
		}
		return algebra.Extend{In: at, Var: w, Expr: call}
	}
	var ways []func(n algebra.Node) algebra.Op
	_, known, err := b.lookup(term.IRI(vocab.GeoLat))
	if err != nil {
		return nil, nil, err
	}
	if known {
		ways = append(ways, func(n algebra.Node) algebra.Op {
			lat, long := v("lat"), v("long")
			return made(algebra.BGP{
				Patterns: []algebra.TriplePattern{{S: n, P: iri(vocab.GeoLat), O: lat}, {S: n, P: iri(vocab.GeoLong), O: long}}},
				expr.MakePoint, lat, long)
		})
	}
	var properties [][]term.Key
	for _, p := range []string{vocab.GeoRSSPoint, vocab.GeoRSSLine, vocab.GeoRSSPolygon, vocab.GeoRSSBox} {
		_, known, err := b.lookup(term.IRI(p))
		if err != nil {
			return nil, nil, err
		}
		if known {
			properties = append(properties, []term.Key{term.IRI(p)})
		}
	}
	if len(properties) > 0 {
		ways = append(ways, func(n algebra.Node) algebra.Op {
			p, text := v("rss"), v("text")
			return made(algebra.Join{
				L: algebra.BGP{Patterns: []algebra.TriplePattern{{S: n, P: p, O: text}}},
				R: algebra.Values{Vars: []algebra.Var{p.Var}, Rows: properties},
			}, expr.MakeGeoRSS, p, text)
		})
	}
	if len(ways) == 0 {
		return nil, nil, nil
	}
	var over [][]term.Key
	for _, l := range append([]string{vocab.GeoLocation}, links...) {
		over = append(over, []term.Key{term.IRI(l)})
	}
	var own, others []algebra.Op
	for _, way := range ways {
		own = append(own, way(n))
		others = append(others, algebra.Join{
			L: algebra.Join{
				L: algebra.BGP{Patterns: []algebra.TriplePattern{{S: n, P: v("l"), O: v("g")}}},
				R: algebra.Values{Vars: []algebra.Var{v("l").Var}, Rows: over},
			},
			R: way(v("g")),
		})
	}
	return unionOf(own), unionOf(others), nil
}

// someOf returns those that are not nil.
func someOf(list ...algebra.Op) (some []algebra.Op) {
	for _, op := range list {
		if op != nil {
			some = append(some, op)
		}
	}
	return some
}
