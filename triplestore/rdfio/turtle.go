package rdfio

import (
	"io"

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
	n3    bool // "=" stands for owl:sameAs
	rdf12 bool
	mend  bool // IRIs
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

func decodeN3(r io.Reader, base iri.Base, o Options) decoder {
	d := newTurtleDecoder(r, base, o, false)
	d.n3 = true
	return d
}

func newTurtleDecoder(r io.Reader, base iri.Base, o Options, trig bool) *turtleDecoder {
	return &turtleDecoder{in: newInput(r, o), lim: o.Limits, trig: trig, rdf12: o.RDF12, mend: o.MendIRIs, base: base, ns: map[string]string{},
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
