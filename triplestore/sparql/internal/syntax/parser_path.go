package syntax

import "odarchive/vocab"

// path parses Path: alternatives of sequences of elements (rules [88] to [96]).
func (p *parser) path() Path {
	if !p.enter() {
		return PathIRI{}
	}
	defer p.leave()
	l := p.pathSequence()
	for n := 1; p.takePunct("|"); n++ {
		if !p.chain(n) {
			break
		}
		l = &PathAlt{l, p.pathSequence()}
	}
	return l
}

func (p *parser) pathSequence() Path {
	l := p.pathEltOrInverse()
	for n := 1; p.takePunct("/"); n++ {
		if !p.chain(n) {
			break
		}
		l = &PathSeq{l, p.pathEltOrInverse()}
	}
	return l
}

func (p *parser) pathEltOrInverse() Path {
	if p.takePunct("^") {
		return &PathInverse{p.pathElt()}
	}
	return p.pathElt()
}

func (p *parser) pathElt() Path {
	e := p.pathPrimary()
	if p.tok.kind == tPunct && (p.tok.val == "?" || p.tok.val == "*" || p.tok.val == "+" && !p.signedNumberAhead()) {
		e = &PathMod{e, p.tok.val[0]}
		p.advance()
	}
	return e
}

func (p *parser) pathPrimary() Path {
	switch {
	case p.isA():
		p.advance()
		return PathIRI{vocab.RDFType}
	case p.takePunct("("):
		inner := p.path()
		p.needPunct(")")
		return inner
	case p.takePunct("!"):
		return p.pathNegated()
	case p.isIRI():
		return PathIRI{p.iri()}
	}
	p.fail("an IRI, \"a\", \"!\" or \"(\" of a property path")
	return PathIRI{}
}

// pathNegated parses a negated property set after "!".
func (p *parser) pathNegated() Path {
	n := &PathNot{}
	one := func() {
		inverse := p.takePunct("^")
		iri := vocab.RDFType
		if p.isA() {
			p.advance()
		} else {
			iri = p.iri()
		}
		if inverse {
			n.Inverse = append(n.Inverse, iri)
		} else {
			n.Forward = append(n.Forward, iri)
		}
	}
	if !p.takePunct("(") {
		one()
		return n
	}
	if p.takePunct(")") {
		return n
	}
	one()
	for p.takePunct("|") {
		one()
	}
	p.needPunct(")")
	return n
}
