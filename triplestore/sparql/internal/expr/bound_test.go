package expr_test

import (
	"testing"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// FILTER(?c = <x:a> && BOUND(?c)) is planned with <x:a> in the place of ?c.
func TestAConstantIsBound(t *testing.T) {
	t.Parallel()
	e := algebra.Call{Func: "BOUND", Args: []algebra.Expr{algebra.ConstExpr{Term: term.IRI("x:a")}}}
	p, err := expr.Compile(e, func(algebra.Var) int { return -1 }, &expr.Context{})
	if err != nil || !p.Eval(&expr.Env{}).IsTrue() {
		t.Errorf("BOUND(<x:a>): %v", err)
	}
}
