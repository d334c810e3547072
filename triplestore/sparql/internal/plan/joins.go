package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
)

// JoinKind is what a join does with its left rows.
type JoinKind byte

const (
	Inner JoinKind = iota
	Outer          // OPTIONAL: keeps left rows without a partner, the right columns unbound
	Semi           // EXISTS: keeps left rows that have a partner, once each
	Anti           // NOT EXISTS: keeps left rows without a partner
	Minus          // MINUS: as Anti, but a partner must share a bound variable
	Mark           // keeps every left row and adds a boolean column: whether it has a partner
)

var joinNames = [...]string{"", "Left", "Semi", "Anti", "Minus", "Mark"}

func (k JoinKind) String() string { return joinNames[k] }

// MergeJoin joins two inputs that are sorted by Keys.
type MergeJoin struct {
	Props
	L, R Node
	Keys []int
	Kind JoinKind
}

func (n *MergeJoin) children() []*Node { return []*Node{&n.L, &n.R} }
func (n *MergeJoin) prune(need Set)    { n.pruneTo(need, setOf(n.Keys...), n.L, n.R) }

func (n *MergeJoin) label(p *Plan) string {
	return "Merge" + n.Kind.String() + "Join on " + p.slots(n.Keys)
}

// HashJoin builds a hash table of R and probes it with L. Maybe are shared slots that may be unbound on either side and
// have to be compatible. Cond, if not nil, must hold for a pair to be partners; it is used with Outer.
type HashJoin struct {
	Props
	L, R  Node
	Keys  []int
	Maybe []int
	Kind  JoinKind
	Cond  *Expr
	Mark  int // slot of the boolean, for Mark
}

func (n *HashJoin) children() []*Node { return []*Node{&n.L, &n.R} }

func (n *HashJoin) exprs() []Expr {
	if n.Cond == nil {
		return nil
	}
	return []Expr{*n.Cond}
}

func (n *HashJoin) prune(need Set) {
	n.pruneTo(need, setOf(n.Keys...).Or(setOf(n.Maybe...)).Or(readBy(n.exprs())), n.L, n.R)
}

func (n *HashJoin) label(p *Plan) string {
	s := "Hash" + n.Kind.String() + "Join"
	if len(n.Keys) == 0 && len(n.Maybe) == 0 {
		s = "Cross" + n.Kind.String() + "Join"
	}
	if len(n.Keys) > 0 {
		s += " on " + p.slots(n.Keys)
	}
	if len(n.Maybe) > 0 {
		s += " compatible " + p.slots(n.Maybe)
	}
	if n.Cond != nil {
		s += " if " + p.expr(n.Cond.Expr)
	}
	return s
}

// BindJoin looks the pattern of R up for the rows of L. Keys are the slots of L that occur in R, in the order of
// R.Order; a bound graph comes last.
type BindJoin struct {
	Props
	L    Node
	R    *Scan
	Keys []int
	Kind JoinKind
}

func (n *BindJoin) children() []*Node { return []*Node{&n.L} }
func (n *BindJoin) prune(need Set)    { n.pruneTo(need, setOf(n.Keys...), n.L, n.R) }

func (n *BindJoin) label(p *Plan) string {
	return "Bind" + n.Kind.String() + "Join on " + p.slots(n.Keys) + " → " + n.R.label(p)
}

// Lateral runs R once for each group of rows of L, which R reads through its Seed. If Each is set, it runs R for each
// row of L, which R reads through the Seeds of Seed.
type Lateral struct {
	Props
	L, R Node
	Seed *Seed
	Kind JoinKind
	Mark int
	Each bool
}

func (n *Lateral) children() []*Node { return []*Node{&n.L, &n.R} }

func (n *Lateral) prune(need Set) {
	if n.Each {
		n.R.prune(need)
	} else {
		n.R.prune(need.With(n.Seed.RowNr))
	}
	n.pruneTo(need, setOf(n.Seed.Cols...), n.L)
}

func (n *Lateral) label(p *Plan) string {
	if n.Each {
		return "Lateral for each " + p.slots(n.Seed.Cols)
	}
	return "Lateral" + n.Kind.String() + "Join by " + p.slots(without(n.Seed.Cols, n.Seed.RowNr))
}

// PathJoin follows a path from or to the rows of L, which bind From or To.
type PathJoin struct {
	Props
	L        Node
	From, To Pos
	Graph    Pos
	Path     Path
	Nodes    bool // where it starts is certainly a node of the graph
}

func (n *PathJoin) children() []*Node { return []*Node{&n.L} }
func (n *PathJoin) prune(need Set)    { n.pruneTo(need, slotsOf(n.From, n.To, n.Graph), n.L) }

func (n *PathJoin) label(p *Plan) string {
	return "PathJoin " + p.pos(n.From) + " " + p.path(n.Path) + " " + p.pos(n.To)
}

// Substitute decides EXISTS by putting each row's bindings into the pattern and planning the result (§18.6). It is
// for patterns that cannot be planned as a join.
type Substitute struct {
	Props
	L     Node
	Op    algebra.Op
	Scope map[algebra.Var]int
	Graph Pos
	Kind  JoinKind
	Mark  int
}

func (n *Substitute) children() []*Node { return []*Node{&n.L} }

func (n *Substitute) prune(need Set) {
	var reads Set
	for _, s := range n.Scope {
		reads = reads.With(s)
	}
	n.pruneTo(need, reads, n.L)
}

func (n *Substitute) label(p *Plan) string { return "Substitute" + n.Kind.String() }
