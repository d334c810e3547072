package triplestore

import (
	"encoding/binary"
	"errors"

	"odarchive/triplestore/dict"
	"odarchive/triplestore/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Txn is a write transaction of a store, valid while the function given to Update runs, in its goroutine.
type Txn struct {
	store   *Store
	base    *state
	kv      *kv.Txn
	terms   *dict.Adder
	changed map[term.IDQuad]int8 // +1 added, -1 removed, compared with base; ids may be provisional
	failed  error                // the first error; the transaction cannot be committed any more
	done    bool
}

var errTxnDone = errors.New("triplestore: the transaction has ended")

func newTxn(s *Store, base *state, kt *kv.Txn) *Txn {
	return &Txn{store: s, base: base, kv: kt, terms: s.dict.Add(), changed: map[term.IDQuad]int8{}}
}

// KV is the key-value transaction that is committed together with the quads.
func (t *Txn) KV() *kv.Txn { return t.kv }

// Snapshot is the state at the start of the transaction, without its own changes. It need not be released and is
// of no use after the transaction.
func (t *Txn) Snapshot() *Snapshot { return &Snapshot{store: t.store, state: t.base} }

// Insert adds a quad (G empty: to the default graph); it is no error if it is there already. After an error the
// transaction cannot be committed.
func (t *Txn) Insert(q term.Quad) error {
	if err := checkQuad(q); err != nil {
		return t.fail(err)
	}
	var id term.IDQuad
	var err error
	if id.S, err = t.terms.ID(q.S); err != nil {
		return t.fail(err)
	}
	if id.P, err = t.terms.ID(q.P); err != nil {
		return t.fail(err)
	}
	if id.O, err = t.terms.ID(q.O); err != nil {
		return t.fail(err)
	}
	id.G = term.DefaultGraph
	if q.G != "" {
		if id.G, err = t.terms.ID(q.G); err != nil {
			return t.fail(err)
		}
	}
	return t.set(id, true)
}

// Delete removes a quad; it is no error if there is none.
func (t *Txn) Delete(q term.Quad) error {
	if err := checkQuad(q); err != nil {
		return t.fail(err)
	}
	id := term.IDQuad{G: term.DefaultGraph}
	for _, c := range [4]struct {
		k  term.Key
		id *term.ID
	}{{q.S, &id.S}, {q.P, &id.P}, {q.O, &id.O}, {q.G, &id.G}} {
		if c.k == "" {
			continue // the default graph
		}
		found, ok, err := t.terms.Lookup(c.k)
		if err != nil {
			return t.fail(err)
		}
		if !ok {
			return nil
		}
		*c.id = found
	}
	return t.set(id, false)
}

// ClearGraph removes every quad of a graph, the empty key being the default graph.
func (t *Txn) ClearGraph(g term.Key) error {
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
	c := t.Snapshot().Scan(term.Pattern{G: id}, term.SPO)
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
	}
}

// set makes a quad present or absent.
func (t *Txn) set(q term.IDQuad, present bool) error {
	if t.done {
		return errTxnDone
	}
	if sign, ok := t.changed[q]; ok {
		if (sign > 0) != present {
			delete(t.changed, q)
		}
		return nil
	}
	there := false
	if !t.terms.New(q.S) && !t.terms.New(q.O) && !t.terms.New(q.P) && !t.terms.New(q.G) {
		var err error
		if there, err = t.base.index.Has(q); err != nil {
			return t.fail(err)
		}
	}
	switch {
	case present && !there:
		t.changed[q] = 1
	case !present && there:
		t.changed[q] = -1
	}
	return nil
}

func (t *Txn) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// checkQuad holds a quad to RDF 1.1 §3.1, with triple terms as objects (RDF 1.2).
func checkQuad(q term.Quad) error {
	switch s := q.S.Kind(); {
	case s != term.KindIRI && s != term.KindBlank:
		return bad(q, "the subject is neither an IRI nor a blank node")
	case q.P.Kind() != term.KindIRI:
		return bad(q, "the predicate is not an IRI")
	case q.O.Kind() == term.KindNone:
		return bad(q, "the object is no term")
	}
	if g := q.G.Kind(); q.G != "" && g != term.KindIRI && g != term.KindBlank {
		return bad(q, "the graph is neither an IRI nor a blank node")
	}
	for _, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
		if len(k) > MaxTerm {
			return bad(term.Quad{S: q.S[:min(len(q.S), 200)]}, "a term is longer than a store takes")
		}
	}
	return nil
}

// MaxTerm is the length of the longest key a store takes, in bytes.
const MaxTerm = 512 << 10

// commit writes what the transaction changed into the log.
func (t *Txn) commit() error {
	if len(t.changed) == 0 {
		return nil
	}
	first, keys, final := t.terms.Settle()
	c := commit{unixMilli: t.store.now(), first: first, terms: keys, changes: make([]index.Change, 0, len(t.changed))}
	for q, sign := range t.changed {
		q = term.IDQuad{S: final(q.S), P: final(q.P), O: final(q.O), G: final(q.G)}
		c.changes = append(c.changes, index.Change{Quad: q, Sign: sign})
	}
	run := index.NewRun(c.changes)
	c.changes = c.changes[:0]
	run.Changes(func(ch index.Change) { c.changes = append(c.changes, ch) })
	st := &state{position: t.base.position + 1, terms: first + uint64(len(keys))}
	st.index = t.base.index
	st.index.Overlay = st.index.Overlay.With(run)
	if err := t.kv.Set(kv.SpaceTripleLog, binary.BigEndian.AppendUint64(nil, st.position), c.encode()); err != nil {
		return err
	}
	if err := t.store.dict.Append(first, keys); err != nil {
		return err
	}
	t.store.accept(t.kv, t.base, st)
	return nil
}
