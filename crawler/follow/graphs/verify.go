package graphs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"odarchive/crawler/archive/describe"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Fault is a graph that does not agree with its record.
type Fault struct {
	Name    string // of the graph
	Missing int    // statements of the record that the graph does not have, at least
	Bad     error  // why the record of what the graph holds cannot be read; nil if it can

	id graphID
}

func (f Fault) String() string {
	if f.Bad != nil {
		return fmt.Sprintf("graph %s: %v", f.Name, f.Bad)
	}
	return fmt.Sprintf("graph %s: %d statements are missing", f.Name, f.Missing)
}

// verifyTries is how often Verify tries to count graphs without a commit in between, so that records and triples belong
// together.
const verifyTries = 5

// Verify compares each record with its digest, and the number of its statements with that of the graph. The graph may
// have more, since users can add statements. It calls fault for each difference. If commits never stop, it does not
// compare the numbers.
func (s *Store) Verify(ctx context.Context, triples *triplestore.Store, fault func(Fault)) error {
	var all []graphID
	var fewer []Fault
	for range verifyTries {
		var same bool
		var err error
		if all, fewer, same, err = s.counted(ctx, triples); err != nil {
			return fmt.Errorf("graphs: %w", err)
		}
		if same {
			break
		}
		fewer = nil
	}
	for _, f := range fewer {
		fault(f)
	}
	for _, id := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.db.View(func(txn *kv.Txn) error {
			r, known, err := tables{s, txn}.record(id)
			if err == nil && known {
				_, err = tables{s, txn}.verified(id, r)
			}
			if errors.Is(err, errBad) {
				fault(Fault{Name: r.Name, Bad: err, id: id})
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("graphs: %w", err)
		}
	}
	return nil
}

// counted returns all graphs, and those that have fewer statements than their records. same is false if there was a
// commit during the count.
func (s *Store) counted(ctx context.Context, triples *triplestore.Store) (all []graphID, fewer []Fault, same bool, err error) {
	sn := triples.Snapshot()
	defer sn.Release()
	named, err := sn.Named()
	if err != nil {
		return nil, nil, false, err
	}
	has := make(map[term.Key]int, len(named))
	for _, g := range named {
		has[g.Graph] = int(g.Triples)
	}
	err = s.db.View(func(txn *kv.Txn) error {
		t := tables{s, txn}
		err := txn.Scan(kv.SpaceGraphs, []byte{tableGraph}, nil, func(k, _ []byte) (bool, error) {
			if len(k) == 1+len(graphID{}) {
				all = append(all, graphID(k[1:]))
			}
			return true, ctx.Err()
		})
		for _, id := range all {
			if err != nil {
				return err
			}
			var r record
			if r, _, err = t.record(id); errors.Is(err, errBad) {
				err = nil // Verify reports it
				continue
			}
			if n := has[term.IRI(r.Name)]; r.Digest != "" && n < r.Quads {
				fewer = append(fewer, Fault{Name: r.Name, Missing: r.Quads - n, id: id})
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, false, err
	}
	after := triples.Snapshot()
	defer after.Release()
	return all, fewer, after.Position() == sn.Position(), nil
}

// verified returns the statements of a graph's record. It returns an error that wraps errBad if they do not have the
// record's digest.
func (t tables) verified(id graphID, r record) ([]term.Quad, error) {
	quads, err := t.content(id, r)
	if err != nil || r.Digest == "" {
		return nil, err
	}
	sum := sha256.New()
	var b []byte
	for _, q := range quads {
		b = appendStatement(b[:0], q)
		sum.Write(b)
	}
	if digestOf(sum) != r.Digest {
		return nil, fmt.Errorf("%w: %s has other statements than its digest says", errBad, r.Name)
	}
	return quads, nil
}

// mendPerTxn is the number of statements that one transaction of Mend adds.
const mendPerTxn = 10_000

// Mend repairs a graph: it adds the missing statements from the record or, if the record cannot be read, writes a new
// record from the graph. It returns a sentence about what it did, or "" if it could do nothing.
func (s *Store) Mend(ctx context.Context, triples *triplestore.Store, f Fault) (done string, err error) {
	if f.Name == "" { // the record does not even have the name of the graph
		return "", nil
	}
	if f.Bad != nil {
		return s.rewrite(ctx, triples, f)
	}
	var quads []term.Quad
	err = s.db.View(func(txn *kv.Txn) error {
		r, known, err := tables{s, txn}.record(f.id)
		if err == nil && known {
			quads, err = tables{s, txn}.verified(f.id, r)
		}
		return err
	})
	if errors.Is(err, errBad) {
		return "", nil // Verify reports this fault as well
	}
	if err != nil {
		return "", fmt.Errorf("graphs: %w", err)
	}
	for part := range slices.Chunk(quads, mendPerTxn) {
		err := triples.Update(ctx, func(txn *triplestore.Txn) error {
			for _, q := range part {
				q.G = term.IRI(f.Name)
				if err := txn.Insert(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("graphs: %s: %w", f.Name, err)
		}
	}
	return fmt.Sprintf("graph %s has the statements of its record again", f.Name), nil
}

// rewrite writes a new record from the statements in the graph.
func (s *Store) rewrite(ctx context.Context, triples *triplestore.Store, f Fault) (string, error) {
	var quads []term.Quad
	err := triples.View(ctx, func(sn *triplestore.Snapshot) error {
		g, ok, err := sn.Graph(term.IRI(f.Name))
		if err != nil || !ok {
			return err
		}
		return sn.Dump(ctx, term.Pattern{G: g}, func(q term.Quad) error {
			q.G = ""
			quads = append(quads, q)
			return nil
		})
	})
	if err != nil {
		return "", fmt.Errorf("graphs: %s: %w", f.Name, err)
	}
	slices.SortFunc(quads, compare)
	c := &Content{id: f.id, quads: slices.Compact(quads)}
	c.digest, c.parts = s.packed(c.quads)
	if err := s.writeParts(ctx, c); err != nil {
		return "", fmt.Errorf("graphs: %s: %w", f.Name, err)
	}
	err = triples.Update(ctx, func(txn *triplestore.Txn) error {
		t := tables{s, txn.KV()}
		r, known, err := t.record(f.id)
		if err != nil || !known {
			return err
		}
		if _, err := t.verified(f.id, r); err == nil || !errors.Is(err, errBad) {
			return err // a new version has replaced the record
		}
		next := r
		next.Digest, next.Quads, next.Parts = c.digest, len(c.quads), len(c.parts)
		if r.Digest != next.Digest {
			if err := t.deleteParts(f.id, r); err != nil {
				return err
			}
		}
		if err := describe.Replace(txn, s.describe(r), s.describe(next)); err != nil {
			return err
		}
		if next.Digest == "" {
			return t.delete(f.id)
		}
		return t.setRecord(f.id, next)
	})
	if err != nil {
		return "", fmt.Errorf("graphs: %s: %w", f.Name, err)
	}
	return fmt.Sprintf("graph %s: the record of its statements is written anew", f.Name), nil
}
