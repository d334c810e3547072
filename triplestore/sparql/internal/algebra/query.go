package algebra

import "odarchive/triplestore/term"

// Form is the form of a query.
type Form byte

const (
	Select Form = iota
	Construct
	Ask
	Describe
)

// DefaultGraph stands for the default graph of the store in Query.From. It is no IRI.
const DefaultGraph = "\x00default"

// Query is a translated query.
type Query struct {
	Form      Form
	Vars      []Var           // SELECT: the projected variables, in order
	Template  []TriplePattern // CONSTRUCT
	Describe  []Node          // DESCRIBE: terms, and variables of Pattern
	Pattern   Op
	From      []string // FROM, DefaultGraph for the store's default graph; if FromNamed is nil too, the store's own dataset is used
	FromNamed []string
	Base      string
	Prefixes  map[string]string
}

// UpdateOp is one operation of an update request. The set is closed: the types below.
type UpdateOp interface{ update() }

// QuadPattern is a triple pattern in a graph. A zero Graph is the default graph.
type QuadPattern struct {
	TriplePattern
	Graph Node
}

// GraphTarget names the graphs of CLEAR, DROP, COPY and so on. Exactly one field is set.
type GraphTarget struct {
	IRI                 string
	Default, Named, All bool
}

type (
	InsertData struct{ Quads []term.Quad } // blank nodes have the labels of the request; each execution makes new ones
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
	Clear struct { // and DROP: a graph without triples does not exist
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
