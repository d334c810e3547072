package algebra

import "odarchive/triplestore/term"

// Form of a query.
type Form byte

const (
	Select Form = iota
	Construct
	Ask
	Describe
)

// Query is a whole query, translated.
type Query struct {
	Form      Form
	Vars      []Var           // SELECT: what is projected, in order
	Template  []TriplePattern // CONSTRUCT
	Describe  []Node          // DESCRIBE: terms and variables (of Pattern)
	Pattern   Op
	From      []string // FROM; nil with FromNamed nil: the store's own dataset
	FromNamed []string
	Base      string
	Prefixes  map[string]string
}

// UpdateOp is one operation of an update request (a closed set: the types below).
type UpdateOp interface{ update() }

// QuadPattern is a triple pattern in a graph; Graph zero means the default graph.
type QuadPattern struct {
	TriplePattern
	Graph Node
}

// GraphTarget names what CLEAR, DROP, COPY... work on. Exactly one field is set.
type GraphTarget struct {
	IRI                 string
	Default, Named, All bool
}

type (
	InsertData struct{ Quads []term.Quad } // blank nodes: "_" + label, fresh per request
	DeleteData struct{ Quads []term.Quad }
	Modify     struct { // DELETE/INSERT WHERE, DELETE WHERE
		With              string
		Delete, Insert    []QuadPattern
		Using, UsingNamed []string
		Where             Op
		Base              string // for IRI() in Where
	}
	Load struct {
		Source, Into string
		Silent       bool
	}
	Clear struct { // and DROP: a graph without triples does not exist here
		Target GraphTarget
		Silent bool
		Drop   bool
	}
	Create struct {
		IRI    string
		Silent bool
	}
	Transfer struct { // ADD, COPY, MOVE
		Kind     string // "ADD" "COPY" "MOVE"
		From, To GraphTarget
		Silent   bool
	}
)

func (InsertData) update() {}
func (DeleteData) update() {}
func (Modify) update()     {}
func (Load) update()       {}
func (Clear) update()      {}
func (Create) update()     {}
func (Transfer) update()   {}
