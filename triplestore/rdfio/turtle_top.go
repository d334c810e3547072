package rdfio

import (
	"io"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// topLevel reads a directive, the head of a graph, or a subject.
func (d *turtleDecoder) topLevel() error {
	switch c := d.in.peek(); {
	case c == 0 && d.in.atEnd():
		if err := d.in.failure(); err != nil {
			return d.in.fail(0, "")
		}
		return io.EOF
	case c == '@':
		return d.atDirective()
	case c == '{' && d.trig:
		d.in.pos++
		d.graph, d.inGraph = "", true
		return nil
	}
	switch word := d.keyword(); {
	case strings.EqualFold(word, "prefix"):
		return d.prefixDirective(len(word), false)
	case strings.EqualFold(word, "base"):
		return d.baseDirective(len(word), false)
	case strings.EqualFold(word, "graph") && d.trig:
		return d.graphHead(len(word))
	case strings.EqualFold(word, "version") && d.rdf12:
		return d.versionDirective(len(word), false)
	}
	return d.subject()
}

// inBlock reads a subject inside { }, or the end of the block.
func (d *turtleDecoder) inBlock() error {
	if d.in.peek() == '}' {
		d.in.pos++
		d.graph, d.inGraph = "", false
		return nil
	}
	return d.subject()
}

// subject reads a subject, or in TriG the name of a graph before "{".
func (d *turtleDecoder) subject() error {
	switch d.in.peek() {
	case '[':
		b, open, err := d.openBrackets()
		if err != nil {
			return err
		}
		if open {
			if err := d.push(frame{kind: inStatement, want: wantVerbOrEnd, s: b}); err != nil {
				return err
			}
			return d.push(frame{kind: inBrackets, want: wantVerb, s: b})
		}
		return d.subjectOrGraph(b)
	case '(':
		if err := d.push(frame{kind: inStatement, want: wantVerb}); err != nil {
			return err
		}
		cell, err := d.openList()
		if err != nil {
			return err
		}
		d.stack[0].s = cell
		return nil
	}
	if d.doubleAngle() && d.in.at(2) != '(' {
		r, err := d.reifiedTriple(0)
		if err != nil {
			return err
		}
		return d.push(frame{kind: inStatement, want: wantVerbOrEnd, s: r})
	}
	s, err := d.resource("a subject: an IRI, a prefixed name, a blank node, '[' or '('")
	if err != nil {
		return err
	}
	return d.subjectOrGraph(s)
}

// subjectOrGraph opens the graph k if "{" follows, and otherwise a statement about k.
func (d *turtleDecoder) subjectOrGraph(k term.Key) error {
	d.space()
	if d.trig && !d.inGraph && d.in.peek() == '{' {
		d.in.pos++
		d.graph, d.inGraph = k, true
		return nil
	}
	return d.push(frame{kind: inStatement, want: wantVerb, s: k})
}

// graphHead reads the name of a graph and "{" after the keyword GRAPH, which is n bytes long.
func (d *turtleDecoder) graphHead(n int) error {
	d.in.pos += n
	d.space()
	var g term.Key
	var err error
	if d.in.peek() == '[' {
		g, err = d.anon()
	} else {
		g, err = d.resource("the name of a graph")
	}
	if err != nil {
		return err
	}
	d.space()
	if d.in.peek() != '{' {
		return d.in.fail(0, "'{'")
	}
	d.in.pos++
	d.graph, d.inGraph = g, true
	return nil
}

// keyword returns the run of fewer than 8 letters that comes next, or "" if it belongs to a longer name.
func (d *turtleDecoder) keyword() string {
	d.in.has(8)
	b := d.in.buf[d.in.pos:min(d.in.pos+8, d.in.end)]
	n := 0
	for n < len(b) && 'a' <= b[n]|0x20 && b[n]|0x20 <= 'z' {
		n++
	}
	if n == 0 || n == len(b) && n == 8 || d.continuesName(n) {
		return ""
	}
	return string(b[:n])
}

func (d *turtleDecoder) atDirective() error {
	switch {
	case d.in.hasPrefix("@prefix"):
		return d.prefixDirective(7, true)
	case d.in.hasPrefix("@base"):
		return d.baseDirective(5, true)
	case d.in.hasPrefix("@version") && d.rdf12:
		return d.versionDirective(8, true)
	}
	return d.in.fail(0, "@prefix, @base or a subject")
}

// prefixDirective reads the rest of a prefix directive after the keyword, which is n bytes long. If dot is set, "."
// ends the directive.
func (d *turtleDecoder) prefixDirective(n int, dot bool) error {
	d.in.pos += n
	if d.space(); d.in.atEnd() {
		return d.in.fail(0, "a prefix")
	}
	size, err := d.prefixLen()
	if err != nil {
		return err
	}
	prefix := string(d.in.buf[d.in.pos : d.in.pos+size])
	d.in.pos += size + 1
	k, err := d.directiveIRI("the IRI of a namespace in < >")
	if err != nil {
		return err
	}
	if _, known := d.ns[prefix]; !known && len(d.ns) >= d.lim.Prefixes {
		return d.in.failWith(0, limitError("a number of prefixes", int64(d.lim.Prefixes)))
	}
	d.ns[prefix] = k.Value()
	return d.directiveEnd(dot)
}

// baseDirective is prefixDirective for a base directive.
func (d *turtleDecoder) baseDirective(n int, dot bool) error {
	d.in.pos += n
	k, err := d.directiveIRI("the base IRI in < >")
	if err != nil {
		return err
	}
	if d.base, err = iri.NewBase(k.Value()); err != nil {
		return d.in.failWith(0, err)
	}
	return d.directiveEnd(dot)
}

// directiveIRI reads the IRI of a directive.
func (d *turtleDecoder) directiveIRI(expected string) (term.Key, error) {
	d.space()
	if d.in.peek() != '<' {
		return "", d.in.fail(0, "%s", expected)
	}
	return d.iriRef()
}

// directiveEnd reads the "." that ends a directive, if dot is set.
func (d *turtleDecoder) directiveEnd(dot bool) error {
	if !dot {
		return nil
	}
	d.space()
	if d.in.peek() != '.' {
		return d.in.fail(0, "'.'")
	}
	d.in.pos++
	return nil
}

// skip moves past the next full stop before white space.
func (d *turtleDecoder) skip() bool {
	if d.in.failure() != nil {
		return false
	}
	d.stack, d.queue = d.stack[:0], queue{}
	for d.in.peek() != 0 || !d.in.atEnd() {
		c := d.in.buf[d.in.pos]
		if c == '.' && (d.in.at(1) == 0 || terminals.Class[d.in.at(1)]&terminals.Space != 0) {
			d.in.pos++
			return true
		}
		d.in.pos++
	}
	d.graph, d.inGraph = "", false
	return d.in.failure() == nil
}
