package algebra

import "odarchive/triplestore/term"

// Expr is one expression. The set is closed: the types below.
type Expr interface{ expr() }

type (
	// VarExpr is the value of a variable, ConstExpr a term.
	VarExpr   struct{ Var Var }
	ConstExpr struct{ Term term.Key }
	// Call is an operator, a built-in function or a cast. Func is the operator's sign ("=", "!=", "<", ">", "<=",
	// ">=", "+", "-", "*", "/", "!", "&&", "||", "u-", "u+"), the built-in's name in upper case ("REGEX", "STRDT",
	// "IF", "COALESCE", "BOUND", "SAMETERM", ...), or an IRI for casts and extension functions.
	Call struct {
		Func string
		Args []Expr
	}
	// In is IN or NOT IN.
	In struct {
		Not  bool
		Expr Expr
		List []Expr
	}
	// Exists is EXISTS or NOT EXISTS. The pattern is evaluated with the solution's bindings substituted in it (§18.6).
	Exists struct {
		Not bool
		In  Op
	}
)

func (VarExpr) expr()   {}
func (ConstExpr) expr() {}
func (Call) expr()      {}
func (In) expr()        {}
func (Exists) expr()    {}

// Path is a property path (§18.1.7).
type Path interface{ path() }

type (
	PathIRI     struct{ IRI string }
	PathInverse struct{ Path Path }
	PathSeq     struct{ L, R Path }
	PathAlt     struct{ L, R Path }
	PathMany    struct { // * (Min 0), + (Min 1), ? (Min 0, Once)
		Path Path
		Min  int
		Once bool
	}
	// PathNot is a negated property set.
	PathNot struct{ Forward, Inverse []string }
)

func (PathIRI) path()     {}
func (PathInverse) path() {}
func (PathSeq) path()     {}
func (PathAlt) path()     {}
func (PathMany) path()    {}
func (PathNot) path()     {}
