package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Commit makes visible what was staged of a portal. If the harvest was whole, it withdraws the datasets that the
// harvest did not bring, unless they are so many that it asks first (Question). It may be repeated, and does nothing if
// nothing was staged.
func (l *Ledger) Commit(ctx context.Context, harvestID, portalIRI string, e harvest.Ending, at time.Time) (harvest.Changes, error) {
	l.committing.Lock()
	defer l.committing.Unlock()
	p := idOf(portalIRI)
	record, err := l.record(p)
	if err != nil {
		return harvest.Changes{}, err
	}
	came := 0
	if e.Short > 0 {
		if came, err = l.came(ctx, p, record.Campaign); err != nil {
			return harvest.Changes{}, err
		}
	}
	var todo *plan
	if record.IRI != "" && record.Phase == staging {
		record.Owned = record.Owned || e.Whole
		record.Phase, record.Whole, record.Sure, record.At = applying, e.Whole, e.Sure, at.UTC()
		if e.Whole {
			record.faults.endWhole(record.Campaign, e.Named > came || e.Short > came/maxHidden)
		}
		record.Before, record.Harvest = record.Harvest, harvestID
		if todo, err = l.plan(ctx, p, record); err != nil {
			return harvest.Changes{}, err
		}
		if record.Hold = !e.Sure && record.asksAbout(todo); record.Hold {
			record.ask(todo)
			todo = nil // another one, with those that wait
		}
		err = l.db.Update(ctx, func(txn *kv.Txn) error { return setRecord(txn, key(tablePortal, p), record) })
	}
	if err != nil {
		return harvest.Changes{}, err
	}
	changes, err := l.finish(ctx, p, todo)
	changes.Blind = e.Whole && record.faults.blind(record.Campaign)
	if e.Short > 0 && e.Whole && !changes.Blind {
		e.Total = catalog.Counted(came + e.Short)
	}
	if err == nil {
		err = l.noteListed(ctx, portalIRI, e)
	}
	return changes, err
}

// Recover completes interrupted commits.
func (l *Ledger) Recover(ctx context.Context) error {
	l.committing.Lock()
	defer l.committing.Unlock()
	var open []portalID
	err := l.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHarvest, []byte{tablePortal}, nil, func(k, _ []byte) (bool, error) {
			record, _, err := getRecord[portal](txn, k)
			if record.Phase != staging {
				open = append(open, portalID(k[1:]))
			}
			return true, err
		})
	})
	for _, p := range open {
		if err == nil {
			_, err = l.finish(ctx, p, nil)
		}
	}
	return err
}

func (l *Ledger) record(p portalID) (record portal, err error) {
	err = l.db.View(func(txn *kv.Txn) error {
		record, _, err = getRecord[portal](txn, key(tablePortal, p))
		return err
	})
	return record, err
}

// finish completes a commit or an answer that has begun. todo may be nil.
func (l *Ledger) finish(ctx context.Context, p portalID, todo *plan) (harvest.Changes, error) {
	record, err := l.record(p)
	if err != nil {
		return harvest.Changes{}, err
	}
	record = record.acting()
	if record.Phase == applying {
		if record, err = l.apply(ctx, p, record, todo); err != nil {
			return harvest.Changes{}, fmt.Errorf("portal %s: %w", record.IRI, err)
		}
	}
	if record.Phase == settling {
		if err := l.promote(ctx, p, record); err != nil {
			return harvest.Changes{}, fmt.Errorf("portal %s: %w", record.IRI, err)
		}
	}
	return record.Changes, nil
}

// changePortal changes the record of a portal. A harvest may have changed other fields since the caller read it, while
// an answer is carried out.
func changePortal(txn *kv.Txn, p portalID, change func(*portal)) error {
	record, _, err := getRecord[portal](txn, key(tablePortal, p))
	if err != nil {
		return err
	}
	change(&record)
	return setRecord(txn, key(tablePortal, p), record)
}

// apply writes the change into the triple store and, in its last transaction, records that it is there.
func (l *Ledger) apply(ctx context.Context, p portalID, record portal, todo *plan) (portal, error) {
	if todo == nil {
		var err error
		if todo, err = l.plan(ctx, p, record); err != nil {
			return record, err
		}
	}
	if todo.first && todo.quads > l.manyQuads || todo.quads > l.maxQuads {
		if _, err := l.triples.Load(ctx, &additions{l: l, ctx: ctx, p: p, record: record, left: todo.entries}); err != nil {
			return record, err
		}
	}
	if todo.first && todo.quads > l.manyQuads {
		todo.entries, todo.sizes = nil, nil // all of them were loaded
	}
	done := record
	done.Phase, done.Changes = settling, todo.changes
	for {
		// The change is one transaction, unless it is too large. Then everything new has been loaded, and the deletions
		// follow in several transactions.
		n, quads := 0, 0
		for n < len(todo.entries) && (n == 0 || quads+todo.sizes[n] <= l.maxQuads) {
			quads += todo.sizes[n]
			n++
		}
		last := n == len(todo.entries)
		err := l.triples.Update(ctx, func(txn *triplestore.Txn) error {
			if err := l.write(ctx, txn, p, record, todo.entries[:n]); err != nil {
				return err
			}
			if !last {
				return nil
			}
			if err := l.describePortal(txn, record); err != nil {
				return err
			}
			return changePortal(txn.KV(), p, func(r *portal) { r.Phase, r.Changes = done.Phase, done.Changes })
		})
		if err != nil || last {
			return done, err
		}
		todo.entries, todo.sizes = todo.entries[n:], todo.sizes[n:]
	}
}

// eachRow calls f for the rows of a portal whose keys follow after.
func eachRow(ctx context.Context, txn *kv.Txn, table byte, p portalID, after []byte, f func(entryID, row) (more bool, err error)) error {
	return txn.Scan(kv.SpaceHarvest, key(table, p), after, func(k, _ []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		r, _, err := getRecord[row](txn, k)
		if err != nil {
			return false, err
		}
		return f(entryID(k[len(k)-len(entryID{}):]), r)
	})
}

// write writes the change of some entries.
func (l *Ledger) write(ctx context.Context, txn *triplestore.Txn, p portalID, record portal, entries []entryID) error {
	s := l.overlap(txn.KV(), p, record)
	for _, id := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		current, known, err := getRecord[row](txn.KV(), rowKey(tableCurrent, p, id))
		if err != nil {
			return err
		}
		before, err := l.content(txn.KV(), p, current)
		if err != nil {
			return err
		}
		next, gone, _, err := s.after(id)
		if err != nil {
			return err
		}
		after, err := l.content(txn.KV(), p, next)
		if err != nil {
			return err
		}
		if err := l.replace(txn, s, next, before, after, known && current.Gone, gone); err != nil {
			return err
		}
		if dataset := next.dataset(); dataset != "" && known {
			if err := l.updateMarks(txn, record, dataset, current, gone); err != nil {
				return err
			}
			if current.Gone || gone {
				continue
			}
			if err := tellLicence(ctx, txn.KV(), record, next, before, after); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace writes the difference between an entry's old and new statements, each in its graph.
func (l *Ledger) replace(txn *triplestore.Txn, s *overlap, e row, before, after []term.Quad, wasGone, isGone bool) error {
	graph := func(gone bool) term.Key {
		if gone {
			return l.withdrawnGraph(s.record.IRI)
		}
		return l.graph(s.record.IRI)
	}
	for _, q := range before {
		if wasGone == isGone {
			if _, stays := slices.BinarySearchFunc(after, q, compare); stays {
				continue
			}
		}
		kept, err := s.stated(q, wasGone, e)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		q.G = graph(wasGone)
		if err := txn.Delete(q); err != nil {
			return err
		}
	}
	for _, q := range after {
		q.G = graph(isGone)
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}

// describePortal records which graph has the portal's statements, and which harvest brought them.
func (l *Ledger) describePortal(txn *triplestore.Txn, record portal) error {
	if record.Answer != "" {
		return nil // the graph has what the last harvest brought
	}
	graph := l.graph(record.IRI)
	generated := func(id string) term.Quad {
		return term.Quad{S: graph, P: term.IRI(vocab.PROVWasGeneratedBy), O: term.IRI(l.mint.Activity(id))}
	}
	if record.Before != "" && record.Before != record.Harvest {
		if err := txn.Delete(generated(record.Before)); err != nil {
			return err
		}
	}
	if err := txn.Insert(generated(record.Harvest)); err != nil {
		return err
	}
	return txn.Insert(term.Quad{S: term.IRI(record.IRI), P: term.IRI(vocab.ArcGraph), O: graph})
}

// additions reads the new statements of entries, for a bulk load.
type additions struct {
	l      *Ledger
	ctx    context.Context // of the commit, which outlives this reader
	p      portalID
	record portal
	left   []entryID
	quads  []term.Quad
	graph  term.Key
}

func (a *additions) Read() (term.Quad, error) {
	for len(a.quads) == 0 {
		if len(a.left) == 0 {
			return term.Quad{}, io.EOF
		}
		err := a.l.db.View(func(txn *kv.Txn) error {
			r, gone, _, err := a.l.overlap(txn, a.p, a.record).after(a.left[0])
			if err != nil {
				return err
			}
			a.graph = a.l.graph(a.record.IRI)
			if gone {
				a.graph = a.l.withdrawnGraph(a.record.IRI)
			}
			a.quads, err = a.l.content(txn, a.p, r)
			return err
		})
		if err = errors.Join(err, a.ctx.Err()); err != nil {
			return term.Quad{}, err
		}
		a.left = a.left[1:]
	}
	q := a.quads[0]
	a.quads = a.quads[1:]
	q.G = a.graph
	return q, nil
}
