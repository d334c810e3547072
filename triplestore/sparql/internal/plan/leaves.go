package plan

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Unit has one row without columns.
type Unit struct{ Props }

func (n *Unit) children() []*Node    { return nil }
func (n *Unit) prune(Set)            {}
func (n *Unit) label(p *Plan) string { return "Unit" }

// Nothing has no rows.
type Nothing struct{ Props }

func (n *Nothing) children() []*Node    { return nil }
func (n *Nothing) prune(Set)            {}
func (n *Nothing) label(p *Plan) string { return "Nothing" }

// Scan reads the quads that match a pattern, in one order. Pos holds subject, predicate, object and graph.
type Scan struct {
	Props
	Pos     [4]Pos
	Order   term.Order
	Ranges  []Range // of the first position in Order that is not constant; nil: all
	OneEach bool    // each combination of the output columns once; they are a prefix of the order
}

func (n *Scan) children() []*Node { return nil }

func (n *Scan) prune(need Set) {
	if n.OneEach {
		return
	}
	for i, q := range n.Pos {
		if q.Slot >= 0 && !need.Has(q.Slot) && countSlot(n.Pos, q.Slot) == 1 {
			n.Pos[i].Slot = -1
		}
	}
	n.pruneTo(need, Set{})
	if n.Pos[3].ID == 0 && n.Pos[3].Slot < 0 {
		n.Pos[3].ID = term.AnyNamed
	}
}

func countSlot(pos [4]Pos, slot int) int {
	n := 0
	for _, p := range pos {
		if p.Slot == slot {
			n++
		}
	}
	return n
}

func (n *Scan) label(p *Plan) string {
	s := "Scan "
	if n.OneEach {
		s = "LooseScan "
	}
	s += n.Order.String() + " " + p.triple(n.Pos)
	if n.Ranges != nil {
		s += fmt.Sprintf(" in %d ranges", len(n.Ranges))
	}
	return s
}

// PathScan finds the pairs of nodes that a path connects.
type PathScan struct {
	Props
	From, To Pos
	Graph    Pos
	Path     Path
}

func (n *PathScan) children() []*Node { return nil }
func (n *PathScan) prune(need Set)    { n.pruneTo(need, Set{}) }

func (n *PathScan) label(p *Plan) string {
	return "Path " + p.pos(n.From) + " " + p.path(n.Path) + " " + p.pos(n.To)
}

// Seed is a leaf on the right side of a Lateral: the left rows, numbered in slot RowNr, or the only left row if RowNr
// is
// -1. If Of is not nil, it has some columns of that Seed.
type Seed struct {
	Props
	RowNr int
	Of    *Seed
}

func (n *Seed) children() []*Node    { return nil }
func (n *Seed) prune(Set)            {}
func (n *Seed) label(p *Plan) string { return "Seed" }

// Values is inline data; id 0 is UNDEF.
type Values struct {
	Props
	Rows [][]term.ID
}

func (n *Values) children() []*Node { return nil }
func (n *Values) prune(Set)         {}

func (n *Values) label(p *Plan) string {
	return fmt.Sprintf("Values %s (%d)", p.slots(n.Cols), len(n.Rows))
}

// Graphs lists the named graphs.
type Graphs struct {
	Props
	Slot int
}

func (n *Graphs) children() []*Node    { return nil }
func (n *Graphs) prune(Set)            {}
func (n *Graphs) label(p *Plan) string { return "Graphs " + p.slots([]int{n.Slot}) }

// Counts answers COUNT over one pattern from the index: one row, or one for each value of the position By.
type Counts struct {
	Props
	Pos   [4]Pos
	By    int // position grouped by; -1: none
	Order term.Order
	Out   []int // slots of the counts
}

func (n *Counts) children() []*Node { return nil }
func (n *Counts) prune(Set)         {}

func (n *Counts) label(p *Plan) string {
	s := "Counts " + p.triple(n.Pos)
	if n.By >= 0 {
		s += " by " + p.pos(n.Pos[n.By])
	}
	return s
}

// Service asks other endpoints: the one that Op names or, if Name.Slot is not negative, each one that L binds it to. If
// L is not nil, only solutions are wanted that agree with a row of L in Keys.
type Service struct {
	Props
	Op   algebra.Service
	Name Pos
	L    Node
	Keys []int // slots of L and Out that the pattern binds in every solution
	Out  []int // slots of Op's variables, in the order of Vars
	Vars []algebra.Var
}

func (n *Service) children() []*Node {
	if n.L == nil {
		return nil
	}
	return []*Node{&n.L}
}

// prune keeps every column: the endpoint decides how often a row repeats.
func (n *Service) prune(Set) {}
func (n *Service) label(p *Plan) string {
	name := "<" + n.Op.Name.Term.Value() + ">"
	if n.Name.Slot >= 0 {
		name = p.pos(n.Name)
	}
	if len(n.Keys) > 0 {
		name += " by " + p.slots(n.Keys)
	}
	return "Service " + name
}
