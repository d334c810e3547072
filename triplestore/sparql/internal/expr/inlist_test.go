package expr_test

import (
	"testing"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"

	"pgregory.net/rapid"
)

// alike are terms of which some pairs are equal, some are not, and some cannot be compared.
func alike() (out []algebra.Expr) {
	const xsd = "http://www.w3.org/2001/XMLSchema#"
	for _, k := range []term.Key{
		term.IRI("http://a"), term.IRI("http://b"), term.Blank("a"), term.Blank("b"), term.String("a"), term.String("1"), term.String(""),
		term.String("http://a"),
		term.Lang("a", "en"), term.Lang("a", "de"), term.Lang("b", "en"), term.Lang("", "en"),
		term.Typed("1", xsd+"integer"), term.Typed("01", xsd+"integer"), term.Typed("1", xsd+"byte"), term.Typed("1.0", xsd+"decimal"),
		term.Typed("1", xsd+"double"), term.Typed("1", xsd+"float"),
		term.Typed("2", xsd+"integer"), term.Typed("NaN", xsd+"double"), term.Typed("true", xsd+"boolean"), term.Typed("1", xsd+"boolean"),
		term.Typed("false", xsd+"boolean"),
		term.Typed("16777217", xsd+"integer"), term.Typed("16777216", xsd+"float"), term.Typed("16777216", xsd+"integer"),
		term.Typed("2020-01-01T00:00:00", xsd+"dateTime"), term.Typed("2020-01-01T00:00:00Z", xsd+"dateTime"),
		term.Typed("2020-01-01T01:00:00+01:00", xsd+"dateTime"), term.Typed("2019-01-01T00:00:00Z", xsd+"dateTime"),
		term.Typed("2020-01-01", xsd+"date"), term.Typed("P1Y", xsd+"duration"), term.Typed("P12M", xsd+"yearMonthDuration"),
		term.Typed("x", xsd+"integer"), term.Typed("1", "http://unknown"), term.Typed("2", "http://unknown"),
		term.Typed("1", "http://other"),
		term.Triple(term.IRI("http://a"), term.IRI("http://a"), term.Typed("1", xsd+"integer")),
		term.Triple(term.IRI("http://a"), term.IRI("http://a"), term.Typed("1.0", xsd+"decimal")),
		term.Triple(term.IRI("http://a"), term.IRI("http://a"), term.Typed("1", "http://unknown")),
		"", // an error
	} {
		out = append(out, algebra.ConstExpr{Term: k})
	}
	return append(out, algebra.Call{Func: "+", Args: []algebra.Expr{out[12], out[18]}},
		algebra.Call{Func: "STR", Args: []algebra.Expr{out[0]}})
}

func value(t *rapid.T, e algebra.Expr) term.Key {
	p, err := expr.Compile(e, func(algebra.Var) int { return -1 }, &expr.Context{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Eval(&expr.Env{}).Key()
}

func TestInIsWhatItIsShortFor(t *testing.T) {
	t.Parallel()
	alike := alike()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(alike), 1, 12).Draw(t, "list")
		for _, x := range alike {
			any := algebra.Expr(algebra.Call{Func: "=", Args: []algebra.Expr{x, list[0]}})
			for _, a := range list[1:] {
				any = algebra.Call{Func: "||", Args: []algebra.Expr{any, algebra.Call{Func: "=", Args: []algebra.Expr{x, a}}}}
			}
			for _, not := range []bool{false, true} {
				want := any
				if not {
					want = algebra.Call{Func: "!", Args: []algebra.Expr{any}}
				}
				if got, want := value(t, algebra.In{Not: not, Expr: x, List: list}), value(t, want); got != want {
					t.Errorf("%q, not %v, in %q: got %q, want %q", x, not, list, got, want)
				}
			}
		}
	})
}
