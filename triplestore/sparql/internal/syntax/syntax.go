// Package syntax reads SPARQL 1.1 (and the parts of 1.2 that concern triple terms, base direction and VERSION)
// into a tree, and prints the tree again.
//
// ParseQuery and ParseUpdate take text from strangers: size, nesting and the number of patterns are limited, an
// error is always an *Error with a line and a column, and nothing panics or recurses without bound. In the tree
// prefixed names and relative IRIs are already absolute, and the abbreviations of triples (lists, "[ ]", "a",
// reifiers and annotations) are written out. What the grammar's notes ask for beyond the grammar (the scope of
// variables and blank node labels, where aggregates may stand) is checked too, so a tree that came without an error
// is a valid request.
//
// String prints a tree as one line of SPARQL that reads back as the same tree.
//
// The package knows nothing of evaluation: package algebra translates the tree.
package syntax

import "odarchive/triplestore/term"

// Options limits what is accepted; zero fields take the defaults.
type Options struct {
	MaxBytes    int // length of the text; default 1 MiB for queries, 64 MiB for updates
	MaxDepth    int // nesting of groups, expressions, paths, lists and triple terms; default 256
	MaxPatterns int // group elements, expressions' EXISTS and subqueries in total; default 10,000
}

// Default limits. A depth of 256 keeps every recursion over a tree far below a goroutine's stack; people and programs
// stay below 30.
const (
	DefaultQueryBytes  = 1 << 20
	DefaultUpdateBytes = 64 << 20
	DefaultDepth       = 256
	DefaultPatterns    = 10_000
)

func (o Options) withDefaults(bytes int) Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = bytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultDepth
	}
	if o.MaxPatterns <= 0 {
		o.MaxPatterns = DefaultPatterns
	}
	return o
}

// ParseQuery reads a query. base is what relative IRIs are resolved against until the text says BASE; "" leaves them
// as they are. The error is an *Error.
func ParseQuery(src, base string, o Options) (*Query, error) {
	p, err := newParser(src, base, o.withDefaults(DefaultQueryBytes))
	if err != nil {
		return nil, err
	}
	q := p.query()
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}

// ParseUpdate reads an update request: any number of operations, separated by ";". The error is an *Error.
func ParseUpdate(src, base string, o Options) (*Update, error) {
	p, err := newParser(src, base, o.withDefaults(DefaultUpdateBytes))
	if err != nil {
		return nil, err
	}
	u := p.update()
	if p.err != nil {
		return nil, p.err
	}
	return u, nil
}

// ParseTerm reads one RDF term as SPARQL writes it: <iri>, _:label, a literal, or a triple term of such. Prefixed names
// are refused.
func ParseTerm(src string, o Options) (term.Key, error) {
	p, err := newParser(src, "", o.withDefaults(DefaultQueryBytes))
	if err != nil {
		return "", err
	}
	t := Term{}
	if p.isPunct("<<(") {
		t = p.tripleTerm(patternTerm)
	} else {
		t = p.varOrTerm()
	}
	p.needEnd("the end of the term")
	if p.err != nil {
		return "", p.err
	}
	k, ok := keyOf(t)
	if !ok {
		p.broken(0, "a variable is no term", "")
		return "", p.err
	}
	return k, nil
}

// keyOf is the key of a term without variables.
func keyOf(t Term) (term.Key, bool) {
	if t.Var != "" {
		return "", false
	}
	if t.Triple == nil {
		return t.Key, true
	}
	s, ok1 := keyOf(t.Triple.S)
	p, ok2 := keyOf(t.Triple.P)
	o, ok3 := keyOf(t.Triple.O)
	return term.Triple(s, p, o), ok1 && ok2 && ok3
}
