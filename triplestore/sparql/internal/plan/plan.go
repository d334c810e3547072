// Package plan turns SPARQL algebra and the statistics of a dataset into a physical plan: the index order in which
// each pattern is read, the order and method of the joins, and the place of the filters.
//
// Optimise builds the plan. It flattens groups of joins and orders them by dynamic programming over the store's
// estimates, greedily if there are many. Operators declare the order of their output, so that merge joins and sorts
// that can be left out are found. Then the named Rules are applied to the tree, one after the other. Explain prints a
// plan.
//
// The package scans nothing: it asks for estimates and looks terms up.
package plan

import (
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Statistics is what the planner asks of a dataset. Every term.Dataset implements it.
type Statistics interface {
	Orders() []term.Order
	Estimate(p term.Pattern) term.Estimate
	Lookup(k term.Key) (id term.ID, ok bool, err error)
}

// Options choose among plans that give the same answer. The zero value leaves the choice to the planner.
type Options struct {
	// Join forces one method, "hash", "merge" or "bind", wherever it is possible.
	Join string
	// NoReorder joins patterns in the order they were written.
	NoReorder bool
	// Without names rules that are not applied.
	Without []string
	// Workers is how many processors a plan may use. Below 2, it uses one.
	Workers int
	// ParallelFrom is the estimated work, in nanoseconds, from which several processors are used. If 0, the planner
	// chooses.
	ParallelFrom float64
	// Check, if not nil, is called from time to time; its error ends the planning. Planning takes milliseconds, except
	// for queries made to take long.
	Check func() error
	// Base is the IRI that IRI() resolves against. Prefixes shorten the printed plan.
	Base     string
	Prefixes map[string]string
	// Find finds things for arc:search, the best first, at most limit, and the number of all; nil if there is nothing
	// to search.
	Find func(text string, limit int) (found []Found, total int, err error)
}

// Found is a thing that Options.Find found.
type Found struct {
	IRI   string
	Score float64
}

// Plan is a query that is ready to run.
type Plan struct {
	Root Node
	// Vars names the slots. Slots of a subquery's own variables have generated names.
	Vars []algebra.Var
	// Out are the slots of the projected variables, in order. A slot that the root does not bind is unbound.
	Out []int
	// Default and Named are the graphs of a FROM clause. HasFrom is false if the query has none; then the default
	// graph is the store's.
	HasFrom        bool
	Default, Named []term.ID
	Base           string
	Nodes          int

	slotOf   map[algebra.Var]int
	locals   []term.Key
	localIDs map[term.Key]term.ID
	prefixes map[string]string
	terms    map[term.ID]term.Key // constants, for the printed form
}

// maxVars is the maximum number of slots of one plan.
const maxVars = 20000

// ErrTooLarge is the error for a query beyond the planner's limits.
var ErrTooLarge = errors.New("plan: the query is too large")

// Optimise plans a pattern. out are the variables that the caller wants, in order. from and fromNamed are the graphs
// of a FROM clause; both are nil if there is none.
func Optimise(op algebra.Op, out []algebra.Var, from, fromNamed []string, stats Statistics, opts Options) (*Plan, error) {
	p := &Plan{Base: opts.Base, prefixes: opts.Prefixes, terms: map[term.ID]term.Key{}}
	b := &builder{plan: p, stats: stats, opts: opts, graph: Pos{ID: term.DefaultGraph, Slot: -1}}
	for _, o := range stats.Orders() {
		b.orders[o] = true
	}
	if from != nil || fromNamed != nil {
		p.HasFrom = true
		var err error
		if p.Default, err = b.graphs(from); err != nil {
			return nil, err
		}
		if p.Named, err = b.graphs(fromNamed); err != nil {
			return nil, err
		}
	}
	sc := b.newScope()
	for _, v := range out {
		p.Out = append(p.Out, b.slot(sc, v))
	}
	root, err := b.build(op, sc)
	if err != nil {
		return nil, err
	}
	return b.finish(root)
}

// OptimiseQuery plans the pattern of a query for the variables of ResultVars, with the base IRI and the prefixes of
// the query unless opts has others.
func OptimiseQuery(q *algebra.Query, stats Statistics, opts Options) (*Plan, error) {
	if opts.Base == "" {
		opts.Base = q.Base
	}
	if opts.Prefixes == nil {
		opts.Prefixes = q.Prefixes
	}
	p, err := Optimise(q.Pattern, ResultVars(q), q.From, q.FromNamed, stats, opts)
	if errors.Is(err, ErrTooLarge) && !opts.NoReorder {
		// Nested unions, subtractions and EXISTS are planned once for each place where they could be. In the order in
		// which they are written there is one plan of them.
		opts.NoReorder = true
		if q, err2 := Optimise(q.Pattern, ResultVars(q), q.From, q.FromNamed, stats, opts); err2 == nil {
			p, err = q, nil
		}
	}
	if err == nil && q.Form == algebra.Ask {
		localFirst(p.Root)
	}
	return p, err
}

// ResultVars returns the variables that the answer to a query is made of: the projected ones of a SELECT, else those
// that the template or the DESCRIBE list reads.
func ResultVars(q *algebra.Query) []algebra.Var {
	if q.Form == algebra.Select {
		return q.Vars
	}
	c := varCollector{seen: map[algebra.Var]bool{}}
	for _, t := range q.Template {
		c.pattern(t)
	}
	for _, n := range q.Describe {
		c.node(n)
	}
	return c.list
}

func (b *builder) graphs(iris []string) ([]term.ID, error) {
	ids := []term.ID{}
	for _, iri := range iris {
		if iri == algebra.DefaultGraph {
			ids = append(ids, term.DefaultGraph)
			continue
		}
		id, ok, err := b.stats.Lookup(term.IRI(iri))
		if err != nil {
			return nil, fmt.Errorf("plan: graph <%s>: %w", iri, err)
		}
		if ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// finish applies the rules to the tree, prunes it, makes it parallel and numbers its nodes.
func (b *builder) finish(root Node) (*Plan, error) {
	for _, r := range rules {
		if r.apply != nil && !b.disabled(r.Name) {
			root = r.apply(b, root)
		}
	}
	root.prune(setOf(b.plan.Out...))
	root = rewrite(root, func(n Node) Node {
		if x, ok := n.(*Extend); ok && len(x.Slots) == 0 {
			return x.In
		}
		return n
	})
	anyOrder(root, false)
	if b.opts.Workers > 1 && repeatable(root) {
		root = b.parallelTerms(b.parallel(root, false))
	}
	b.plan.Root = root
	n := 0
	var number func(Node)
	number = func(x Node) {
		n++
		x.Info().Nr = n
		for _, in := range Inputs(x) {
			number(in)
		}
	}
	number(root)
	b.plan.Nodes = n
	return b.plan, nil
}

// check returns why planning must end, or nil.
func (b *builder) check() error {
	if b.failed == nil && b.opts.Check != nil {
		b.failed = b.opts.Check()
	}
	return b.failed
}

// maxSpent bounds what the candidates of a plan may allocate, in bytes.
const maxSpent = 256 << 20

// spend counts the memory of a candidate.
func (b *builder) spend(n Node) {
	p := n.Info()
	b.spent += 512 + 8*len(p.Cols) + 48*len(p.Distinct)
	if b.spent > maxSpent && b.failed == nil {
		b.failed = fmt.Errorf("%w: planning it takes more than %d MB", ErrTooLarge, maxSpent>>20)
	}
}

func (b *builder) disabled(rule string) bool { return slices.Contains(b.opts.Without, rule) }

// Slot returns the slot of a variable of the plan, or -1.
func (p *Plan) Slot(v algebra.Var) int {
	if s, ok := p.slotOf[v]; ok {
		return s
	}
	return -1
}

func (p *Plan) addVar(v algebra.Var) {
	if p.slotOf == nil {
		p.slotOf = map[algebra.Var]int{}
	}
	p.slotOf[v] = len(p.Vars)
	p.Vars = append(p.Vars, v)
}

// Locals returns the terms of the query that the store does not have. Locals()[i] has the id LocalID(i).
func (p *Plan) Locals() []term.Key { return p.locals }

// LocalID returns the id of the i-th local term of a query.
func LocalID(i int) term.ID { return term.Make(term.TagLocal, uint64(i)+1) }

func (p *Plan) localID(k term.Key) term.ID {
	if id, ok := p.localIDs[k]; ok {
		return id
	}
	if p.localIDs == nil {
		p.localIDs = map[term.Key]term.ID{}
	}
	id := LocalID(len(p.locals))
	p.locals, p.localIDs[k] = append(p.locals, k), id
	return id
}
