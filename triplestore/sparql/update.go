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

// UpdateOptions are the options of one update. The zero value is ready for use.
type UpdateOptions struct {
	Timeout time.Duration // 0 means the Engine's; at most its MaxTimeout
	Base    string        // the base of relative IRIs
	// Using and UsingNamed, unless both are empty, are the dataset of every WHERE. The request must not contain USING
	// or WITH then (Protocol §2.2.3).
	Using, UsingNamed []string
	Dialect           bool // as in QueryOptions, for patterns and templates
}

// Updated reports what an update did, in quads. Inserted and Deleted count the quads that operations named, whether or
// not the store had them, and those of the graphs they cleared.
type Updated struct{ Inserted, Deleted int64 }

// Update applies an update request completely or not at all. Its patterns may ask any endpoint by SERVICE.
//
// Update fetches the documents of LOAD and solves patterns over the state at that moment (snapshot isolation). Only
// then does it open a transaction to write the changes, so that no other writer waits for a pattern or for the
// network. The updates of one Engine run one after the other: each sees those before it.
//
// The error is a *SyntaxError if text is not an update request.
func (e *Engine) Update(ctx context.Context, s Store, text string, o UpdateOptions) (Updated, error) {
	ops, err := e.prepareUpdate(text, o)
	if err != nil {
		return Updated{}, err
	}
	ctx, cancel := e.deadline(ctx, o.Timeout)
	defer cancel()
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
	if d, ok := s.(Dropper); ok && len(ops) == 1 {
		if op, ok := ops[0].(algebra.Clear); ok && !op.Target.Named {
			done, err := dropAlone(ctx, s, d, op.Target)
			return done, cause(ctx, err)
		}
	}
	u := &updateRun{engine: e, ctx: ctx, opts: o, loaded: loaded, blank: rdfio.NewBlankPrefix()}
	if r, ok := s.(Replacer); ok && len(ops) == 1 {
		u.replacer = r
	}
	defer u.release()
	err = s.View(ctx, func(ds term.Dataset) error { return u.solve(ds, ops) })
	if err == nil && !u.replaced {
		err = s.Update(ctx, u.write)
	}
	if err != nil {
		return Updated{}, fmt.Errorf("sparql: update: %w", cause(ctx, err))
	}
	return u.done, nil
}

// dropAlone applies a request that is a single CLEAR or DROP. Deleted is the size just before.
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

// prepareUpdate parses and translates an update and sets the dataset of o.
func (e *Engine) prepareUpdate(text string, o UpdateOptions) ([]algebra.UpdateOp, error) {
	tree, err := syntax.ParseUpdate(text, o.Base, syntax.Options{MaxBytes: int(e.opts.MaxUpdate), Prefixes: e.opts.Prefixes})
	if err != nil {
		return nil, err
	}
	ops, err := algebra.TranslateUpdate(tree)
	if err != nil {
		return nil, fmt.Errorf("sparql: %w", err)
	}
	set := len(o.Using)+len(o.UsingNamed) > 0
	for i, op := range ops {
		m, ok := op.(algebra.Modify)
		if !ok {
			continue
		}
		if o.Dialect {
			m = algebra.HistoricalUpdate(m)
			ops[i] = m
		}
		if !set {
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

// updateRun is one update request. It finds out what its operations change, and then writes it.
type updateRun struct {
	engine  *Engine
	ctx     context.Context
	changed []change
	held    int64        // bytes of the changes found by patterns and copies, counted by hold
	ds      term.Dataset // the state that the current operation reads
	later   *overlay     // ds, once something has changed
	opts    UpdateOptions
	loaded  map[int][]term.Quad
	blank   string // prefix of the labels of blank nodes in data
	last    bool   // no later operation reads the changes of this one
	done    Updated

	replacer Replacer // of the store, if there is only one operation; may be nil
	replaced bool     // replacer has done the work
}

// change is one step of writing: clear a graph, then remove quads, then insert quads.
type change struct {
	clear          *term.Key
	remove, insert []term.Quad
}

// solve finds out what the operations change, over one state.
func (u *updateRun) solve(ds term.Dataset, ops []algebra.UpdateOp) error {
	u.ds = ds
	for i, op := range ops {
		u.last = i == len(ops)-1
		if err := u.apply(op, i); err != nil {
			return fmt.Errorf("operation %d: %w", i+1, err)
		}
	}
	u.ds, u.later = nil, nil // release the state
	return nil
}

// write applies the changes.
func (u *updateRun) write(t Txn) error {
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
	for _, c := range u.changed {
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

func (u *updateRun) apply(op algebra.UpdateOp, nr int) error {
	switch op := op.(type) {
	case algebra.InsertData:
		quads := make([]term.Quad, len(op.Quads))
		for i, q := range op.Quads {
			quads[i] = term.Quad{S: u.relabel(q.S), P: u.relabel(q.P), O: u.relabel(q.O), G: u.relabel(q.G)}
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
	return fmt.Errorf("unknown operation %T", op)
}

// relabel gives the blank nodes of data labels that only this request uses.
func (u *updateRun) relabel(k term.Key) term.Key {
	if s, p, o, ok := k.Parts(); ok {
		return term.Triple(u.relabel(s), u.relabel(p), u.relabel(o))
	}
	if k.Kind() == term.KindBlank {
		return term.Blank(u.blank + label(k.Value()))
	}
	return k
}

// overlay returns the overlay that later operations read, or nil if there are none.
func (u *updateRun) overlay() *overlay {
	if u.last {
		return nil
	}
	if u.later == nil {
		u.later = newOverlay(u.ds)
		u.ds = u.later
	}
	return u.later
}

func (u *updateRun) insert(quads []term.Quad) error {
	u.done.Inserted += int64(len(quads))
	u.changed = append(u.changed, change{insert: quads})
	if o := u.overlay(); o != nil {
		for _, q := range quads {
			if err := o.insert(q); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *updateRun) remove(quads []term.Quad) error {
	u.done.Deleted += int64(len(quads))
	u.changed = append(u.changed, change{remove: quads})
	if o := u.overlay(); o != nil {
		for _, q := range quads {
			if err := o.remove(q); err != nil {
				return err
			}
		}
	}
	return nil
}
