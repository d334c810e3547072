package rdfio

import (
	"io"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const (
	rdfNS    = vocab.RDFNS
	xsdNS    = vocab.XSDNS
	rdfType  = term.Key("<" + vocab.RDFType)
	rdfFirst = term.Key("<" + vocab.RDFFirst)
	rdfRest  = term.Key("<" + vocab.RDFRest)
	rdfNil   = term.Key("<" + vocab.RDFNil)
)

// turtleDecoder reads Turtle, TriG and N3. It keeps open brackets on a stack of frames instead of the call stack. So
// one call of step handles about one term, statements are returned as soon as their object is known, and a number
// bounds the nesting.
type turtleDecoder struct {
	terms
	queue
	in       *input
	lim      Limits
	trig     bool
	n3       bool // '=' means owl:sameAs
	rdf12    bool
	longTags bool
	mend     bool // mend IRIs
	base     iri.Base
	ns       map[string]string

	graph   term.Key // of the open { }, empty for the default graph
	inGraph bool
	stack   []frame
}

// frame is an open construct: a statement, a [ ], a ( ) or an annotation.
type frame struct {
	kind frameKind
	want want
	s, p term.Key // in a list, s is the current cell

	o, reifier term.Key // RDF 1.2: the last object, and the reifier of its statement
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
	wantVerbOrEnd      // after ";" and after a subject [ ... ], which may be alone
	wantObject
	wantNext // punctuation after an object
	wantItem // the first item of a list, whose cell is already made
)

func decodeTurtle(r io.Reader, base iri.Base, o Options, s Syntax) decoder {
	return &turtleDecoder{terms: newTerms(o), in: newInput(r, o), lim: o.Limits, trig: s.Quads, n3: s.Name == "N3", rdf12: o.RDF12,
		longTags: o.LongTags, mend: o.MendIRIs,
		base: base, ns: map[string]string{}}
}

func (d *turtleDecoder) prefixes() map[string]string { return d.ns }

func (d *turtleDecoder) read() (term.Quad, error) { return d.queue.read(d.step) }

func (d *turtleDecoder) emit(s, p, o term.Key) {
	d.out = append(d.out, term.Quad{S: s, P: p, O: o, G: d.graph})
}

// step reads about one term.
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

// atClose reports whether the closing mark of the frame comes next.
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

// close ends the frame f, which is on top of the stack.
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

// verb reads the predicate of f.
func (d *turtleDecoder) verb(f *frame) (err error) {
	f.want = wantObject
	c := d.in.peek()
	if c == 'a' && !d.continuesName(1) {
		d.in.pos++
		f.p = rdfType
		return nil
	}
	if c == '<' {
		f.p, err = d.iriRef()
		return err
	}
	if c == '=' && d.n3 && d.in.at(1) != '>' {
		d.in.pos++
		f.p = "<http://www.w3.org/2002/07/owl#sameAs"
		return nil
	}
	if c == '_' || c == 0 || !d.startsName() {
		return d.in.fail(0, "a predicate: an IRI, a prefixed name or 'a'")
	}
	f.p, err = d.prefixedName()
	return err
}

// object reads the object of s and p, or the opening bracket of an object [ ] or ( ).
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

// openBrackets consumes "[" and makes the blank node. If "]" follows, it consumes that too and open is false.
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

// openList consumes "(" and returns the first cell, or rdf:nil for an empty list.
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

// item reads the next item of the list f, or its end.
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
