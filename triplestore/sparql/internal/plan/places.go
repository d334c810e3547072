package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// Places finds the geometry literals that may be in a region: candidates, each once, in the order of their ids. Some of
// them may be objects of no quad, so only a join with a pattern may read their terms.
type Places struct {
	Props
	Slot   int
	Region spatial.Region
	About  string // the condition, for the printed plan
}

func (n *Places) children() []*Node    { return nil }
func (n *Places) prune(Set)            {}
func (n *Places) label(p *Plan) string { return "Places " + p.slots([]int{n.Slot}) + " " + n.About }

// PlacesJoin adds, to each row of L, the candidates for the geometries near the one that From has there: those whose
// boxes meet or, if Metres is not negative, those at most that far away.
type PlacesJoin struct {
	Props
	L        Node
	From, To int
	Metres   float64
}

func (n *PlacesJoin) children() []*Node { return []*Node{&n.L} }

// prune keeps the new column, which the join with its pattern needs.
func (n *PlacesJoin) prune(need Set) { n.pruneTo(need.With(n.To), setOf(n.From), n.L) }

func (n *PlacesJoin) label(p *Plan) string {
	s := "PlacesJoin " + p.slots([]int{n.To})
	if n.Metres < 0 {
		return s + " meeting " + p.slots([]int{n.From})
	}
	return s + " within " + metres(n.Metres) + " of " + p.slots([]int{n.From})
}

func metres(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) + " m" }

// nearness says that two geometries meet or, if metres is not negative, are at most that far apart.
type nearness struct {
	a, b   algebra.Expr // variables or constants; b is nil if a is only said to be a geometry
	metres float64
}

// costGeometry is that of a call of a function of geometries: most of it is reading the literal.
const costGeometry = 3000.0

func geometryCall(c algebra.Call) bool { return strings.HasPrefix(c.Func, vocab.GeoFunctionNS) }

// nearnessOf returns what a condition says. ok is false if it may hold for geometries far from each other.
func nearnessOf(e algebra.Expr) (n nearness, ok bool) {
	c, ok := e.(algebra.Call)
	if !ok {
		return n, false
	}
	if name, ok := strings.CutPrefix(c.Func, vocab.GeoFunctionNS); ok && len(c.Args) == 2 && geometry.NeedsMeeting(name) {
		return nearness{c.Args[0], c.Args[1], -1}, isOperand(c.Args[0]) && isOperand(c.Args[1])
	}
	if c.Func == "!" && len(c.Args) == 1 {
		d, ok := c.Args[0].(algebra.Call)
		if !ok || d.Func != vocab.GeoFunctionNS+"isEmpty" || len(d.Args) != 1 {
			return n, false
		}
		_, ok = d.Args[0].(algebra.VarExpr)
		return nearness{a: d.Args[0]}, ok
	}
	if len(c.Args) != 2 {
		return n, false
	}
	distance, limit := c.Args[0], c.Args[1]
	switch c.Func {
	case "<", "<=", "=":
	case ">", ">=":
		distance, limit = limit, distance
	default:
		return n, false
	}
	d, ok := distance.(algebra.Call)
	most, isNumber := numberOf(limit)
	if !ok || !isNumber {
		return n, false
	}
	unit := geometry.Metre
	switch {
	case d.Func == vocab.GeoFunctionNS+"metricDistance" && len(d.Args) == 2:
	case d.Func == vocab.GeoFunctionNS+"distance" && len(d.Args) == 3:
		k, ok := d.Args[2].(algebra.ConstExpr)
		if !ok {
			return n, false
		}
		unit = k.Term.Value()
	default:
		return n, false
	}
	factor, err := geometry.Metres(unit)
	if err != nil {
		return n, false
	}
	n = nearness{d.Args[0], d.Args[1], max(0, most*factor) * (1 + 1e-9)}
	return n, !math.IsNaN(n.metres) && isOperand(n.a) && isOperand(n.b)
}

func isOperand(e algebra.Expr) bool {
	switch e.(type) {
	case algebra.VarExpr, algebra.ConstExpr:
		return true
	}
	return false
}

func numberOf(e algebra.Expr) (float64, bool) {
	k, ok := e.(algebra.ConstExpr)
	if !ok || k.Term.Kind() != term.KindLiteral || !xsdval.KindOf(k.Term.Datatype()).Numeric() {
		return 0, false
	}
	v, ok := xsdval.Parse(k.Term.Value(), k.Term.Datatype())
	return v.Float64(), ok
}

// region returns where the geometries are for which a nearness to a constant holds.
func (n nearness) region() (slot algebra.Var, r spatial.Region, about string, ok bool) {
	v, ok := n.a.(algebra.VarExpr)
	if n.b == nil {
		return v.Var, spatial.Everywhere(), "anywhere", ok
	}
	k, constant := n.b.(algebra.ConstExpr)
	if !ok || !constant {
		v, ok = n.b.(algebra.VarExpr)
		if k, constant = n.a.(algebra.ConstExpr); !ok || !constant {
			return "", r, "", false
		}
	}
	g, err := geometry.Parse(k.Term.Value(), k.Term.Datatype())
	if err != nil { // the condition is an error, whatever the other geometry is
		return v.Var, spatial.Region{}, "near what is no geometry", spatial.Takes(k.Term)
	}
	about = k.Term.Value()
	if len(about) > 80 {
		about = strings.ToValidUTF8(about[:80], "") + "…"
	}
	if n.metres < 0 {
		return v.Var, spatial.Meeting(g), "meeting " + about, true
	}
	return v.Var, spatial.Within(g, n.metres), "within " + metres(n.metres) + " of " + about, true
}

// withPlaces adds, to the plans of a pattern, one that starts from the index of geometries. filters are those that the
// pattern covers alone.
func (b *builder) withPlaces(leaves []Node, pos [4]Pos, filters []Expr) []Node {
	if pos[2].Slot < 0 || len(leaves) == 0 || b.opts.NoReorder {
		return leaves
	}
	for _, f := range filters {
		near, ok := nearnessOf(f.Expr)
		if !ok {
			continue
		}
		v, region, about, ok := near.region()
		if !ok || b.plan.Slot(v) != pos[2].Slot {
			continue
		}
		searcher, indexed := spatial.SearcherOf(b.stats)
		if !indexed || b.disabled("places") {
			return leaves
		}
		n := &Places{Slot: pos[2].Slot, Region: region, About: about}
		hits := searcher.CountPlaces(region)
		n.Cols, n.Sure, n.Sorted = []int{n.Slot}, setOf(n.Slot), []int{n.Slot}
		n.Rows, n.Cost = max(1, hits), 4*costSeek+hits*costGroup
		n.Distinct = map[int]float64{n.Slot: n.Rows}
		p, ok := b.planProbe(n, pos, -1)
		if !ok {
			return leaves
		}
		p.rows = min(p.rows, n.Rows*2)
		leaf := b.newFilter(b.newBindJoin(n, pos, p, Inner, nil), filters)
		for _, other := range leaves {
			other.Info().Rows = min(other.Info().Rows, leaf.Info().Rows) // one estimate for all plans of a pattern
		}
		b.spend(leaf)
		return append(leaves, leaf)
	}
	return leaves
}

// near reports whether a filter says that a geometry of one set of slots is near one of the other.
func (g *group) near(x, y Set) bool {
	for _, f := range g.filters {
		if len(f.Slots) != 2 {
			continue
		}
		if _, ok := nearnessOf(f.Expr); ok && (x.Has(f.Slots[0]) && y.Has(f.Slots[1]) || x.Has(f.Slots[1]) && y.Has(f.Slots[0])) {
			return true
		}
	}
	return false
}

// probePlaces offers to look the geometries of a pattern up that are near one of the rows of l.
func (c *joiner) probePlaces(l Node, f *factor, filters []Expr) {
	b, pos := c.b, *f.pos
	lp := l.Info()
	to := pos[2].Slot
	if to < 0 || lp.Sure.Has(to) || setOf(lp.Cols...).Has(to) || b.opts.NoReorder {
		return
	}
	for _, e := range filters {
		if len(e.Slots) != 2 {
			continue
		}
		near, ok := nearnessOf(e.Expr)
		if !ok {
			continue
		}
		from := e.Slots[0]
		if from == to {
			from = e.Slots[1]
		}
		if from == to || !lp.Sure.Has(from) || !setOf(e.Slots...).Has(to) {
			continue
		}
		searcher, indexed := spatial.SearcherOf(b.stats)
		if !indexed || b.disabled("places") {
			return
		}
		n := &PlacesJoin{L: l, From: from, To: to, Metres: near.metres, Props: *lp}
		all := searcher.CountPlaces(spatial.Everywhere())
		n.Cols = append(append([]int(nil), lp.Cols...), to)
		n.Sure = lp.Sure.With(to)
		n.Rows = lp.Rows * (1 + all*nearbyShare)
		n.Cost = lp.Cost + lp.Rows*costNearby + n.Rows*costGroup
		n.Distinct = joinDistinct(lp, &Props{Distinct: map[int]float64{to: max(1, min(all, n.Rows))}}, n.Rows)
		rows, extra := c.rows, c.extra
		if rows > 2*n.Rows { // other joins compare more rows, of which as many remain
			extra *= 2 * n.Rows / rows
			rows = 2 * n.Rows
		}
		p, ok := b.planProbe(n, pos, rows)
		if ok && c.want(p.cost+extra, p.sorted) {
			c.finish(b.withFiltersOf(b.newBindJoin(n, pos, p, Inner, c.distinct), l, f, filters))
		}
		return
	}
}

const (
	nearbyShare = 1e-4    // of all geometries that are guessed to be near one
	costNearby  = 20000.0 // search the index for what is near one geometry
)

// bindGeometry makes BIND of a geometry literal a table of one row, so that joins can start from it.
func (b *builder) bindGeometry(g *group, op algebra.Extend, sc scope) (done bool, err error) {
	k, ok := op.Expr.(algebra.ConstExpr)
	if !ok || !spatial.Takes(k.Term) {
		return false, nil
	}
	slot := b.slot(sc, op.Var)
	if g.cols().Has(slot) || !g.absorbs(setOf(slot)) {
		return false, nil
	}
	n, err := b.values(algebra.Values{Vars: []algebra.Var{op.Var}, Rows: [][]term.Key{{k.Term}}}, sc)
	if err != nil {
		return false, fmt.Errorf("plan: %w", err)
	}
	g.factors = append(g.factors, nodeFactor(n))
	return true, nil
}

// integerOf returns the value of an xsd:integer.
func integerOf(k term.Key) (int64, bool) {
	if k.Datatype() != vocab.XSDInteger {
		return 0, false
	}
	n, err := strconv.ParseInt(k.Value(), 10, 64)
	return n, err == nil
}
