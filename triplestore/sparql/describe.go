package sparql

import (
	"context"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// description streams the answer to a DESCRIBE, the concise bounded description of each resource: its statements, and
// those of the blank nodes they lead to, from the default graph and the named graphs of the query's dataset.
type description struct {
	ctx    context.Context
	ds     term.Dataset
	graphs map[term.ID]bool // of FROM and FROM NAMED; nil means all
	in     solutions
	fixed  []term.Key // resources named in the query
	cols   []int      // columns of in that name resources

	queue []term.ID // subjects to describe
	seen  map[term.ID]bool
	out   []term.Quad // ready to be returned
	at    int
}

func newDescription(ctx context.Context, ds term.Dataset, q *algebra.Query, in solutions, vars []algebra.Var) *description {
	d := &description{ctx: ctx, ds: ds, in: in, seen: map[term.ID]bool{}}
	for _, n := range q.Describe {
		if n.Var == "" {
			d.fixed = append(d.fixed, n.Term)
			continue
		}
		for i, v := range vars {
			if v == n.Var {
				d.cols = append(d.cols, i)
			}
		}
	}
	if q.From != nil || q.FromNamed != nil {
		d.graphs = map[term.ID]bool{}
		for _, iri := range append(append([]string{}, q.From...), q.FromNamed...) {
			if iri == algebra.DefaultGraph {
				d.graphs[term.DefaultGraph] = true
				continue
			}
			if id, ok, err := ds.Lookup(term.IRI(iri)); err == nil && ok {
				d.graphs[id] = true
			}
		}
	}
	return d
}

func (d *description) next() (term.Quad, error) {
	for d.at == len(d.out) {
		d.out, d.at = d.out[:0], 0
		if len(d.queue) == 0 {
			if err := d.queueNext(); err != nil {
				return term.Quad{}, err
			}
			continue
		}
		s := d.queue[0]
		d.queue = d.queue[1:]
		if err := d.describe(s); err != nil {
			return term.Quad{}, fmt.Errorf("sparql: describe: %w", err)
		}
	}
	q := d.out[d.at]
	d.at++
	return q, nil
}

func (d *description) close()      {}
func (d *description) ready() bool { return d.at < len(d.out) }

// queueNext queues the next resources. It returns io.EOF if there are no more.
func (d *description) queueNext() error {
	if len(d.fixed) > 0 {
		k := d.fixed[0]
		d.fixed = d.fixed[1:]
		return d.add(k)
	}
	if len(d.cols) == 0 {
		return io.EOF
	}
	row, err := d.in.Next()
	if err != nil {
		return err
	}
	for _, c := range d.cols {
		if err := d.add(row[c]); err != nil {
			return err
		}
	}
	return nil
}

func (d *description) add(k term.Key) error {
	if kind := k.Kind(); kind != term.KindIRI && kind != term.KindBlank {
		return nil
	}
	id, ok, err := d.ds.Lookup(k)
	if err != nil || !ok {
		return err
	}
	d.visit(id)
	return nil
}

func (d *description) visit(id term.ID) {
	if !d.seen[id] {
		d.seen[id] = true
		d.queue = append(d.queue, id)
	}
}

// describe appends the statements about s to out, each once even if several graphs contain it.
func (d *description) describe(s term.ID) error {
	c := d.ds.Scan(term.Pattern{S: s}, term.SPO)
	defer c.Close()
	var ids []term.ID
	var last term.IDQuad
	for {
		if err := d.ctx.Err(); err != nil {
			return context.Cause(d.ctx)
		}
		rows, err := c.Next()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, q := range rows {
			if d.graphs != nil && !d.graphs[q.G] {
				continue
			}
			if q.P == last.P && q.O == last.O {
				continue
			}
			last = q
			if q.O.Kind() == term.KindBlank {
				d.visit(q.O)
			}
			ids = append(ids, q.S, q.P, q.O)
		}
		if len(ids) > maxDescribed {
			return errors.New("a resource has too many statements to be described")
		}
	}
	keys := make([]term.Key, len(ids))
	if err := d.ds.Keys(ids, keys); err != nil {
		return err
	}
	for i := 0; i < len(keys); i += 3 {
		d.out = append(d.out, term.Quad{S: keys[i], P: keys[i+1], O: keys[i+2]})
	}
	return nil
}

// maxDescribed is the maximum number of terms in the statements about one resource.
const maxDescribed = 9_000_000
