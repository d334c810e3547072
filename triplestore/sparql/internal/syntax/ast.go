package syntax

import "odarchive/triplestore/term"

// Form is the form of a query.
type Form byte

const (
	Select Form = iota
	Construct
	Ask
	Describe
)

// Query is a query, or a subquery, which is a Select in a Group.
type Query struct {
	Form     Form
	Base     string            // at the end of the prologue
	Prefixes map[string]string // namespaces by prefix, without the colon
	Version  string            // like "1.2"; "" without VERSION

	Distinct, Reduced bool
	Star              bool       // SELECT *, DESCRIBE *
	Items             []Item     // SELECT, in order
	Template          []Triple   // CONSTRUCT; paths do not occur
	Describe          []Term     // DESCRIBE: IRIs and variables
	From, FromNamed   []string   // dataset clause
	Where             *Group     // nil for a DESCRIBE without a pattern
	GroupBy           []Item     // expressions, with or without a name
	Having            []Expr     // all must be true
	OrderBy           []OrderKey // most significant first
	Limit             int64      // -1 for none
	Offset            int64
	Values            *Values // the trailing VALUES
}

// Item is "?x", "(expr AS ?x)" or, in GROUP BY only, an expression without a name (Var "").
type Item struct {
	Var  string
	Expr Expr // nil for a plain variable
	At   int  // byte offset in the text
}

// OrderKey is a condition of ORDER BY.
type OrderKey struct {
	Expr Expr
	Desc bool
}

// Term is a variable, an RDF term, or a triple term with variables or blank nodes. Blank nodes are Keys with their
// labels in the text. Those without labels ("[ ]", lists, reifiers) have labels that the text does not contain.
type Term struct {
	Var    string
	Key    term.Key
	Triple *Triple
}

// Triple is a triple pattern. If Path is set, it replaces P.
type Triple struct {
	S, P, O Term
	Path    Path
}

// Group is a group graph pattern: a subquery, or elements in order.
type Group struct {
	Sub      *Query
	Elements []Element
}

// Element is an element of a group, one of the types below.
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
	// Lateral joins each solution so far with those of a group in which its variables are bound. It is no SPARQL 1.1.
	Lateral struct{ Group *Group }
	// Union is a nested group, or several alternatives.
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
	// Values is inline data. An empty Key is UNDEF.
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
func (*Lateral) element()  {}
func (*Union) element()    {}
func (*GraphIs) element()  {}
func (*Service) element()  {}
func (*Values) element()   {}

// Expr is an expression, one of the types below.
type Expr interface{ expr() }

type (
	VarExpr   struct{ Var string }
	ConstExpr struct{ Term term.Key }
	// Call is the call of an operator ("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "!", "u-",
	// "u+"), of a built-in by its name in upper case (URI becomes IRI, ISURI becomes ISIRI), or of a function by its
	// IRI.
	Call struct {
		Func     string
		Distinct bool // f(DISTINCT ...), for functions by IRI
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
		Separator string // of GROUP_CONCAT; default " "
	}
)

func (VarExpr) expr()    {}
func (ConstExpr) expr()  {}
func (*Call) expr()      {}
func (*In) expr()        {}
func (*Exists) expr()    {}
func (*Aggregate) expr() {}

// Path is a property path, one of the types below.
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
	Base     string // at the end
	Prefixes map[string]string
	Version  string
}

// Operation is an operation of an update, one of the types below.
type Operation interface{ operation() }

// Quad is a triple or triple pattern in a graph. The zero Graph is the default graph, or that of WITH.
type Quad struct {
	Triple
	Graph Term
}

// Target is a graph or set of graphs that CLEAR, DROP, ADD, COPY or MOVE affects. Exactly one field is set.
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
		HasDelete         bool // also set for DELETE { }, for printing
		HasInsert         bool
		Delete, Insert    []Quad
		Using, UsingNamed []string
		Where             *Group
		Base              string // of IRI() in the pattern
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
