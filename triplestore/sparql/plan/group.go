package plan

import "odarchive/triplestore/sparql/algebra"

// group is a flattened tree of joins: factors that may be joined in any order, filters that may be applied as soon
// as their variables are bound, and then posts: what must follow the join, in order.
type group struct {
	factors []factor
	filters []Expr
	posts   []post
	empty   bool // some pattern names a term that the store does not have
}

// factor is one thing to join: a triple pattern, a path, or a planned operator.
type factor struct {
	pos  *[4]Pos // a triple pattern
	path *PathScan
	node Node
	cols Set
	sure Set
	// seeded plans it anew around the rows of a Seed; nil: it cannot.
	seeded func(*Seed) (Node, error)
}

// post is an operator over the join of a group. Exactly one of its meanings is set.
type post struct {
	left   *algebra.LeftJoin
	minus  algebra.Op
	filter algebra.Expr
	extend *algebra.Extend
	call   *algebra.Service // with a variable for its name
	reads  Set              // slots that decide what it does: nothing that binds one of them later may be joined before it
	binds  Set              // slots it may bind
	graph  Pos              // the active graph where it stands
}

func (g *group) cols() (s Set) {
	for _, f := range g.factors {
		s = s.Or(f.cols)
	}
	for _, p := range g.posts {
		s = s.Or(p.binds)
	}
	return s
}

// sure are the slots bound by the factors.
func (g *group) sure() (s Set) {
	for _, f := range g.factors {
		s = s.Or(f.sure)
	}
	return s
}

// absorbs tells whether columns of another operand may be joined to g's factors below its posts: no post may notice.
func (g *group) absorbs(other Set) bool {
	sure := g.sure()
	for _, p := range g.posts {
		if p.call != nil {
			continue // a join: anything may come before it
		}
		if !other.And(p.reads.Or(p.binds)).In(sure.Minus(p.binds)) {
			return false
		}
	}
	return true
}

func nodeFactor(n Node) factor {
	p := n.Info()
	return factor{node: n, cols: setOf(p.Cols...), sure: p.Sure}
}

// flatten gathers the joins of op into one group.
func (b *builder) flatten(op algebra.Op, sc scope) (*group, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, &TooLargeError{"patterns nested too deep"}
	}
	defer func() { b.depth-- }()
	switch op := op.(type) {
	case nil:
		return &group{}, nil
	case algebra.BGP:
		return b.patterns(op, sc)
	case algebra.PathPattern:
		return b.path(op, sc)
	case algebra.Join:
		return b.flattenJoin(op, sc)
	case algebra.Filter:
		g, err := b.flatten(op.In, sc)
		if err != nil {
			return nil, err
		}
		for _, c := range conjuncts(op.Cond, nil) {
			b.addFilter(g, c, sc)
		}
		return g, nil
	case algebra.Extend:
		g, err := b.flatten(op.In, sc)
		if err != nil {
			return nil, err
		}
		p := post{extend: &op, binds: setOf(b.slot(sc, op.Var))}
		p.reads = b.slots(sc, deepVars(op.Expr)).Or(p.binds)
		b.post(g, p)
		return g, nil
	case algebra.LeftJoin:
		g, err := b.flatten(op.L, sc)
		if err != nil {
			return nil, err
		}
		p := post{left: &op, reads: b.slots(sc, mentioned(op.R))}
		if op.Cond != nil {
			p.reads = p.reads.Or(b.slots(sc, deepVars(op.Cond)))
		}
		p.binds = b.slots(sc, Vars(op.R)).Minus(g.sure())
		b.post(g, p)
		return g, nil
	case algebra.Minus:
		g, err := b.flatten(op.L, sc)
		if err != nil {
			return nil, err
		}
		b.post(g, post{minus: op.R, reads: b.slots(sc, Vars(op.R))})
		return g, nil
	case algebra.Service:
		if op.Name.Var != "" {
			g := &group{}
			b.post(g, post{call: &op, reads: setOf(b.slot(sc, op.Name.Var)), binds: b.slots(sc, Vars(op))})
			return g, nil
		}
	case algebra.Graph:
		if op.Name.Var == "" {
			return b.inGraph(op, sc, func() (*group, error) { return b.flatten(op.In, sc) })
		}
	}
	n, err := b.build(op, sc)
	if err != nil {
		return nil, err
	}
	g := groupOf(n)
	if u, ok := op.(algebra.Union); ok && len(g.factors) == 1 {
		g.factors[0].seeded = b.seededUnion(u, sc)
	}
	return g, nil
}

// seededUnion joins each branch of a union with a Seed: Join(S, Union(A, B)) is Union(Join(S, A), Join(S, B)).
func (b *builder) seededUnion(op algebra.Union, sc scope) func(*Seed) (Node, error) {
	graph := b.graph
	return func(seed *Seed) (Node, error) {
		outer := b.graph
		b.graph = graph
		defer func() { b.graph = outer }()
		var branches []Node
		for _, o := range unionBranches(op) {
			g, err := b.flatten(o, sc)
			if err != nil {
				return nil, err
			}
			if !g.absorbs(setOf(seed.Cols...)) {
				n, err := b.planGroup(g, sc)
				if err != nil {
					return nil, err
				}
				g = groupOf(n)
			}
			g.factors = append(g.factors, nodeFactor(seed))
			n, err := b.planGroup(g, sc)
			if err != nil {
				return nil, err
			}
			branches = append(branches, n)
		}
		return newUnion(branches), nil
	}
}

func groupOf(n Node) *group {
	switch n.(type) {
	case *Unit:
		return &group{}
	case *Nothing:
		return &group{factors: []factor{nodeFactor(n)}, empty: true}
	}
	return &group{factors: []factor{nodeFactor(n)}}
}

func deepVars(e algebra.Expr) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.deepExpr(e)
	return c.list
}

func (b *builder) slots(sc scope, vars []algebra.Var) (s Set) {
	for _, v := range vars {
		s = s.With(b.slot(sc, v))
	}
	return s
}

// flattenJoin merges the groups of both sides where neither side's posts notice the other; a side that would is
// planned on its own and joined as one factor.
func (b *builder) flattenJoin(op algebra.Join, sc scope) (*group, error) {
	// Long chains of joins lean to the left: walk them without recursion.
	var parts []algebra.Op
	var cur algebra.Op = op
	for {
		j, ok := cur.(algebra.Join)
		if !ok {
			break
		}
		parts = append(parts, j.R)
		cur = j.L
	}
	g, err := b.flatten(cur, sc)
	if err != nil {
		return nil, err
	}
	for i := len(parts) - 1; i >= 0; i-- {
		r, err := b.flatten(parts[i], sc)
		if err != nil {
			return nil, err
		}
		if g, err = b.mergeGroups(g, r, sc); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (b *builder) mergeGroups(l, r *group, sc scope) (*group, error) {
	lc, rc := l.cols(), r.cols()
	if !l.absorbs(rc) {
		n, err := b.planGroup(l, sc)
		if err != nil {
			return nil, err
		}
		l = groupOf(n)
	}
	if !r.absorbs(lc) {
		n, err := b.planGroup(r, sc)
		if err != nil {
			return nil, err
		}
		r = groupOf(n)
	}
	return &group{
		factors: append(l.factors, r.factors...),
		filters: append(l.filters, r.filters...),
		posts:   append(l.posts, r.posts...),
		empty:   l.empty || r.empty,
	}, nil
}

// conjuncts splits a && b && c.
func conjuncts(e algebra.Expr, out []algebra.Expr) []algebra.Expr {
	if c, ok := e.(algebra.Call); ok && c.Func == "&&" && len(c.Args) == 2 {
		return conjuncts(c.Args[1], conjuncts(c.Args[0], out))
	}
	return append(out, e)
}

// addFilter files a condition where it can be applied earliest: among the filters of the factors where they bind all
// it reads, else after the posts.
func (b *builder) addFilter(g *group, cond algebra.Expr, sc scope) {
	reads := b.slots(sc, deepVars(cond))
	if len(existsIn(cond)) == 0 && reads.In(g.sure()) {
		g.filters = append(g.filters, b.rename(cond, sc))
		return
	}
	b.post(g, post{filter: cond, reads: reads})
}

func (b *builder) post(g *group, p post) {
	p.graph = b.graph
	g.posts = append(g.posts, p)
}

// patterns makes a factor of each triple pattern.
func (b *builder) patterns(op algebra.BGP, sc scope) (*group, error) {
	g := &group{}
	for _, t := range op.Patterns {
		var pos [4]Pos
		for i, n := range [3]algebra.Node{t.S, t.P, t.O} {
			p, extra, ok, err := b.position(n, sc)
			if err != nil {
				return nil, err
			}
			if !ok {
				g.empty = true
			}
			pos[i] = p
			for _, p := range extra {
				b.post(g, p)
			}
		}
		pos[3] = b.graph
		f := patternFactor(pos)
		g.factors = append(g.factors, f)
	}
	return g, nil
}

func patternFactor(pos [4]Pos) factor {
	f := factor{pos: &pos}
	for _, p := range pos {
		if p.Slot >= 0 {
			f.cols = f.cols.With(p.Slot)
		}
	}
	f.sure = f.cols
	return f
}

// position resolves one node of a pattern. A triple term with variables becomes a variable that is taken apart after the
// join (extra); ok is false where no quad can match.
func (b *builder) position(n algebra.Node, sc scope) (p Pos, extra []post, ok bool, err error) {
	switch {
	case n.Triple != nil:
		s := b.temp("t")
		name := b.plan.Vars[s]
		sc[name] = s
		extra = b.takeApart(algebra.VarExpr{Var: name}, *n.Triple, sc)
		return Pos{Slot: s}, extra, true, nil
	case n.Var != "":
		return Pos{Slot: b.slot(sc, n.Var)}, nil, true, nil
	}
	id, ok, err := b.lookup(n.Term)
	return Pos{ID: id, Slot: -1}, nil, ok, err
}

// takeApart makes the conditions and bindings of a triple term pattern (SPARQL 1.2): each part either equals a
// constant or is bound to its variable, as BIND would where it is free and as a condition where it is not.
func (b *builder) takeApart(whole algebra.Expr, t algebra.TriplePattern, sc scope) []post {
	posts := []post{{filter: algebra.Call{Func: "ISTRIPLE", Args: []algebra.Expr{whole}}, reads: b.slots(sc, exprVars(whole))}}
	for _, part := range []struct {
		fn string
		n  algebra.Node
	}{{"SUBJECT", t.S}, {"PREDICATE", t.P}, {"OBJECT", t.O}} {
		value := algebra.Expr(algebra.Call{Func: part.fn, Args: []algebra.Expr{whole}})
		switch {
		case part.n.Triple != nil:
			posts = append(posts, b.takeApart(value, *part.n.Triple, sc)...)
		case part.n.Var != "":
			s := b.temp("part")
			name := b.plan.Vars[s]
			sc[name] = s
			to := b.slot(sc, part.n.Var)
			posts = append(posts,
				post{extend: &algebra.Extend{Var: name, Expr: value}, binds: setOf(s), reads: b.slots(sc, exprVars(whole)).With(s)},
				post{extend: &algebra.Extend{Var: part.n.Var, Expr: algebra.Call{Func: unifyFunc, Args: []algebra.Expr{algebra.VarExpr{Var: name}}}},
					binds: setOf(to), reads: setOf(s, to)})
		default:
			posts = append(posts, post{reads: b.slots(sc, exprVars(whole)),
				filter: algebra.Call{Func: "SAMETERM", Args: []algebra.Expr{value, algebra.ConstExpr{Term: part.n.Term}}}})
		}
	}
	return posts
}

// unifyFunc marks an Extend that joins: the variable must be free or already have this value.
const unifyFunc = ".unify"

// rename gives an expression the plan's names of its variables.
func (b *builder) rename(e algebra.Expr, sc scope) Expr {
	out := Expr{Expr: b.renamed(e, sc)}
	for _, v := range exprVars(out.Expr) {
		out.Slots = append(out.Slots, b.plan.Slot(v))
	}
	return out
}

func (b *builder) renamed(e algebra.Expr, sc scope) algebra.Expr {
	switch e := e.(type) {
	case algebra.VarExpr:
		return algebra.VarExpr{Var: b.plan.Vars[b.slot(sc, e.Var)]}
	case algebra.Call:
		args := make([]algebra.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = b.renamed(a, sc)
		}
		return algebra.Call{Func: e.Func, Args: args}
	case algebra.In:
		list := make([]algebra.Expr, len(e.List))
		for i, a := range e.List {
			list[i] = b.renamed(a, sc)
		}
		return algebra.In{Not: e.Not, Expr: b.renamed(e.Expr, sc), List: list}
	}
	return e
}

// wantedOrder are the slots by which the first join among the posts would like its input sorted; without one, what comes
// after the group decides.
func (b *builder) wantedOrder(g *group, sc scope) Set {
	for _, p := range g.posts {
		switch {
		case p.left != nil:
			return b.slots(sc, Vars(p.left.R))
		case p.minus != nil:
			return b.slots(sc, Vars(p.minus))
		case p.filter != nil:
			if list := existsIn(p.filter); len(list) > 0 {
				return b.slots(sc, Vars(list[0].In))
			}
		}
	}
	return b.prefer
}

// planGroup orders the joins of a group and puts its posts on top.
func (b *builder) planGroup(g *group, sc scope) (Node, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if s := b.graph.Slot; s >= 0 && !g.sure().Has(s) {
		g.factors = append(g.factors, nodeFactor(b.allGraphs(s)))
	}
	n, err := b.preferring(b.wantedOrder(g, sc), func() (Node, error) { return b.joinFactors(g) })
	if err != nil {
		return nil, err
	}
	outer := b.graph
	defer func() { b.graph = outer }()
	for _, p := range g.posts {
		b.graph = p.graph
		switch {
		case p.filter != nil:
			n, err = b.filterPost(n, p.filter, sc)
		case p.extend != nil:
			n, err = b.extendPost(n, *p.extend, sc)
		case p.call != nil:
			n, err = b.callPost(n, *p.call, sc)
		case p.left != nil:
			n, err = b.leftJoin(n, *p.left, sc)
		default:
			n, err = b.minus(n, p.minus, sc)
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (b *builder) extendPost(in Node, op algebra.Extend, sc scope) (Node, error) {
	to := b.slot(sc, op.Var)
	if c, ok := op.Expr.(algebra.Call); ok && c.Func == unifyFunc {
		from := b.slot(sc, c.Args[0].(algebra.VarExpr).Var)
		return newRename(in, []int{from}, []int{to}), nil
	}
	e, in, err := b.expr(op.Expr, sc, in)
	if err != nil {
		return nil, err
	}
	return newExtend(in, to, e), nil
}

func newExtend(in Node, slot int, e Expr) Node {
	p := in.Info()
	if x, ok := in.(*Extend); ok { // one node for consecutive ones
		n := &Extend{In: x.In, Props: x.Props}
		n.Slots = append(append([]int(nil), x.Slots...), slot)
		n.Exprs = append(append([]Expr(nil), x.Exprs...), e)
		n.Cols = append(append([]int(nil), x.Cols...), slot)
		return n
	}
	n := &Extend{In: in, Slots: []int{slot}, Exprs: []Expr{e}, Props: *p}
	n.Cols = append(append([]int(nil), p.Cols...), slot)
	n.Cost += n.Rows * costExpr
	if c, ok := e.Expr.(algebra.ConstExpr); ok && c.Term != "" {
		n.Sure = n.Sure.With(slot)
	}
	return n
}

func newRename(in Node, from, to []int) Node {
	p := in.Info()
	n := &Rename{In: in, From: from, To: to, Props: *p}
	n.Cols = append([]int(nil), p.Cols...)
	n.Distinct = map[int]float64{}
	for s, d := range p.Distinct {
		n.Distinct[s] = d
	}
	have := setOf(n.Cols...)
	for i, t := range to {
		if !have.Has(t) {
			n.Cols = append(n.Cols, t)
			have = have.With(t)
		} else {
			n.Rows *= 0.1
		}
		if p.Sure.Has(from[i]) {
			n.Sure = n.Sure.With(t)
		}
		if d, ok := p.Distinct[from[i]]; ok {
			n.Distinct[t] = d
		}
	}
	return n
}

// expr prepares an expression over in; each EXISTS in it becomes a boolean column below.
func (b *builder) expr(e algebra.Expr, sc scope, in Node) (Expr, Node, error) {
	for range existsIn(e) {
		x := existsIn(e)[0]
		mark := b.temp("exists")
		name := b.plan.Vars[mark]
		var err error
		if in, err = b.exists(in, x.In, sc, Mark, mark); err != nil {
			return Expr{}, nil, err
		}
		v := algebra.Expr(algebra.VarExpr{Var: name})
		if x.Not {
			v = algebra.Call{Func: "!", Args: []algebra.Expr{v}}
		}
		sc[name] = mark
		e = replaceFirstExists(e, v)
	}
	return b.rename(e, sc), in, nil
}

func replaceFirstExists(e, with algebra.Expr) algebra.Expr {
	done := false
	var walk func(algebra.Expr) algebra.Expr
	walk = func(e algebra.Expr) algebra.Expr {
		if done {
			return e
		}
		switch e := e.(type) {
		case algebra.Exists:
			done = true
			return with
		case algebra.Call:
			args := make([]algebra.Expr, len(e.Args))
			for i, a := range e.Args {
				args[i] = walk(a)
			}
			return algebra.Call{Func: e.Func, Args: args}
		case algebra.In:
			first := walk(e.Expr)
			list := make([]algebra.Expr, len(e.List))
			for i, a := range e.List {
				list[i] = walk(a)
			}
			return algebra.In{Not: e.Not, Expr: first, List: list}
		}
		return e
	}
	return walk(e)
}

// filterPost applies a condition: a bare EXISTS as a semi or anti join.
func (b *builder) filterPost(in Node, cond algebra.Expr, sc scope) (Node, error) {
	not := false
	e := cond
	for {
		if c, ok := e.(algebra.Call); ok && c.Func == "!" && len(c.Args) == 1 {
			not, e = !not, c.Args[0]
			continue
		}
		break
	}
	if x, ok := e.(algebra.Exists); ok {
		kind := Semi
		if x.Not != not {
			kind = Anti
		}
		return b.exists(in, x.In, sc, kind, -1)
	}
	ex, in, err := b.expr(cond, sc, in)
	if err != nil {
		return nil, err
	}
	return b.newFilter(in, []Expr{ex}), nil
}
