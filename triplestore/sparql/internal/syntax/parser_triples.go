package syntax

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// triples collects the triples of a block, with abbreviations written out.
type triples struct{ list []Triple }

func (ts *triples) add(s, p Term, path Path, o Term) {
	ts.list = append(ts.list, Triple{S: s, P: p, O: o, Path: path})
}

func iriTerm(iri string) Term { return Term{Key: term.IRI(iri)} }

// atTriples reports whether TriplesSameSubject may begin here.
func (p *parser) atTriples() bool {
	switch p.tok.kind {
	case tVar, tIRI, tName, tBlank, tString, tNumber:
		return true
	case tPunct:
		switch p.tok.val {
		case "(", "[", "<<", "<<(", "+", "-":
			return true
		}
	case tWord:
		return p.isWord("true") || p.isWord("false")
	}
	return false
}

// sameSubject parses TriplesSameSubject, or TriplesSameSubjectPath if paths are allowed.
func (p *parser) sameSubject(ts *triples, paths bool) {
	alone := p.isPunct("[") || p.isPunct("(") || p.isPunct("<<")
	s, node := p.node(ts, paths)
	// "[ :p :o ] ." and "<< s p o >> ." are complete, "[] ." and "() ." are not.
	if alone && node && !p.atVerb(paths) {
		return
	}
	p.propertyList(ts, s, paths)
}

// atVerb reports whether a predicate may begin here.
func (p *parser) atVerb(paths bool) bool {
	if p.isVar() || p.isIRI() || p.isA() {
		return true
	}
	return paths && (p.isPunct("^") || p.isPunct("!") || p.isPunct("("))
}

// propertyList parses PropertyListNotEmpty, or PropertyListPathNotEmpty if paths are allowed.
func (p *parser) propertyList(ts *triples, s Term, paths bool) {
	for p.err == nil {
		if !p.atVerb(paths) {
			p.fail("a predicate")
			return
		}
		verb, path := p.verb(paths)
		for p.err == nil {
			o, _ := p.node(ts, paths)
			ts.add(s, verb, path, o)
			p.annotations(ts, Triple{S: s, P: verb, O: o}, path != nil, paths)
			if !p.takePunct(",") {
				break
			}
		}
		if !p.isPunct(";") {
			return
		}
		for p.takePunct(";") {
		}
		if !p.atVerb(paths) {
			return
		}
	}
}

// verb parses a predicate. It returns a term, or a path that is more than one IRI.
func (p *parser) verb(paths bool) (Term, Path) {
	if p.isVar() {
		return Term{Var: p.variable()}, nil
	}
	if !paths {
		if p.isA() {
			p.advance()
			return iriTerm(vocab.RDFType), nil
		}
		return iriTerm(p.iri()), nil
	}
	path := p.path()
	if iri, ok := path.(PathIRI); ok {
		return iriTerm(iri.IRI), nil
	}
	return Term{}, path
}

// node parses GraphNode: a term, or an abbreviation whose triples it adds to ts. full reports whether it has added any.
func (p *parser) node(ts *triples, paths bool) (t Term, full bool) {
	if !p.enter() {
		return Term{}, false
	}
	defer p.leave()
	at := p.tok.at
	switch {
	case p.takePunct("["):
		p.noBlank(at)
		t = Term{Key: p.blankNode()}
		if p.takePunct("]") {
			return t, false
		}
		p.propertyList(ts, t, paths)
		p.needPunct("]")
		return t, true
	case p.takePunct("("):
		if p.takePunct(")") {
			return iriTerm(vocab.RDFNil), false
		}
		p.noBlank(at)
		return p.list(ts, paths), true
	case p.isPunct("<<"):
		return p.reified(ts), true
	case p.isPunct("<<("):
		return p.tripleTerm(patternTerm), false
	}
	return p.varOrTerm(), false
}

// noBlank reports an error at a "[ ]" or list if blank nodes are not allowed.
func (p *parser) noBlank(at int) {
	if p.noNew {
		p.broken(at, "blank nodes are not allowed in what is deleted", "use a variable")
	}
}

// list parses the rest of a non-empty collection after "(" and returns its first cell.
func (p *parser) list(ts *triples, paths bool) Term {
	first, rest := iriTerm(vocab.RDFFirst), iriTerm(vocab.RDFRest)
	head := Term{Key: p.blankNode()}
	for cell := head; p.err == nil; {
		o, _ := p.node(ts, paths)
		ts.add(cell, first, nil, o)
		if p.takePunct(")") {
			ts.add(cell, rest, nil, iriTerm(vocab.RDFNil))
			break
		}
		next := Term{Key: p.blankNode()}
		ts.add(cell, rest, nil, next)
		cell = next
	}
	return head
}

// varOrTerm parses a variable, an IRI, a literal or a blank node label.
func (p *parser) varOrTerm() Term {
	switch {
	case p.isVar():
		return Term{Var: p.variable()}
	case p.isIRI():
		return iriTerm(p.iri())
	case p.tok.kind == tBlank:
		return Term{Key: p.label()}
	}
	if k, ok := p.literal(); ok {
		return Term{Key: k}
	}
	p.fail("a variable or a term")
	return Term{}
}

// literal parses a string, a number with its sign, or a boolean. It returns false if none begins here.
func (p *parser) literal() (term.Key, bool) {
	switch p.tok.kind {
	case tString:
		return p.stringLiteral(), true
	case tNumber:
		return p.number(""), true
	case tPunct:
		sign := p.tok.val
		if sign != "+" && sign != "-" {
			return "", false
		}
		if p.signedNumberAhead() {
			p.advance()
			return p.number(sign), true
		}
	case tWord:
		if p.isWord("true") || p.isWord("false") {
			k := term.Typed(strings.ToLower(p.tok.val), vocab.XSDBoolean)
			p.advance()
			return k, true
		}
	}
	return "", false
}

// signedNumberAhead reports whether a number follows the sign that is the current token, without white space.
func (p *parser) signedNumberAhead() bool {
	c := p.lex.at(0)
	return isDigit(c) || c == '.' && isDigit(p.lex.at(1))
}

func (p *parser) number(sign string) term.Key {
	k := term.Typed(sign+p.tok.val, vocab.XSDNS+p.tok.local)
	p.advance()
	return k
}

func (p *parser) stringLiteral() term.Key {
	s := p.tok.val
	p.advance()
	switch {
	case p.tok.kind == tLang:
		k := term.Lang(s, p.tok.val)
		p.advance()
		return k
	case p.takePunct("^^"):
		return term.Typed(s, p.iri())
	}
	return term.String(s)
}
