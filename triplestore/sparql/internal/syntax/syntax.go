// Package syntax parses SPARQL 1.1, triple terms, base directions and VERSION of SPARQL 1.2, and LATERAL into a tree,
// and prints trees.
//
// ParseQuery and ParseUpdate are safe for untrusted text: size, nesting and the number of patterns are limited, and
// errors are *Errors with a line and a column. In the tree, prefixed names and relative IRIs are absolute, and the
// abbreviations of triples (lists, "[ ]", "a", reifiers and annotations) are written out. The parser also checks the
// rules beyond the grammar: the scope of variables and blank node labels, and the places of aggregates. So every tree
// that it returns is a valid request.
//
// String methods print a query or a group as one line of SPARQL, which parses into the same tree.
//
// The package does not evaluate anything. Package algebra translates the tree.
package syntax

import (
	"cmp"

	"odarchive/triplestore/term"
)

// Options limit what is accepted. Zero fields mean the defaults.
type Options struct {
	MaxBytes    int // max length of the text; default 4 MiB for queries, 64 MiB for updates
	MaxDepth    int // max nesting of groups, expressions, paths, lists and triple terms; default 256
	MaxPatterns int // max number of groups, their elements, and operations of an update; default 10,000

	// Prefixes are namespaces by prefixes that the text may use without declaring them, as it may by SPARQL only if
	// this is nil. A declaration in the text replaces one.
	Prefixes map[string]string
}

// withDefaults sets default limits, that of the length to maxBytes. A depth of 256 keeps recursions over a tree far
// from the limit of a goroutine's stack. The requests of people and programs stay below 30.
func (o Options) withDefaults(maxBytes int) Options {
	o.MaxBytes, o.MaxDepth = cmp.Or(max(o.MaxBytes, 0), maxBytes), cmp.Or(max(o.MaxDepth, 0), 256)
	o.MaxPatterns = cmp.Or(max(o.MaxPatterns, 0), 10_000)
	return o
}

const (
	maxQueryBytes  = 4 << 20
	maxUpdateBytes = 64 << 20
)

// ParseQuery parses a query. Relative IRIs are resolved against base until BASE replaces it, and kept if it is "". The
// error is an *Error.
func ParseQuery(src, base string, o Options) (*Query, error) {
	p, err := newParser(src, base, o.withDefaults(maxQueryBytes))
	if err != nil {
		return nil, err
	}
	q := p.query()
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}

// ParseUpdate parses an update, which is any number of operations separated by ";". The error is an *Error.
func ParseUpdate(src, base string, o Options) (*Update, error) {
	p, err := newParser(src, base, o.withDefaults(maxUpdateBytes))
	if err != nil {
		return nil, err
	}
	u := p.update()
	if p.err != nil {
		return nil, p.err
	}
	return u, nil
}

// ParseTerm parses one RDF term: <iri>, _:label, a literal, or a triple term of these. Prefixed names are errors. The
// error is an *Error.
func ParseTerm(src string, o Options) (term.Key, error) {
	p, err := newParser(src, "", o.withDefaults(maxQueryBytes))
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
		p.broken(0, "a variable is not a term", "")
		return "", p.err
	}
	return k, nil
}

// keyOf returns the key of t, or false if t contains a variable.
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
