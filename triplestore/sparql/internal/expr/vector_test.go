package expr_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// vectorTerms are values at the edges of what a Vector covers, and values that it leaves to a Program.
func vectorTerms() []term.Key {
	var out []term.Key
	add := func(datatype string, list ...string) {
		for _, s := range list {
			out = append(out, term.Typed(s, "http://www.w3.org/2001/XMLSchema#"+datatype))
		}
	}
	add("integer", "0", "1", "-1", "7", "1024", "-1500", "576460752303423487", "-576460752303423488", "999999999999", "007",
		"99999999999999999999")
	add("decimal", "5.0", "0.5", "-0.25", "1.000001", "-7.9", "575999999999.5", "5", "0.0000001")
	add("dateTime", "2019-03-01T00:00:00Z", "2019-02-28T23:59:59.999Z", "2019-03-01T02:30:07+02:30", "0001-01-01T00:00:00-14:00",
		"0001-01-01T00:00:00+14:00",
		"4000-12-31T23:59:59", "2020-02-29T12:00:00.5", "12000-01-01T00:00:00Z")
	add("date", "2019-03-01", "2019-03-01Z", "2020-02-29-05:00", "0001-01-01+14:00")
	add("gYear", "2019")
	add("boolean", "true", "false")
	add("double", "1.5E0", "NaN")
	return append(out, term.String(""), term.String("a"), term.String("longer than seven bytes"), term.IRI("http://a"), term.Blank("b"),
		term.Key("@en\x00colour"), "")
}

// randomExpr returns an expression of functions that a Vector has, and now and then of one that it has not.
func randomExpr(r *rand.Rand, depth int, terms []term.Key) algebra.Expr {
	if depth == 0 || r.IntN(5) == 0 {
		if r.IntN(3) == 0 {
			if k := terms[r.IntN(len(terms)-1)]; k != "" {
				return algebra.ConstExpr{Term: k}
			}
		}
		return algebra.VarExpr{Var: algebra.Var("abc"[r.IntN(3):][:1])}
	}
	sub := func() algebra.Expr { return randomExpr(r, depth-1, terms) }
	one := []string{"!", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "ABS", "CEIL", "FLOOR", "ROUND", "u-", "STRLEN"}
	two := []string{"+", "-", "*", "/", "&&", "||", "=", "!=", "<", ">", "<=", ">="}
	switch r.IntN(8) {
	case 0:
		return algebra.Call{Func: "BOUND", Args: []algebra.Expr{algebra.VarExpr{Var: "a"}}}
	case 1:
		return algebra.Call{Func: "IF", Args: []algebra.Expr{sub(), sub(), sub()}}
	case 2:
		return algebra.Call{Func: "COALESCE", Args: []algebra.Expr{sub(), sub()}}
	case 3, 4:
		return algebra.Call{Func: one[r.IntN(len(one))], Args: []algebra.Expr{sub()}}
	}
	return algebra.Call{Func: two[r.IntN(len(two))], Args: []algebra.Expr{sub(), sub()}}
}

func TestAVectorAgreesWithTheProgram(t *testing.T) {
	t.Parallel()
	terms := vectorTerms()
	ids := map[term.Key]term.ID{"": 0}
	for i, k := range terms {
		if id, ok := term.Inline(k); ok {
			ids[k] = id
		} else if k != "" {
			tag := map[term.Kind]term.Tag{term.KindIRI: term.TagIRI, term.KindBlank: term.TagBlank}[k.Kind()]
			if tag == 0 {
				tag = term.TagLiteral
			}
			ids[k] = term.Make(tag, uint64(i)+1)
		}
	}
	slot := func(v algebra.Var) int { return int(v[0] - 'a') }
	intern := func(k term.Key) (term.ID, error) { return ids[k], nil }
	vectors, sure, values := 0, 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		e := randomExpr(r, 1+r.IntN(4), terms)
		v := expr.Vectorise(e, slot, intern)
		if v == nil {
			continue
		}
		vectors++
		prog, err := expr.Compile(e, slot, &expr.Context{})
		if err != nil {
			t.Fatal(err)
		}
		const n = 40
		env := expr.Env{Cols: make([][]term.ID, 3), Keys: make([][]term.Key, 3)}
		for c := range 3 {
			for range n {
				k := terms[r.IntN(len(terms))]
				env.Cols[c], env.Keys[c] = append(env.Cols[c], ids[k]), append(env.Keys[c], k)
			}
		}
		if r.IntN(10) == 0 {
			env.Cols[2] = nil
		}
		for i, id := range slices.Clone(v.Eval(env.Cols, n)) {
			env.Row = i
			want := prog.Eval(&env)
			keep, decided := expr.Truth(id)
			if decided && keep != want.IsTrue() {
				t.Fatalf("seed %d, row %d: %v: got %v, want %v", seed, i, e, keep, want.IsTrue())
			}
			if id == expr.Unsure {
				continue
			}
			sure++
			got, ok := expr.Computed(id)
			switch {
			case id == 0:
			case ok:
			case id.Inline():
				got, _ = expr.FromID(id)
			default:
				if want.ID() != id && ids[want.Key()] != id {
					t.Fatalf("seed %d, row %d: %v: got the id %x, want %v", seed, i, e, id, want.Key())
				}
				continue
			}
			if !got.IsErr() {
				values++
			}
			if got.Key() != want.Key() {
				t.Fatalf("seed %d, row %d: %v of %q %q %q: got %q, want %q", seed, i, e, env.Keys[0][i], env.Keys[1][i], env.Keys[2][i],
					got.Key(), want.Key())
			}
		}
	}
	if vectors < 1000 || sure < 20_000 || values < 5000 {
		t.Errorf("only %d vectors, %d decided rows, %d values", vectors, sure, values)
	}
}
