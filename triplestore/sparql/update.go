package sparql

import (
	"context"
	"fmt"
	"time"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// UpdateOptions are one update's own; the zero value asks for nothing special.
type UpdateOptions struct {
	Timeout time.Duration // 0: the Engine's; never more than its MaxTimeout
	Base    string        // for relative IRIs
	// Using and UsingNamed, if one is not empty, are the dataset of every WHERE; the request may then not say USING or
	// WITH itself (Protocol §2.2.3).
	Using, UsingNamed []string
}

// Updated tells what an update did.
type Updated struct{ Inserted, Deleted int64 } // quads named, whether or not they were there already; of graphs cleared, what they held

// Update applies an update request as a whole or not at all; whoever may update may also have any endpoint asked.
//
// Documents of LOAD are fetched first and patterns are solved over the state at that moment (snapshot isolation); only then
// does the request take the writers' turn, to write down what it found. So no writer, a crawl above all, ever waits for a
// pattern or for the network. Updates of one Engine run one after the other: each sees all of those before it.
func (e *Engine) Update(ctx context.Context, s Store, text string, o UpdateOptions) (Updated, error) {
	ops, err := prepareUpdate(text, o)
	if err != nil {
		return Updated{}, err
	}
	ctx, cancel := e.deadline(ctx, o.Timeout)
	defer cancel()
	if d, ok := s.(Dropper); ok && len(ops) == 1 {
		if op, ok := ops[0].(algebra.Clear); ok && !op.Target.Named {
			done, err := dropAlone(ctx, s, d, op.Target)
			return done, cause(ctx, err)
		}
	}
	loaded, err := e.loadAll(ctx, ops)
	if err != nil {
		return Updated{}, err
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return Updated{}, fmt.Errorf("sparql: update: waiting for another: %w", cause(ctx, ctx.Err()))
	}
	u := &updating{engine: e, ctx: ctx, opts: o, loaded: loaded, blank: rdfio.NewBlankPrefix()}
	err = s.View(ctx, func(ds term.Dataset) error { return u.solve(ds, ops) })
	if err == nil {
		err = s.Update(ctx, u.write)
	}
	if err != nil {
		return Updated{}, fmt.Errorf("sparql: update: %w", cause(ctx, err))
	}
	return u.done, nil
}

// dropAlone is a request that is one CLEAR or DROP and nothing else. What it says was deleted is as of the moment before.
func dropAlone(ctx context.Context, s Store, d Dropper, t algebra.GraphTarget) (done Updated, err error) {
	err = s.View(ctx, func(ds term.Dataset) (err error) {
		if t.All {
			done.Deleted, err = quadsOf(ds, term.AnyGraph)
		} else {
			done.Deleted, err = graphSize(ds, graphKey(t))
		}
		return err
	})
	switch {
	case err != nil:
	case t.All:
		err = d.Clear(ctx)
	default:
		err = d.DropGraph(ctx, graphKey(t))
	}
	if err != nil {
		return Updated{}, fmt.Errorf("sparql: update: %w", err)
	}
	return done, nil
}

// prepareUpdate parses and translates an update, and sets the dataset of o.
func prepareUpdate(text string, o UpdateOptions) ([]algebra.UpdateOp, error) {
	tree, err := syntax.ParseUpdate(text, o.Base, syntax.Options{})
	if err != nil {
		return nil, err
	}
	ops, err := algebra.TranslateUpdate(tree)
	if err != nil {
		return nil, fmt.Errorf("sparql: %w", err)
	}
	if len(o.Using)+len(o.UsingNamed) == 0 {
		return ops, nil
	}
	for i, op := range ops {
		m, ok := op.(algebra.Modify)
		if !ok {
			continue
		}
		if m.With != "" || m.Using != nil || m.UsingNamed != nil {
			return nil, ErrUsing
		}
		m.Using, m.UsingNamed = o.Using, o.UsingNamed
		ops[i] = m
	}
	return ops, nil
}

// updating is one update request: what its operations will change is found out first, and written then.
type updating struct {
	engine *Engine
	ctx    context.Context
	found  []change
	size   int64        // bytes of what patterns found
	ds     term.Dataset // the state that the current operation sees
	top    *overlay     // ds, once something has changed
	opts   UpdateOptions
	loaded map[int][]term.Quad
	blank  string // prefix of the labels of blank nodes in data
	last   bool   // nothing reads what this operation does
	done   Updated
}

// change is one step of writing: a graph cleared, or quads removed, or quads inserted.
type change struct {
	clear          *term.Key
	remove, insert []term.Quad
}

// solve finds out what the operations change, over one state.
func (u *updating) solve(ds term.Dataset, ops []algebra.UpdateOp) error {
	u.ds = ds
	for i, op := range ops {
		u.last = i == len(ops)-1
		if err := u.apply(op, i); err != nil {
			return fmt.Errorf("operation %d: %w", i+1, err)
		}
	}
	u.ds, u.top = nil, nil // the state may be let go
	return nil
}

// write does what was found.
func (u *updating) write(t Txn) error {
	n := 0
	each := func(quads []term.Quad, f func(term.Quad) error) error {
		for _, q := range quads {
			if err := f(q); err != nil {
				return err
			}
			if n++; n%1024 == 0 && u.ctx.Err() != nil {
				return u.ctx.Err()
			}
		}
		return nil
	}
	for _, c := range u.found {
		if c.clear != nil {
			if err := t.ClearGraph(*c.clear); err != nil {
				return err
			}
		}
		if err := each(c.remove, t.Delete); err != nil {
			return err
		}
		if err := each(c.insert, t.Insert); err != nil {
			return err
		}
	}
	return u.ctx.Err()
}

func (u *updating) apply(op algebra.UpdateOp, nr int) error {
	switch op := op.(type) {
	case algebra.InsertData:
		quads := make([]term.Quad, len(op.Quads))
		for i, q := range op.Quads {
			quads[i] = term.Quad{S: u.own(q.S), P: u.own(q.P), O: u.own(q.O), G: u.own(q.G)}
		}
		return u.insert(quads)
	case algebra.DeleteData:
		return u.remove(op.Quads)
	case algebra.Modify:
		return u.modify(op)
	case algebra.Load:
		return u.insert(u.loaded[nr])
	case algebra.Clear:
		return u.clearAll(op.Target)
	case algebra.Create:
		return u.create(op)
	case algebra.Transfer:
		return u.transfer(op)
	}
	return fmt.Errorf("an operation %T is not known", op)
}

// own gives the blank nodes of data labels of this request.
func (u *updating) own(k term.Key) term.Key {
	if s, p, o, ok := k.Parts(); ok {
		return term.Triple(u.own(s), u.own(p), u.own(o))
	}
	if k.Kind() == term.KindBlank {
		return term.Blank(u.blank + label(k.Value()))
	}
	return k
}

// shadow gives the overlay that later operations read; nil where none will.
func (u *updating) shadow() *overlay {
	if u.last {
		return nil
	}
	if u.top == nil {
		u.top = newOverlay(u.ds)
		u.ds = u.top
	}
	return u.top
}

func (u *updating) insert(quads []term.Quad) error {
	u.done.Inserted += int64(len(quads))
	u.found = append(u.found, change{insert: quads})
	if o := u.shadow(); o != nil {
		for _, q := range quads {
			if err := o.insert(q); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *updating) remove(quads []term.Quad) error {
	u.done.Deleted += int64(len(quads))
	u.found = append(u.found, change{remove: quads})
	if o := u.shadow(); o != nil {
		for _, q := range quads {
			if err := o.remove(q); err != nil {
				return err
			}
		}
	}
	return nil
}
