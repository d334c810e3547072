package csvw

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"odarchive/triplestore/term"
)

// Options are options of Convert.
type Options struct {
	Minimal bool // only triples from cells (csv2rdf 4.3)
	MaxRows int  // maximum rows per table; default 10 million
}

// Namespaces and terms.
const (
	ns      = "http://www.w3.org/ns/csvw#"
	rdfNS   = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	xsdNS   = "http://www.w3.org/2001/XMLSchema#"
	rdfType = rdfNS + "type"
)

// Convert calls emit with the triples of a source's tables, in document order, and returns the warnings. The error is
// emit's, the context's or the loader's, or has ErrMetadata in its chain.
func Convert(ctx context.Context, s Source, o Options, emit func(term.Quad) error) ([]string, error) {
	g, err := Locate(s)
	if err != nil {
		return nil, err
	}
	if o.MaxRows == 0 {
		o.MaxRows = 10_000_000
	}
	c := &converter{ctx: ctx, load: s.Load, o: o, emit: emit, warnings: g.Warnings}
	err = c.group(g)
	if c.err != nil {
		err = c.err
	}
	return c.warnings, err
}

type converter struct {
	ctx      context.Context
	load     Load
	o        Options
	emit     func(term.Quad) error
	warnings []string
	blanks   int
	err      error
}

func (c *converter) warn(format string, a ...any) {
	if len(c.warnings) < 1000 {
		c.warnings = append(c.warnings, fmt.Sprintf(format, a...))
	}
}

func (c *converter) blank() term.Key {
	c.blanks++
	return term.Blank("c" + strconv.Itoa(c.blanks))
}

func (c *converter) triple(s, p, o term.Key) {
	if c.err == nil {
		c.err = c.emit(term.Quad{S: s, P: p, O: o})
	}
}

// subject returns the node of something with an optional id.
func (c *converter) subject(id string) term.Key {
	if id != "" {
		return term.IRI(id)
	}
	return c.blank()
}

func (c *converter) group(g *Group) error {
	var node term.Key
	if !c.o.Minimal {
		node = c.subject(g.ID)
		c.triple(node, term.IRI(rdfType), term.IRI(ns+"TableGroup"))
		c.common(node, g.Common)
	}
	for _, t := range g.Tables {
		if err := c.table(node, t); err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

func (c *converter) table(group term.Key, t *Table) error {
	src, err := c.open(t)
	if err != nil {
		return err
	}
	if t.Suppress {
		return nil
	}
	columns := c.columns(t, src)
	var node term.Key
	if !c.o.Minimal {
		node = c.subject(t.ID)
		c.triple(group, term.IRI(ns+"table"), node)
		c.triple(node, term.IRI(rdfType), term.IRI(ns+"Table"))
		c.triple(node, term.IRI(ns+"url"), term.IRI(t.URL))
		c.common(node, t.Common)
		for _, text := range src.comments {
			c.triple(node, term.IRI("http://www.w3.org/2000/01/rdf-schema#comment"), term.String(text))
		}
	}
	for n := 1; n <= c.o.MaxRows && src.next(); n++ {
		if n&255 == 0 && c.ctx.Err() != nil {
			return fmt.Errorf("csvw: %w", c.ctx.Err())
		}
		c.row(node, t, c.read(columns, src, n))
		if c.err != nil {
			return c.err
		}
	}
	return src.err()
}

func (t *Table) dialect() *Dialect {
	if t.Dialect != nil {
		return t.Dialect
	}
	return defaultDialect()
}

// open loads a table. A missing one is an error.
func (c *converter) open(t *Table) (*source, error) {
	b, err := c.load(t.URL)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("csvw: %w: no table at %s", ErrMetadata, t.URL)
	}
	if err != nil {
		return nil, fmt.Errorf("csvw: load %s: %w", t.URL, err)
	}
	return newSource(b, t.dialect())
}
