package sparql

import (
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"
)

// view is a dataset with another default graph.
type view struct {
	term.Dataset
	graph term.ID // used as the default graph: a graph, or AnyGraph for the union of all
	none  bool    // the default graph is empty
}

// unionDefault makes the union of all graphs the default graph.
func unionDefault(ds term.Dataset) term.Dataset { return view{Dataset: ds, graph: term.AnyGraph} }

// defaultGraph makes a named graph the default graph, as WITH does.
func defaultGraph(ds term.Dataset, iri string) (term.Dataset, error) {
	id, ok, err := ds.Lookup(term.IRI(iri))
	if err != nil {
		return nil, err
	}
	return view{Dataset: ds, graph: id, none: !ok}, nil
}

// Below returns the dataset that v changes.
func (v view) Below() term.Dataset { return v.Dataset }

func (v view) Scan(p term.Pattern, o term.Order) term.Cursor {
	switch {
	case p.G != term.DefaultGraph:
		return v.Dataset.Scan(p, o)
	case v.none:
		return exec.NoQuads{}
	}
	p.G = v.graph
	return &viewCursor{in: v.Dataset.Scan(p, o), union: v.graph == term.AnyGraph}
}

func (v view) Estimate(p term.Pattern) term.Estimate {
	switch {
	case p.G != term.DefaultGraph:
		return v.Dataset.Estimate(p)
	case v.none:
		return term.Estimate{Exact: true}
	}
	p.G = v.graph
	e := v.Dataset.Estimate(p)
	e.Exact = e.Exact && v.graph != term.AnyGraph // a triple may be in several graphs
	return e
}

// viewCursor puts its quads in the default graph. Every order ends with the graph, so a triple of several graphs comes
// several times in a row; viewCursor returns it once.
type viewCursor struct {
	in    term.Cursor
	union bool
	last  term.IDQuad
	out   []term.IDQuad
}

func (c *viewCursor) Next() ([]term.IDQuad, error) {
	for {
		rows, err := c.in.Next()
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		c.out = c.out[:0]
		for _, q := range rows {
			q.G = term.DefaultGraph
			if c.union && q == c.last {
				continue
			}
			c.last = q
			c.out = append(c.out, q)
		}
		if len(c.out) > 0 {
			return c.out, nil
		}
	}
}

func (c *viewCursor) SeekGE(q term.IDQuad) {
	q.G = 0 // before every graph
	c.in.SeekGE(q)
}

func (c *viewCursor) Close() { c.in.Close() }
