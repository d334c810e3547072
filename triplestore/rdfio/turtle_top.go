package rdfio

import (
	"bytes"
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

// inBlock reads a subject inside of { } or its end.
func (d *turtleDecoder) inBlock() error {
	if d.in.peek() == '}' {
		d.in.pos++
		d.graph, d.inGraph = "", false
		return nil
	}
	return d.subject()
}

// subject reads a subject, or in TriG the name of a graph with '{' behind it.
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

func (d *turtleDecoder) subjectOrGraph(k term.Key) error {
	d.space()
	if d.trig && !d.inGraph && d.in.peek() == '{' {
		d.in.pos++
		d.graph, d.inGraph = k, true
		return nil
	}
	return d.push(frame{kind: inStatement, want: wantVerb, s: k})
}

// graphHead reads what follows the word GRAPH.
func (d *turtleDecoder) graphHead(n int) error {
	d.in.pos += n
	d.space()
	var g term.Key
	var err error
	if d.in.peek() == '[' {
		var open bool
		if g, open, err = d.openBrackets(); err == nil && open {
			err = d.in.fail(0, "']'")
		}
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

// keyword is the run of letters that stands next, if it is not part of a prefixed name.
func (d *turtleDecoder) keyword() string {
	d.in.has(8)
	b := d.in.buf[d.in.pos:min(d.in.pos+8, d.in.end)]
	n := 0
	for n < len(b) && 'a' <= b[n]|0x20 && b[n]|0x20 <= 'z' {
		n++
	}
	if n == 0 || n == len(b) && n == 8 || d.nameGoesOn(n) {
		return ""
	}
	return string(b[:n])
}

func (d *turtleDecoder) atDirective() error {
	d.in.has(8)
	b := d.in.buf[d.in.pos:d.in.end]
	switch {
	case bytes.HasPrefix(b, []byte("@prefix")):
		return d.prefixDirective(7, true)
	case bytes.HasPrefix(b, []byte("@base")):
		return d.baseDirective(5, true)
	case bytes.HasPrefix(b, []byte("@version")) && d.rdf12:
		return d.versionDirective(8, true)
	}
	return d.in.fail(0, "@prefix, @base or a subject")
}

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
	d.space()
	if d.in.peek() != '<' {
		return d.in.fail(0, "the IRI of a namespace in < >")
	}
	k, err := d.iriRef()
	if err != nil {
		return err
	}
	if _, known := d.ns[prefix]; !known && len(d.ns) >= d.lim.Prefixes {
		return d.in.failWith(0, limitError("a number of prefixes", int64(d.lim.Prefixes)))
	}
	d.ns[prefix] = k.Value()
	return d.directiveEnd(dot)
}

func (d *turtleDecoder) baseDirective(n int, dot bool) error {
	d.in.pos += n
	d.space()
	if d.in.peek() != '<' {
		return d.in.fail(0, "the base IRI in < >")
	}
	k, err := d.iriRef()
	if err != nil {
		return err
	}
	if d.base, err = iri.NewBase(k.Value()); err != nil {
		return d.in.failWith(0, err)
	}
	return d.directiveEnd(dot)
}

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

// skip goes behind the next full stop that is followed by white space.
func (d *turtleDecoder) skip() bool {
	if d.in.failure() != nil {
		return false
	}
	d.stack, d.out, d.next = d.stack[:0], d.out[:0], 0
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
