package rdfio

import (
	"bytes"
	"io"
	"strings"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

const (
	rdfNS    = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	xsdNS    = "http://www.w3.org/2001/XMLSchema#"
	rdfType  = term.Key("<" + rdfNS + "type")
	rdfFirst = term.Key("<" + rdfNS + "first")
	rdfRest  = term.Key("<" + rdfNS + "rest")
	rdfNil   = term.Key("<" + rdfNS + "nil")
)

// turtleDecoder reads Turtle and TriG. The open brackets are kept in a stack of its own instead of the program's, so
// that one call of step handles one term, statements come out as soon as their object is known, and nesting is bounded
// by a number.
type turtleDecoder struct {
	in    *input
	lim   Limits
	trig  bool
	rdf12 bool
	base  iri.Base
	ns    map[string]string
	keys  *keyCache
	blank blanks
	buf   []byte

	graph   term.Key // of the open { }, empty for the default graph
	inGraph bool
	stack   []frame
	out     []term.Quad // ready, from next on
	next    int
}

// frame is one open construct: the statement itself, a [ ] or a ( ).
type frame struct {
	kind frameKind
	want want
	s, p term.Key // for a list s is the current cell

	o, reifier term.Key // RDF 1.2: the last object, and what reifies its statement
}

type (
	frameKind byte
	want      byte
)

const (
	inStatement  frameKind = iota
	inBrackets             // [ ... ]
	inList                 // ( ... )
	inAnnotation           // {| ... |}
)

const (
	wantVerb      want = iota
	wantVerbOrEnd      // after a subject [ ... ], which may stand alone, and after ';'
	wantObject
	wantNext // what may follow an object
	wantItem // the first item of a list, whose cell exists already
)

func decodeTurtle(r io.Reader, base iri.Base, o Options) decoder {
	return newTurtleDecoder(r, base, o, false)
}
func decodeTriG(r io.Reader, base iri.Base, o Options) decoder {
	return newTurtleDecoder(r, base, o, true)
}

func newTurtleDecoder(r io.Reader, base iri.Base, o Options, trig bool) *turtleDecoder {
	return &turtleDecoder{in: newInput(r, o), lim: o.Limits, trig: trig, rdf12: o.RDF12, base: base, ns: map[string]string{},
		keys: newKeyCache(), blank: blanks{prefix: o.BlankPrefix}}
}

func (d *turtleDecoder) prefixes() map[string]string { return d.ns }

func (d *turtleDecoder) read() (term.Quad, error) {
	for d.next == len(d.out) {
		d.out, d.next = d.out[:0], 0
		if err := d.step(); err != nil {
			return term.Quad{}, err
		}
	}
	d.next++
	return d.out[d.next-1], nil
}

func (d *turtleDecoder) emit(s, p, o term.Key) {
	d.out = append(d.out, term.Quad{S: s, P: p, O: o, G: d.graph})
}

// step moves on by about one term.
func (d *turtleDecoder) step() error {
	d.space()
	if len(d.stack) == 0 {
		if d.inGraph {
			return d.inBlock()
		}
		return d.topLevel()
	}
	f := &d.stack[len(d.stack)-1]
	if f.kind == inList {
		return d.item(f)
	}
	switch f.want {
	case wantVerb, wantVerbOrEnd:
		if f.want == wantVerbOrEnd && d.atClose(f) {
			return d.close(f)
		}
		return d.verb(f)
	case wantObject:
		f.want = wantNext
		top := len(d.stack) - 1
		o, err := d.object(f.s, f.p)
		d.stack[top].o, d.stack[top].reifier = o, ""
		return err
	}
	if annotated, err := d.annotation(f); annotated || err != nil {
		return err
	}
	switch d.in.peek() {
	case ',':
		d.in.pos++
		f.want = wantObject
		return nil
	case ';':
		for d.in.peek() == ';' {
			d.in.pos++
			d.space()
		}
		f.want = wantVerbOrEnd
		return nil
	}
	return d.close(f)
}

// atClose tells whether the frame's closing mark stands next.
func (d *turtleDecoder) atClose(f *frame) bool {
	switch c := d.in.peek(); f.kind {
	case inBrackets:
		return c == ']'
	case inAnnotation:
		return c == '|' && d.in.at(1) == '}'
	default:
		return c == '.' || c == '}' && d.inGraph
	}
}

func (d *turtleDecoder) close(f *frame) error {
	switch c := d.in.peek(); {
	case f.kind == inBrackets && c == ']', f.kind == inStatement && c == '.':
		d.in.pos++
	case f.kind == inStatement && c == '}' && d.inGraph: // inBlock consumes it
	case f.kind == inBrackets:
		return d.in.fail(0, "',', ';' or ']'")
	case f.kind == inAnnotation && d.atClose(f):
		d.in.pos += 2
	case f.kind == inAnnotation:
		return d.in.fail(0, "',', ';' or '|}'")
	case d.inGraph:
		return d.in.fail(0, "',', ';', '.' or '}'")
	default:
		return d.in.fail(0, "',', ';' or '.'")
	}
	d.stack = d.stack[:len(d.stack)-1]
	return nil
}

func (d *turtleDecoder) push(f frame) error {
	if len(d.stack) >= d.lim.Depth {
		return d.in.failWith(0, limitError("a nesting", int64(d.lim.Depth)))
	}
	d.stack = append(d.stack, f)
	return nil
}

func (d *turtleDecoder) verb(f *frame) (err error) {
	f.want = wantObject
	c := d.in.peek()
	if c == 'a' && !d.nameGoesOn(1) {
		d.in.pos++
		f.p = rdfType
		return nil
	}
	if c == '<' {
		f.p, err = d.iriRef()
		return err
	}
	if c == '_' || c == 0 || !d.startsName() {
		return d.in.fail(0, "a predicate: an IRI, a prefixed name or 'a'")
	}
	f.p, err = d.prefixedName()
	return err
}

// object reads the object of s and p, or the beginning of one that is a [ ] or ( ).
func (d *turtleDecoder) object(s, p term.Key) (o term.Key, err error) {
	open := false
	switch c := d.in.peek(); {
	case c == '[':
		o, open, err = d.openBrackets()
	case c == '(':
		o, err = d.openList()
	case d.doubleAngle() && d.in.at(2) == '(':
		o, err = d.tripleTerm(0)
	case d.doubleAngle():
		o, err = d.reifiedTriple(0)
	default:
		o, err = d.term()
	}
	if err != nil {
		return "", err
	}
	d.emit(s, p, o)
	if open {
		err = d.push(frame{kind: inBrackets, want: wantVerb, s: o})
	}
	return o, err
}

// openBrackets consumes '[' and, where nothing is in it, also ']'.
func (d *turtleDecoder) openBrackets() (b term.Key, open bool, err error) {
	d.in.pos++
	d.space()
	b = d.blank.fresh()
	if d.in.peek() == ']' {
		d.in.pos++
		return b, false, nil
	}
	return b, true, nil
}

// openList consumes '(' and makes the first cell; an empty list is rdf:nil.
func (d *turtleDecoder) openList() (term.Key, error) {
	d.in.pos++
	d.space()
	if d.in.peek() == ')' {
		d.in.pos++
		return rdfNil, nil
	}
	cell := d.blank.fresh()
	return cell, d.push(frame{kind: inList, want: wantItem, s: cell})
}

func (d *turtleDecoder) item(f *frame) error {
	if d.in.peek() == ')' {
		d.in.pos++
		d.emit(f.s, rdfRest, rdfNil)
		d.stack = d.stack[:len(d.stack)-1]
		return nil
	}
	if f.want != wantItem {
		cell := d.blank.fresh()
		d.emit(f.s, rdfRest, cell)
		f.s = cell
	}
	f.want = wantNext
	_, err := d.object(f.s, rdfFirst)
	return err
}

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
		if c == '.' && (d.in.at(1) == 0 || classes[d.in.at(1)]&classSpace != 0) {
			d.in.pos++
			return true
		}
		d.in.pos++
	}
	d.graph, d.inGraph = "", false
	return d.in.failure() == nil
}
