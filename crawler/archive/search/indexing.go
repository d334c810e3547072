package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/queue/supervise"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Statements returns what portals say of subjects, and of what they refer to, such as publishers.
type Statements func(ctx context.Context, portals []string, subjects []term.Key) ([]term.Quad, error)

// Bounds of one call of IndexTexts.
const (
	maxIndexed  = 512     // resources of a transaction
	maxSubjects = 8       // datasets of a resource that are looked at
	fillBatch   = 4 * 512 // resources that one call marks in the index of an older program
)

// IndexTexts indexes the descriptions and contents of some of the resources that are marked, and returns their number,
// 0 if none is. What it reads blocks no writer. A resource that is marked again meanwhile stays marked.
//
// open returns a reader of statements, and what frees it. It is called after the marks are read, so that it reads a
// state that has what they were made for.
func (x *Index) IndexTexts(ctx context.Context, open func() (Statements, func())) (n int, err error) {
	x.indexing.Lock()
	defer x.indexing.Unlock()
	at := x.db.Committed()
	if x.settled && at == x.settledAt {
		return 0, nil // a scan would go through all marks that were deleted since the tables were compacted
	}
	todo, err := x.nextMarked(ctx)
	if err == nil && len(todo) > 0 {
		statements, release := open()
		err = x.readTexts(ctx, todo, statements)
		release()
	}
	if err == nil && len(todo) > 0 {
		err = x.writeTexts(ctx, todo)
	}
	if err == nil {
		x.forget(todo)
		x.settled, x.settledAt = len(todo) == 0, at
	}
	if err != nil {
		return 0, fmt.Errorf("archive: search index: %w", err)
	}
	return len(todo), nil
}

// marked is a marked resource on its way into the index.
type marked struct {
	id     string
	value  []byte // of the mark
	gone   bool   // the archive does not have the resource
	texts  texts
	traits traits
}

func (x *Index) nextMarked(ctx context.Context) (todo []*marked, err error) {
	err = x.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceSearch, []byte{markTable}, nil, func(k, v []byte) (bool, error) {
			todo = append(todo, &marked{id: string(k[1:]), value: bytes.Clone(v)})
			return len(todo) < maxIndexed, ctx.Err()
		})
	})
	return todo, err
}

// readTexts reads what the archive knows of resources.
func (x *Index) readTexts(ctx context.Context, todo []*marked, statements Statements) error {
	type of struct {
		portals, datasets string
	}
	said := map[of][]term.Quad{} // of the datasets of the resource before, which often has the same
	return records.View(x.db, func(t records.Txn) error {
		for _, one := range todo {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, known, err := t.Resource(one.id)
			if errors.Is(err, records.ErrBadRecord) {
				known, err = false, nil
			}
			if err != nil {
				return err
			}
			if !known {
				one.gone = true
				continue
			}
			var m metadata
			if len(r.Portals) > 0 {
				subjects := []term.Key{}
				for _, d := range r.Datasets[:min(len(r.Datasets), maxSubjects)] {
					subjects = append(subjects, term.IRI(d))
				}
				key := of{fmt.Sprint(r.Portals), fmt.Sprint(subjects)}
				quads, known := said[key]
				if !known {
					clear(said)
					if quads, err = statements(ctx, r.Portals, subjects); err != nil {
						return err
					}
					said[key] = quads
				}
				own, err := statements(ctx, r.Portals, []term.Key{term.IRI(r.URL)})
				if err != nil {
					return err
				}
				m.addStatements([]term.Key{term.IRI(r.URL)}, own) // what is said of the file itself comes first
				m.addStatements(subjects, quads)
			}
			c, known := x.remembered(one.value)
			var in *inspect.Inside
			if !known && r.Versions > 0 {
				if in, err = LatestInside(t, r); err != nil {
					return err
				}
			}
			err = supervise.Contain(func() error {
				if !known {
					c = contentsOf(in)
				}
				one.texts, one.traits = textsFrom(r, m, c)
				return nil
			})
			if err != nil { // a fault of this program with what the file holds
				one.texts, one.traits = textsFrom(r, m, contents{})
			}
		}
		return nil
	})
}

// writeTexts writes what was read of resources, unless they have been marked again since.
func (x *Index) writeTexts(ctx context.Context, todo []*marked) error {
	return x.db.Update(ctx, func(txn *kv.Txn) error {
		u := x.Begin(txn)
		for _, one := range todo {
			mark, known, err := txn.Get(kv.SpaceSearch, markKey(one.id))
			if err != nil {
				return err
			}
			if !known || !bytes.Equal(mark, one.value) {
				continue
			}
			if err := txn.Delete(kv.SpaceSearch, markKey(one.id)); err != nil {
				return err
			}
			doc, known, err := documentOf(u.txn, one.id)
			if err != nil {
				return err
			}
			if one.gone || !known {
				continue
			}
			if err := u.setTexts(doc, one.texts, one.traits); err != nil {
				return err
			}
		}
		return u.Write()
	})
}

// maxCounted bounds the marks that Waiting counts.
const maxCounted = 100_000

// Waiting returns how many resources wait for IndexTexts, at most about maxCounted of those that are marked.
func (x *Index) Waiting(ctx context.Context) (catalog.Indexing, error) {
	var n catalog.Indexing
	err := x.db.View(func(txn *kv.Txn) error { return waiting(ctx, txn, &n) })
	return n, err
}

func waiting(ctx context.Context, txn *kv.Txn, n *catalog.Indexing) error {
	s, known, err := readState(txn)
	if err != nil || !known {
		return err
	}
	n.Total = int(s.Next)
	if s.Format != format {
		n.Waiting = n.Total
		return nil
	}
	return txn.Scan(kv.SpaceSearch, []byte{markTable}, nil, func(_, _ []byte) (bool, error) {
		n.Waiting++
		return n.Waiting < maxCounted, ctx.Err()
	})
}

// PortalGraphs returns a Statements that reads, with dump, what is said of a subject in the graphs that graphsOf
// returns for portals.
func PortalGraphs(dump func(ctx context.Context, subject, graph term.Key, f func(term.Quad) error) error,
	graphsOf func(portal string) []term.Key) Statements {
	return func(ctx context.Context, portals []string, subjects []term.Key) (all []term.Quad, err error) {
		var graphs []term.Key
		for _, p := range portals {
			graphs = append(graphs, graphsOf(p)...)
		}
		read := func(subject term.Key, f func(term.Quad)) error {
			for _, g := range graphs {
				err := dump(ctx, subject, g, func(q term.Quad) error {
					f(q)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		for _, s := range subjects {
			var refers []term.Key
			err := read(s, func(q term.Quad) {
				if all = append(all, q); namesThings[q.P.Value()] && q.O.Kind() != term.KindLiteral && len(refers) < maxList {
					refers = append(refers, q.O)
				}
			})
			if err != nil {
				return nil, err
			}
			for _, o := range refers {
				if err := read(o, func(q term.Quad) { all = append(all, q) }); err != nil {
					return nil, err
				}
			}
		}
		return all, nil
	}
}
