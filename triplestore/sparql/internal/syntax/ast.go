package syntax

import "odarchive/triplestore/term"

// Form of a query.
type Form byte

const (
	Select Form = iota
	Construct
	Ask
	Describe
)

// Query is a query, or a subquery (a Select that stands in a Group).
type Query struct {
	Form     Form
	Base     string            // in force at the end of the prologue
	Prefixes map[string]string // declared, without the colon
	Version  string            // VERSION "1.2", "" where not given

	Distinct, Reduced bool
	Star              bool       // SELECT *, DESCRIBE *
	Items             []Item     // SELECT, in order
	Template          []Triple   // CONSTRUCT; paths do not occur
	Describe          []Term     // DESCRIBE: IRIs and variables
	From, FromNamed   []string   // dataset clause
	Where             *Group     // nil for a DESCRIBE without a pattern
	GroupBy           []Item     // each an expression, perhaps with a name
	Having            []Expr     // conjunction
	OrderBy           []OrderKey // most significant first
	Limit             int64      // -1: none
	Offset            int64
	Values            *Values // the trailing VALUES
}

// Item is "?x", "(expr AS ?x)" or, in GROUP BY only, an expression without a name (Var "").
type Item struct {
	Var  string
	Expr Expr // nil for a plain variable
	At   int  // byte offset in the text
}

// OrderKey is one condition of ORDER BY.
type OrderKey struct {
	Expr Expr
	Desc bool
}

// Term is one position of a triple: a variable, an RDF term, or a triple term. Blank nodes are Keys whose labels are
// those of the text; made up ones ("[ ]", lists, reifiers) have labels that the text does not use.
type Term struct {
	Var    string
	Key    term.Key
	Triple *Triple
}

// Triple is a triple pattern; where Path is set it stands in P's place.
type Triple struct {
	S, P, O Term
	Path    Path
}

// Group is a group graph pattern: either a subquery or elements in order.
type Group struct {
	Sub      *Query
	Elements []Element
}

// Element is one part of a group (a closed set: the types below).
type Element interface{ element() }

type (
	// Triples is a run of triple patterns.
	Triples struct{ List []Triple }
	Filter  struct{ Cond Expr }
	Bind    struct {
		Expr Expr
		Var  string
	}
	Optional struct{ Group *Group }
	Minus    struct{ Group *Group }
	// Union holds one group (a plain nested group) or the alternatives.
	Union struct{ Groups []*Group }
	// GraphIs is GRAPH.
	GraphIs struct {
		Name  Term
		Group *Group
	}
	Service struct {
		Silent bool
		Name   Term
		Group  *Group
	}
	// Values is inline data; an empty Key is UNDEF.
	Values struct {
		Vars []string
		Rows [][]term.Key
	}
)

func (*Triples) element()  {}
func (*Filter) element()   {}
func (*Bind) element()     {}
func (*Optional) element() {}
func (*Minus) element()    {}
func (*Union) element()    {}
func (*GraphIs) element()  {}
func (*Service) element()  {}
func (*Values) element()   {}

// Expr is an expression (a closed set: the types below).
type Expr interface{ expr() }

type (
	VarExpr   struct{ Var string }
	ConstExpr struct{ Term term.Key }
	// Call is an operator ("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "!", "u-", "u+"), a
	// built-in by its name in upper case (IRI and ISIRI stand for URI and ISURI too), or a function named by its IRI.
	Call struct {
		Func     string
		Distinct bool // f(DISTINCT ...) of an IRI function
		Args     []Expr
	}
	// In is IN and NOT IN.
	In struct {
		Not  bool
		Expr Expr
		List []Expr
	}
	// Exists is EXISTS and NOT EXISTS.
	Exists struct {
		Not   bool
		Group *Group
	}
	// Aggregate is COUNT, SUM, MIN, MAX, AVG, SAMPLE or GROUP_CONCAT. Expr is nil for COUNT(*).
	Aggregate struct {
		Func      string
		Distinct  bool
		Expr      Expr
		Separator string // GROUP_CONCAT; " " unless given
	}
)

func (VarExpr) expr()    {}
func (ConstExpr) expr()  {}
func (*Call) expr()      {}
func (*In) expr()        {}
func (*Exists) expr()    {}
func (*Aggregate) expr() {}

// Path is a property path (a closed set: the types below).
type Path interface{ path() }

type (
	PathIRI     struct{ IRI string }
	PathInverse struct{ Path Path }
	PathSeq     struct{ L, R Path }
	PathAlt     struct{ L, R Path }
	// PathMod is a path with '*', '+' or '?'.
	PathMod struct {
		Path Path
		Mod  byte
	}
	// PathNot is a negated property set.
	PathNot struct{ Forward, Inverse []string }
)

func (PathIRI) path()      {}
func (*PathInverse) path() {}
func (*PathSeq) path()     {}
func (*PathAlt) path()     {}
func (*PathMod) path()     {}
func (*PathNot) path()     {}

// Update is an update request.
type Update struct {
	Ops      []Operation
	Base     string // in force at the end
	Prefixes map[string]string
	Version  string
}

// Operation is one operation of an update (a closed set: the types below).
type Operation interface{ operation() }

// Quad is a triple (pattern) in a graph; Graph zero means the default graph, or that of WITH.
type Quad struct {
	Triple
	Graph Term
}

// Target is what CLEAR, DROP, COPY, ... work on: exactly one field is set.
type Target struct {
	IRI                 string
	Default, Named, All bool
}

type (
	InsertData  struct{ Quads []Quad }
	DeleteData  struct{ Quads []Quad }
	DeleteWhere struct{ Quads []Quad }
	Modify      struct {
		With              string
		HasDelete         bool // DELETE { } and no DELETE differ in print only
		HasInsert         bool
		Delete, Insert    []Quad
		Using, UsingNamed []string
		Where             *Group
		Base              string // for IRI() in the pattern
	}
	Load struct {
		Source, Into string
		Silent       bool
	}
	Clear struct {
		Target Target
		Silent bool
		Drop   bool
	}
	Create struct {
		IRI    string
		Silent bool
	}
	// Transfer is ADD, COPY or MOVE.
	Transfer struct {
		Kind     string
		From, To Target
		Silent   bool
	}
)

func (*InsertData) operation()  {}
func (*DeleteData) operation()  {}
func (*DeleteWhere) operation() {}
func (*Modify) operation()      {}
func (*Load) operation()        {}
func (*Clear) operation()       {}
func (*Create) operation()      {}
func (*Transfer) operation()    {}
