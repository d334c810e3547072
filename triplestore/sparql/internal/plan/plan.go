// Package plan turns SPARQL algebra and the statistics of a dataset into a physical plan: which index order each
// pattern is read in, which join comes when and by which method, where filters apply.
//
// Optimise builds the plan: groups of joins are flattened and ordered by dynamic programming over the store's
// estimates (greedily beyond a few patterns), operators declare the order of their output so that merge joins
// and skipped sorts fall out, and then the named Rules run over the tree, one after the other. Explain prints a plan.
// The package scans nothing: it asks for estimates and looks terms up.
package plan

import (
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Statistics is what the planner asks of a dataset; every term.Dataset is one.
type Statistics interface {
	Orders() []term.Order
	Estimate(p term.Pattern) term.Estimate
	Lookup(k term.Key) (id term.ID, ok bool, err error)
}

// Options choose among plans that give the same answer. The zero value is the planner's own choice.
type Options struct {
	// Join forces one method where it is possible at all: "hash", "merge" or "bind".
	Join string
	// NoReorder joins patterns in the order they were written.
	NoReorder bool
	// Without names rules that are not applied.
	Without []string
	// Workers is how many processors a plan may use; below 2: one.
	Workers int
	// ParallelFrom is the estimated work, in nanoseconds, from which more than one is used; 0: the planner's own choice.
	ParallelFrom float64
	// Check, if set, is called now and then; its error ends the planning. Planning takes milliseconds, but a query may
	// be made to take long.
	Check func() error
	// Base is the IRI that IRI() resolves against, Prefixes shorten the printed plan.
	Base     string
	Prefixes map[string]string
}

// Plan is a query ready to run.
type Plan struct {
	Root Node
	// Vars names the slots. Slots of a subquery's own variables have made-up names.
	Vars []algebra.Var
	// Out are the slots of the projected variables, in order; a slot that the root does not bind is unbound.
	Out []int
	// Default and Named are the graphs of a FROM clause; nil Default: the store's default graph.
	// HasFrom tells an empty FROM from none.
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

// maxVars bounds the slots of one plan, and maxNodes its operators.
const maxVars = 20000

// ErrTooLarge is the error for a query beyond the planner's limits.
var ErrTooLarge = errors.New("plan: the query is too large")

// Optimise plans a pattern. out are the variables the caller wants, in order. from and fromNamed are the graphs
// of a FROM clause (both nil: none).
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

// OptimiseQuery plans the pattern of a query: a SELECT's projection, every variable of the pattern for the others.
func OptimiseQuery(q *algebra.Query, stats Statistics, opts Options) (*Plan, error) {
	out := q.Vars
	if q.Form != algebra.Select {
		out = wanted(q)
	}
	if opts.Base == "" {
		opts.Base = q.Base
	}
	if opts.Prefixes == nil {
		opts.Prefixes = q.Prefixes
	}
	return Optimise(q.Pattern, out, q.From, q.FromNamed, stats, opts)
}

// wanted are the variables that the template or the DESCRIBE list of a query reads.
func wanted(q *algebra.Query) []algebra.Var {
	var out []algebra.Var
	seen := map[algebra.Var]bool{}
	var node func(n algebra.Node)
	node = func(n algebra.Node) {
		if n.Triple != nil {
			node(n.Triple.S)
			node(n.Triple.P)
			node(n.Triple.O)
		}
		if n.Var != "" && !seen[n.Var] {
			seen[n.Var] = true
			out = append(out, n.Var)
		}
	}
	for _, t := range q.Template {
		node(t.S)
		node(t.P)
		node(t.O)
	}
	for _, n := range q.Describe {
		node(n)
	}
	return out
}

func (b *builder) graphs(iris []string) ([]term.ID, error) {
	ids := []term.ID{}
	for _, iri := range iris {
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

// finish runs the rules over the tree and numbers its nodes.
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

func (b *builder) check() error {
	if b.opts.Check == nil {
		return nil
	}
	return b.opts.Check()
}

func (b *builder) disabled(rule string) bool { return slices.Contains(b.opts.Without, rule) }

// Slot is the slot of a variable of the plan; -1 if it has none.
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

// Locals are the terms of the query that the store does not have: Locals[i] has the id LocalID(i).
func (p *Plan) Locals() []term.Key { return p.locals }

// LocalID is the id of the i-th local term of a query.
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
