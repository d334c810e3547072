// Package algebra holds the SPARQL 1.1 algebra (spec section 18) as Go types, the translation from the syntax
// tree into it, and its printed form (S-expressions as Jena's SSE).
//
// It knows no store and no statistics: rewrites that need them belong to package plan.
package algebra

import "odarchive/triplestore/term"

// Var is a variable's name without '?'. Names that begin with '.' are made up by the translation (blank nodes
// of a query, aggregates) and never leave the engine; blank node labels become variables ".b" + label.
type Var string

// Node is one position of a pattern: a variable (Var != "") or a term. A triple term holding variables is in Triple.
type Node struct {
	Var    Var
	Term   term.Key
	Triple *TriplePattern
}

// TriplePattern is three nodes.
type TriplePattern struct{ S, P, O Node }

// Op is one operator of the algebra (a closed set: the types below).
type Op interface{ op() }

type (
	// BGP is a basic graph pattern; empty, it is the unit (one empty solution).
	BGP struct{ Patterns []TriplePattern }
	// PathPattern is a property path that is more than one IRI.
	PathPattern struct {
		S    Node
		Path Path
		O    Node
	}
	Join     struct{ L, R Op }
	LeftJoin struct {
		L, R Op
		Cond Expr // nil: true
	}
	Minus  struct{ L, R Op }
	Union  struct{ L, R Op }
	Filter struct {
		In   Op
		Cond Expr
	}
	// Graph evaluates In with the active graph set to Name (a named graph, or each of them for a variable).
	Graph struct {
		Name Node
		In   Op
	}
	// Extend is BIND, and AS in SELECT and GROUP BY. An error in Expr leaves Var unbound.
	Extend struct {
		In   Op
		Var  Var
		Expr Expr
	}
	// Group partitions In by the values of By; each aggregate's value is bound to its Var.
	// No By: one group, even of nothing.
	Group struct {
		In   Op
		By   []Var
		Aggs []Aggregate
	}
	OrderBy struct {
		In   Op
		Keys []OrderKey
	}
	Project struct {
		In   Op
		Vars []Var
	}
	Distinct struct{ In Op }
	Reduced  struct{ In Op }
	// Slice is OFFSET and LIMIT; Limit -1 means none.
	Slice struct {
		In            Op
		Offset, Limit int64
	}
	// Values is inline data; an empty Key is UNDEF.
	Values struct {
		Vars []Var
		Rows [][]term.Key
	}
	// Service asks another endpoint. Text is the group graph pattern as it will be sent, with absolute IRIs.
	Service struct {
		Name   Node
		Silent bool
		In     Op
		Text   string
	}
)

// Aggregate is one set function. Expr is nil for COUNT(*).
type Aggregate struct {
	Var       Var
	Func      string // COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT
	Distinct  bool
	Expr      Expr
	Separator string
}

// OrderKey is one ORDER BY condition.
type OrderKey struct {
	Expr Expr
	Desc bool
}

func (BGP) op()         {}
func (PathPattern) op() {}
func (Join) op()        {}
func (LeftJoin) op()    {}
func (Minus) op()       {}
func (Union) op()       {}
func (Filter) op()      {}
func (Graph) op()       {}
func (Extend) op()      {}
func (Group) op()       {}
func (OrderBy) op()     {}
func (Project) op()     {}
func (Distinct) op()    {}
func (Reduced) op()     {}
func (Slice) op()       {}
func (Values) op()      {}
func (Service) op()     {}
