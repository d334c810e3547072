package triplestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Txn is a write transaction of a store. It is valid while the function given to Update runs, in that function's
// goroutine.
type Txn struct {
	ctx     context.Context // of Update
	store   *Store
	sn      *Snapshot // the state the transaction builds on
	kv      *kv.Txn
	terms   *dict.Adder
	changed map[term.IDQuad]int8 // +1 added, -1 removed, relative to sn; ids may be provisional
	last    lookup               // the subject inserted last; statements of one subject often come together
	failed  error                // the first error; a failed transaction cannot be committed
	done    bool
}

type lookup struct {
	key term.Key
	id  term.ID
}

const (
	// MaxTerm is the maximum length of a term's key, in bytes.
	MaxTerm = 512 << 10
	// MaxTxn is the maximum number of quads one transaction may change. Load has no such limit.
	MaxTxn = 8 << 20
	// SmallTxn is about how many quads a transaction may change and still be merged into blocks together with others. A
	// larger one rewrites blocks by itself. Bulk work that may divide its transactions should keep them below it.
	SmallTxn = 24 << 10

	largeRecord = 512 << 10 // log records longer than this many bytes bypass the overlay
)

var (
	errTxnDone  = errors.New("triplestore: the transaction has ended")
	errTxnLarge = fmt.Errorf("triplestore: a transaction cannot change more than %d quads; use a load", MaxTxn)
)

func (s *Store) newTxn(ctx context.Context, kt *kv.Txn) *Txn {
	// The tip cannot change while this transaction has the turn, so a snapshot taken now has all its blocks.
	sn := s.snapshot(s.getTip(), s.db.Snapshot())
	return &Txn{ctx: ctx, store: s, sn: sn, kv: kt, terms: sn.state.dict.Add(sn.kv), changed: map[term.IDQuad]int8{}}
}

func (t *Txn) end() {
	t.done = true
	t.sn.Release()
}

// KV returns the key-value transaction that is committed together with the quads.
func (t *Txn) KV() *kv.Txn { return t.kv }

// Snapshot returns the state at the start of the transaction, without the transaction's own changes. It is released
// with the transaction.
func (t *Txn) Snapshot() *Snapshot { return t.sn }

// Insert adds a quad, to the default graph if q.G is empty. Inserting a quad that exists is no error. After an error
// the transaction cannot be committed.
func (t *Txn) Insert(q term.Quad) error {
	if t.done {
		return errTxnDone
	}
	if err := checkQuad(q); err != nil {
		return t.fail(err)
	}
	if q.S != t.last.key {
		id, err := t.terms.ID(q.S)
		if err != nil {
			return t.fail(err)
		}
		t.last = lookup{q.S, id}
	}
	id := term.IDQuad{S: t.last.id, G: term.DefaultGraph}
	for _, c := range [3]struct {
		k  term.Key
		id *term.ID
	}{{q.P, &id.P}, {q.O, &id.O}, {q.G, &id.G}} {
		if c.k == "" {
			continue // the default graph
		}
		var err error
		if *c.id, err = t.terms.ID(c.k); err != nil {
			return t.fail(err)
		}
	}
	return t.set(id, true)
}

// Delete removes a quad. Deleting a quad that does not exist is no error.
func (t *Txn) Delete(q term.Quad) error {
	if t.done {
		return errTxnDone
	}
	if err := checkQuad(q); err != nil {
		return t.fail(err)
	}
	id := term.IDQuad{G: term.DefaultGraph}
	for _, c := range [4]struct {
		k  term.Key
		id *term.ID
	}{{q.S, &id.S}, {q.P, &id.P}, {q.O, &id.O}, {q.G, &id.G}} {
		if c.k == "" {
			continue
		}
		var ok bool
		var err error
		if *c.id, ok, err = t.terms.Lookup(c.k); err != nil {
			return t.fail(err)
		}
		if !ok {
			return nil
		}
	}
	return t.set(id, false)
}

// ClearGraph removes every quad of a graph, including those inserted by this transaction. The empty key is the default
// graph.
func (t *Txn) ClearGraph(g term.Key) error {
	if t.done {
		return errTxnDone
	}
	id := term.DefaultGraph
	if g != "" {
		found, ok, err := t.terms.Lookup(g)
		if err != nil {
			return t.fail(err)
		}
		if !ok {
			return nil
		}
		id = found
	}
	for q, sign := range t.changed {
		if q.G == id && sign > 0 {
			delete(t.changed, q)
		}
	}
	c := t.sn.Scan(term.Pattern{G: id}, term.SPO)
	defer c.Close()
	for {
		rows, err := c.Next()
		if err != nil {
			return t.fail(err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, q := range rows {
			t.changed[q] = -1
		}
		if len(t.changed) > MaxTxn {
			return t.fail(errTxnLarge)
		}
	}
}

// set makes a quad present or absent.
func (t *Txn) set(q term.IDQuad, present bool) error {
	if sign, ok := t.changed[q]; ok {
		if (sign > 0) != present {
			delete(t.changed, q)
		}
		return nil
	}
	there := false
	if !t.terms.New(q.S) && !t.terms.New(q.O) && !t.terms.New(q.P) && !t.terms.New(q.G) {
		var err error
		if there, err = t.sn.index.Has(q); err != nil {
			return t.fail(err)
		}
	}
	switch {
	case present && !there:
		t.changed[q] = 1
	case !present && there:
		t.changed[q] = -1
	}
	if len(t.changed) > MaxTxn {
		return t.fail(errTxnLarge)
	}
	return nil
}

func (t *Txn) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// checkQuad checks a quad against RDF 1.1 Concepts §3.1, with RDF 1.2 triple terms allowed as objects.
func checkQuad(q term.Quad) error {
	switch s := q.S.Kind(); {
	case s != term.KindIRI && s != term.KindBlank:
		return badQuad(q, "the subject is neither an IRI nor a blank node")
	case q.P.Kind() != term.KindIRI:
		return badQuad(q, "the predicate is not an IRI")
	case q.O.Kind() == term.KindNone:
		return badQuad(q, "the object is not a term")
	}
	if g := q.G.Kind(); q.G != "" && g != term.KindIRI && g != term.KindBlank {
		return badQuad(q, "the graph is neither an IRI nor a blank node")
	}
	if len(q.S) > MaxTerm || len(q.P) > MaxTerm || len(q.O) > MaxTerm || len(q.G) > MaxTerm {
		return badQuad(term.Quad{S: q.S[:min(len(q.S), 200)]}, fmt.Sprintf("a term is longer than %d bytes", MaxTerm))
	}
	return nil
}

// commit adds the transaction's changes to the store.
func (t *Txn) commit() error {
	if len(t.changed) == 0 {
		return nil
	}
	first, keys, final := t.terms.Finish()
	c := &commit{unixMilli: time.Now().UnixMilli(), first: first, terms: keys, changes: make([]index.Change, 0, len(t.changed))}
	for q, sign := range t.changed {
		q = term.IDQuad{S: final(q.S), P: final(q.P), O: final(q.O), G: final(q.G)}
		c.changes = append(c.changes, index.Change{Quad: q, Sign: sign})
	}
	run := index.NewRun(c.changes)
	if len(c.changes) <= t.store.mergeAt(t.sn.state)/2 {
		c.changes = c.changes[:0]
		run.Changes(func(ch index.Change) { c.changes = append(c.changes, ch) }) // sorted changes encode shorter
		if b := c.encode(); len(b) <= largeRecord {
			return t.commitSmall(c, b, run)
		}
	}
	return t.commitLarge(c, run)
}

// commitSmall appends a record to the log and a run to the overlay.
func (t *Txn) commitSmall(c *commit, record []byte, run *index.Run) error {
	base := t.sn.state
	next := *base
	next.position++
	next.terms = c.first + uint64(len(c.terms))
	next.overlay = base.overlay.With(run)
	next.logBytes += int64(len(record))
	next.graphs = new(graphList)
	if err := t.kv.Set(kv.SpaceTripleLog, recordKey(next.position, 0), record); err != nil {
		return err
	}
	if err := base.dict.Recent.Append(c.first, c.terms); err != nil {
		return err
	}
	t.store.accept(t.kv, &next)
	return nil
}

// commitLarge writes the changes, and those of the overlay, into blocks.
func (t *Txn) commitLarge(c *commit, run *index.Run) (err error) {
	s, base := t.store, t.sn.state
	s.stopMerge()
	defer s.merging.Unlock()
	w := &blockWriter{s: s, sn: t.sn}
	parts := &partWriter{batch: s.db.Batch(), position: base.position + 1, limit: s.recordLimit()}
	defer func() {
		if err != nil {
			err = errors.Join(err, parts.discard(), w.abandon())
		}
	}()
	for _, sign := range [2]int8{-1, 1} {
		var rows []term.IDQuad
		run.Changes(func(ch index.Change) {
			if ch.Sign == sign {
				rows = append(rows, ch.Quad)
			}
		})
		if err := parts.add(rows, sign); err != nil {
			return err
		}
	}
	if err := parts.finish(); err != nil {
		return err
	}
	if err := w.addTerms(t.ctx, base.terms, c.terms); err != nil {
		return err
	}
	all := base.overlay.With(run).Flat()
	if err := w.apply(t.ctx, all); err != nil {
		return err
	}
	if err := w.prepare(); err != nil {
		return err
	}
	next, err := w.installAll(t.kv, c.unixMilli, parts)
	if err != nil {
		return err
	}
	t.kv.OnAbort(func(error) {
		s.stopMerge() // after dropTip a merge may have begun and written the same long terms
		defer s.merging.Unlock()
		if err := errors.Join(parts.discard(), w.abandon()); err != nil {
			s.opts.Log.Warn("cannot delete the blocks of a failed commit", "error", err)
		}
	})
	t.kv.OnCommit(func() { s.tidyLater(next) })
	return nil
}
