package rdfio

import (
	"bytes"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// This file reads the additions of RDF 1.2 to the text syntaxes: triple terms <<( s p o )>>, base directions
// "..."@en--ltr and VERSION, and in Turtle and TriG reified triples << s p o ~ r >> and annotations ~ r {| p o |}.

const rdfReifies = term.Key("<" + rdfNS + "reifies")

// tagLen returns the length of the language tag at the start of b, in RDF 1.2 with its base direction, or 0. If long is
// false, subtags in RDF 1.2 have at most the 8 characters of BCP 47.
func tagLen(b []byte, rdf12, long bool) int {
	n := terminals.LangTag(b)
	if n == 0 || !rdf12 {
		return n
	}
	for sub := range bytes.SplitSeq(b[:n], []byte("-")) {
		if len(sub) > 8 && !long {
			return 0
		}
	}
	if rest := b[n:]; bytes.HasPrefix(rest, []byte("--ltr")) || bytes.HasPrefix(rest, []byte("--rtl")) {
		n += len("--ltr")
	}
	return n
}

// needsTag reports whether literals of the datatype must have a language tag.
func needsTag(datatype term.Key) bool {
	return datatype == "<"+term.LangString || datatype == "<"+term.DirLang
}

// object reads the IRI, blank node, literal or, in RDF 1.2, triple term at i.
func (d *lineDecoder) object(i, depth int) (term.Key, int, error) {
	switch {
	case i < len(d.line) && d.line[i] == '"':
		return d.literal(i)
	case d.rdf12 && bytes.HasPrefix(d.line[i:], []byte("<<")):
		return d.tripleTerm(i, depth)
	}
	return d.resource(i, "an object: an IRI, a blank node or a literal")
}

// tripleTerm reads the triple term at i.
func (d *lineDecoder) tripleTerm(i, depth int) (k term.Key, _ int, err error) {
	if depth == maxTripleDepth {
		return "", i, d.in.failWith(i, limitError("a nesting of triple terms", maxTripleDepth))
	}
	if !bytes.HasPrefix(d.line[i:], []byte("<<(")) {
		return "", i, d.in.fail(i, "'<<(' of a triple term")
	}
	var s, p, o term.Key
	if s, i, err = d.resource(space(d.line, i+3), "the subject of a triple term"); err != nil {
		return "", i, err
	}
	i = space(d.line, i)
	if i == len(d.line) || d.line[i] != '<' {
		return "", i, d.in.fail(i, "the predicate of a triple term")
	}
	if p, i, err = d.iri(i); err != nil {
		return "", i, err
	}
	if o, i, err = d.object(space(d.line, i), depth+1); err != nil {
		return "", i, err
	}
	i = space(d.line, i)
	if !bytes.HasPrefix(d.line[i:], []byte(")>>")) {
		return "", i, d.in.fail(i, "')>>' at the end of a triple term")
	}
	return term.Triple(s, p, o), i + 3, nil
}

// version skips the VERSION line at i and reports whether there is one.
func (d *lineDecoder) version(i int) (bool, error) {
	const word = "VERSION"
	if !d.rdf12 || !bytes.HasPrefix(d.line[i:], []byte(word)) {
		return false, nil
	}
	i = space(d.line, i+len(word))
	if i == len(d.line) || d.line[i] != '"' {
		return false, d.in.fail(i, "a version between quotes")
	}
	end := bytes.IndexByte(d.line[i+1:], '"')
	if end < 0 {
		return false, d.in.fail(len(d.line), "'\"' at the end of a version")
	}
	if i = space(d.line, i+end+2); i < len(d.line) && d.line[i] != '\r' && d.line[i] != '#' {
		return false, d.in.fail(i, "the end of the line")
	}
	d.endStatement(i)
	return true, nil
}

// doubleAngle reports whether "<<" comes next.
func (d *turtleDecoder) doubleAngle() bool { return d.rdf12 && d.in.peek() == '<' && d.in.at(1) == '<' }

// tripleTerm reads <<( s p o )>>.
func (d *turtleDecoder) tripleTerm(depth int) (term.Key, error) {
	d.in.pos += len("<<(")
	s, p, err := d.tripleHead(depth, false)
	if err != nil {
		return "", err
	}
	o, err := d.tripleObject(depth, false)
	if err != nil {
		return "", err
	}
	d.space()
	if !d.in.hasPrefix(")>>") {
		return "", d.in.fail(0, "')>>' at the end of a triple term")
	}
	d.in.pos += 3
	return term.Triple(s, p, o), nil
}

// reifiedTriple reads << s p o ~ r >> and returns its reifier.
func (d *turtleDecoder) reifiedTriple(depth int) (term.Key, error) {
	d.in.pos += len("<<")
	s, p, err := d.tripleHead(depth, true)
	if err != nil {
		return "", err
	}
	o, err := d.tripleObject(depth, true)
	if err != nil {
		return "", err
	}
	d.space()
	var r term.Key
	if d.in.peek() == '~' {
		if r, err = d.reifier(); err != nil {
			return "", err
		}
		d.space()
	} else {
		r = d.blank.fresh()
	}
	if !d.in.hasPrefix(">>") {
		return "", d.in.fail(0, "'>>' at the end of a reified triple")
	}
	d.in.pos += 2
	d.emit(r, rdfReifies, term.Triple(s, p, o))
	return r, nil
}

// tripleHead reads the subject and the predicate of a triple term or, if reified is set, of a reified triple.
func (d *turtleDecoder) tripleHead(depth int, reified bool) (s, p term.Key, err error) {
	if depth == maxTripleDepth {
		return "", "", d.in.failWith(0, limitError("a nesting of triples", maxTripleDepth))
	}
	d.space()
	switch {
	case reified && d.doubleAngle() && d.in.at(2) != '(':
		s, err = d.reifiedTriple(depth + 1)
	case d.in.peek() == '[':
		s, err = d.anon()
	default:
		s, err = d.resource("a subject: an IRI, a prefixed name or a blank node")
	}
	if err != nil {
		return "", "", err
	}
	d.space()
	f := frame{}
	err = d.verb(&f)
	d.space()
	return s, f.p, err
}

// tripleObject reads the object of a triple term or a reified triple.
func (d *turtleDecoder) tripleObject(depth int, reified bool) (term.Key, error) {
	switch {
	case d.doubleAngle() && d.in.at(2) == '(':
		if depth+1 == maxTripleDepth {
			return "", d.in.failWith(0, limitError("a nesting of triples", maxTripleDepth))
		}
		return d.tripleTerm(depth + 1)
	case d.doubleAngle() && reified:
		return d.reifiedTriple(depth + 1)
	case d.in.peek() == '[':
		return d.anon()
	}
	return d.term()
}

// anon reads "[]".
func (d *turtleDecoder) anon() (term.Key, error) {
	b, open, err := d.openBrackets()
	if err == nil && open {
		err = d.in.fail(0, "']'")
	}
	return b, err
}

// reifier reads "~" and the name of a reifier, which is a new blank node if there is none.
func (d *turtleDecoder) reifier() (term.Key, error) {
	d.in.pos++
	d.space()
	switch c := d.in.peek(); {
	case c == '[':
		return d.anon()
	case c == '_', c == '<', d.startsName():
		return d.resource("the name of a reifier")
	}
	return d.blank.fresh(), nil
}

// annotation reads "~ r" or the opening "{|" after the object of f. It returns false if neither comes next.
func (d *turtleDecoder) annotation(f *frame) (bool, error) {
	switch {
	case !d.rdf12:
		return false, nil
	case d.in.peek() == '~':
		r, err := d.reifier()
		if err != nil {
			return false, err
		}
		f.reifier = r
		d.emit(r, rdfReifies, term.Triple(f.s, f.p, f.o))
		return true, nil
	case d.in.hasPrefix("{|"):
		d.in.pos += 2
		r := f.reifier
		f.reifier = ""
		if r == "" {
			r = d.blank.fresh()
			d.emit(r, rdfReifies, term.Triple(f.s, f.p, f.o))
		}
		return true, d.push(frame{kind: inAnnotation, want: wantVerb, s: r})
	}
	return false, nil
}

// versionDirective skips a version, after a keyword of n bytes. Options decide what may be read, not the version.
func (d *turtleDecoder) versionDirective(n int, dot bool) error {
	d.in.pos += n
	d.space()
	q := d.in.peek()
	if q != '"' && q != '\'' || d.in.at(1) == q && d.in.at(2) == q {
		return d.in.fail(0, "a version between single quotation marks")
	}
	d.buf = d.buf[:0]
	if err := d.text(q, false); err != nil {
		return err
	}
	if !strings.HasPrefix(string(d.buf), "1.") {
		return d.in.fail(0, "version 1.1, 1.2 or 1.2-basic")
	}
	return d.directiveEnd(dot)
}
