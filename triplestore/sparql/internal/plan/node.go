package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Node is one operator of a plan (a closed set: the types of this file).
type Node interface {
	// Info describes the operator's output.
	Info() *Props
	// Inputs in the order they are printed.
	Inputs() []Node
}

// Props describe what an operator hands out.
type Props struct {
	Cols     []int           // slots of its columns, in order
	Sure     Set             // slots bound in every row
	Sorted   []int           // rows ascend by the ids of these slots, most significant first
	Rows     float64         // estimated
	Cost     float64         // estimated, in nanoseconds, inputs included
	Distinct map[int]float64 // estimated distinct values of slots; absent: unknown
	Nr       int             // number in the printed plan, from 1, preorder
}

// Info returns p itself: nodes embed it.
func (p *Props) Info() *Props { return p }

// Pos is one position of a scan: a constant id, a slot, or neither (any value, not kept).
type Pos struct {
	ID   term.ID
	Slot int // -1: none
}

// Range is a closed interval of ids.
type Range struct{ From, To term.ID }

// JoinKind says what a join makes of its left rows.
type JoinKind byte

const (
	Inner JoinKind = iota
	Outer          // left rows without a partner stay, right columns unbound (OPTIONAL)
	Semi           // left rows with a partner, once each (EXISTS)
	Anti           // left rows without a partner (NOT EXISTS)
	Minus          // like Anti, but a partner must share a bound variable (MINUS)
	Mark           // every left row, with a boolean column whether it has a partner
)

var joinNames = [...]string{"", "Left", "Semi", "Anti", "Minus", "Mark"}

func (k JoinKind) String() string { return joinNames[k] }

type (
	// Unit is one row without columns; Nothing is no row.
	Unit    struct{ Props }
	Nothing struct{ Props }

	// Scan reads quads that match a pattern, in one order. S, P, O and G are in Pos[0..3].
	Scan struct {
		Props
		Pos     [4]Pos
		Order   term.Order
		Ranges  []Range // of the first position in Order that is not constant; nil: all
		OneEach bool    // each combination of the output columns once (they are a prefix of the order)
	}

	// MergeJoin joins two inputs sorted by Keys.
	MergeJoin struct {
		Props
		L, R Node
		Keys []int
		Kind JoinKind
	}
	// HashJoin builds a table of R and probes it with L. Maybe are shared slots that may be unbound on either side
	// and must then be compatible. Cond restricts partners (for Outer, Semi, Anti).
	HashJoin struct {
		Props
		L, R  Node
		Keys  []int
		Maybe []int
		Kind  JoinKind
		Cond  *Expr
		Mark  int // slot of the boolean, for Mark
	}
	// BindJoin looks the pattern of R up for the rows of L: Keys are slots of L that stand in R, in the order of R.Order,
	// a bound graph last.
	BindJoin struct {
		Props
		L    Node
		R    *Scan
		Keys []int
		Kind JoinKind
	}
	// Lateral runs R once for each group of rows of L, which R sees through its Seed.
	Lateral struct {
		Props
		L, R Node
		Seed *Seed
		Kind JoinKind
		Mark int
	}
	// Seed stands in R of a Lateral for the rows of L. RowNr is the slot that numbers them.
	Seed struct {
		Props
		RowNr int
	}
	// PathScan finds the pairs connected by a path; PathJoin finds them for the rows of L, which bind From or To.
	PathScan struct {
		Props
		From, To Pos
		Graph    Pos
		Path     Path
	}
	PathJoin struct {
		Props
		L        Node
		From, To Pos
		Graph    Pos
		Path     Path
	}
	// Filter keeps rows for which all conditions are true.
	Filter struct {
		Props
		In    Node
		Conds []Expr
	}
	// Extend computes columns, in order.
	Extend struct {
		Props
		In    Node
		Slots []int
		Exprs []Expr
	}
	// Rename copies columns: a row whose To is bound to something else than From is dropped.
	Rename struct {
		Props
		In       Node
		From, To []int
	}
	Union struct {
		Props
		Branches []Node
	}
	Values struct {
		Props
		Rows [][]term.ID
	}
	// Graphs lists the named graphs.
	Graphs struct {
		Props
		Slot int
	}
	// Group partitions by slots and aggregates. Streaming: the input is sorted by By.
	Group struct {
		Props
		In        Node
		By        []int
		Aggs      []Aggregate
		Streaming bool
		EachGraph bool // one group for each named graph (By is the graph), even of nothing
	}
	// Sort orders by expressions; with Limit ≥ 0 only the first rows are kept (top-k).
	Sort struct {
		Props
		In    Node
		Keys  []SortKey
		Limit int64
	}
	Project struct {
		Props
		In Node
	}
	// Distinct drops repeated rows. Streaming: the input is sorted by all columns.
	Distinct struct {
		Props
		In        Node
		Streaming bool
	}
	Slice struct {
		Props
		In            Node
		Offset, Limit int64 // Limit -1: none
		Per           int   // counted for each value of this slot; -1: for all rows together
	}
	// Counts answers COUNT over one pattern from the index, a row for each value of By (none: one row).
	Counts struct {
		Props
		Pos   [4]Pos
		By    int // position grouped by; -1: none
		Order term.Order
		Out   []int // slots of the counts
	}
	// Service asks another endpoint: the one that Op names, or each of those that L binds Name.Slot to.
	Service struct {
		Props
		Op   algebra.Service
		Name Pos
		L    Node
		Out  []int // slots of Op's variables, in the order of Vars
		Vars []algebra.Var
	}
	// Parallel runs In on several processors: copies of its operators down to Source, which is run once and dealt out. The
	// order of the rows stays. With Terms, the terms of the columns are fetched too.
	Parallel struct {
		Props
		In, Source Node
		Terms      bool
		Workers    int // at most
	}
	// Substitute decides EXISTS by putting each row's bindings into the pattern and planning it anew (§18.6): for
	// patterns that cannot be evaluated in one piece.
	Substitute struct {
		Props
		L     Node
		Op    algebra.Op
		Scope map[algebra.Var]int
		Graph Pos
		Kind  JoinKind
		Mark  int
	}
)

// Aggregate is one set function over a group.
type Aggregate struct {
	Func      string
	Distinct  bool
	Arg       *Expr // nil: COUNT(*)
	Of        []int // slots whose values make solutions different, for COUNT(DISTINCT *)
	Separator string
	Slot      int
}

// SortKey is one ORDER BY condition.
type SortKey struct {
	Expr Expr
	Slot int // the expression is just this variable; else -1
	Desc bool
}

// Expr is an expression whose variables are named by Plan.Vars, with the slots it reads.
type Expr struct {
	Expr  algebra.Expr
	Slots []int
}

func (n *Unit) Inputs() []Node       { return nil }
func (n *Nothing) Inputs() []Node    { return nil }
func (n *Scan) Inputs() []Node       { return nil }
func (n *MergeJoin) Inputs() []Node  { return []Node{n.L, n.R} }
func (n *HashJoin) Inputs() []Node   { return []Node{n.L, n.R} }
func (n *BindJoin) Inputs() []Node   { return []Node{n.L, n.R} }
func (n *Lateral) Inputs() []Node    { return []Node{n.L, n.R} }
func (n *Seed) Inputs() []Node       { return nil }
func (n *PathScan) Inputs() []Node   { return nil }
func (n *PathJoin) Inputs() []Node   { return []Node{n.L} }
func (n *Filter) Inputs() []Node     { return []Node{n.In} }
func (n *Extend) Inputs() []Node     { return []Node{n.In} }
func (n *Rename) Inputs() []Node     { return []Node{n.In} }
func (n *Union) Inputs() []Node      { return n.Branches }
func (n *Values) Inputs() []Node     { return nil }
func (n *Graphs) Inputs() []Node     { return nil }
func (n *Group) Inputs() []Node      { return []Node{n.In} }
func (n *Sort) Inputs() []Node       { return []Node{n.In} }
func (n *Project) Inputs() []Node    { return []Node{n.In} }
func (n *Distinct) Inputs() []Node   { return []Node{n.In} }
func (n *Slice) Inputs() []Node      { return []Node{n.In} }
func (n *Counts) Inputs() []Node     { return nil }
func (n *Parallel) Inputs() []Node   { return []Node{n.In} }
func (n *Substitute) Inputs() []Node { return []Node{n.L} }
func (n *Service) Inputs() []Node {
	if n.L == nil {
		return nil
	}
	return []Node{n.L}
}

// Path is a property path over ids.
type Path interface{ path() }

type (
	// Step follows one predicate; ID 0 is a predicate that no quad has.
	Step    struct{ ID term.ID }
	Inverse struct{ Path Path }
	Seq     struct{ L, R Path }
	Alt     struct{ L, R Path }
	// Many repeats: Min 0 or 1 times at least, once at most where Once.
	Many struct {
		Path Path
		Min  int
		Once bool
	}
	// Not follows every predicate but those listed, forwards and backwards as far as the lists are not nil.
	Not struct{ Forward, Backward []term.ID }
)

func (Step) path()    {}
func (Inverse) path() {}
func (Seq) path()     {}
func (Alt) path()     {}
func (Many) path()    {}
func (Not) path()     {}
