package syntax

import (
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// This file parses triple terms, reifiers and annotations (SPARQL 1.2).

// where is the kind of place of a triple term, which limits what it may contain.
type where byte

const (
	patternTerm where = iota // variables and blank nodes are allowed
	exprTerm                 // variables are allowed
	dataTerm                 // neither are allowed
)

// tripleTerm parses "<<(" s p o ")>>".
func (p *parser) tripleTerm(w where) Term {
	if !p.enter() {
		return Term{}
	}
	defer p.leave()
	p.needPunct("<<(")
	t := &Triple{S: p.tripleNode(w, true)}
	t.P = p.plainVerb(w)
	t.O = p.tripleNode(w, false)
	p.needPunct(")>>")
	if p.err != nil {
		return Term{}
	}
	return fold(t)
}

// fold returns a triple term as a Key if it has no variables and no blank nodes.
func fold(t *Triple) Term {
	for _, n := range [3]Term{t.S, t.P, t.O} {
		if n.Key == "" || n.Key.Kind() == term.KindBlank {
			return Term{Triple: t}
		}
	}
	return Term{Key: term.Triple(t.S.Key, t.P.Key, t.O.Key)}
}

// tripleNode parses the subject or object of a triple term.
func (p *parser) tripleNode(w where, subject bool) Term {
	if p.isPunct("<<(") {
		if subject && w != patternTerm {
			p.fail("a variable or an IRI as the subject of a triple term")
		}
		return p.tripleTerm(w)
	}
	if p.tok.kind == tBlank && w != patternTerm || p.isVar() && w == dataTerm {
		p.fail("a term that this triple term may contain")
		return Term{}
	}
	if p.isPunct("[") && w == patternTerm {
		return p.anon()
	}
	at := p.tok
	t := p.varOrTerm()
	if subject && w != patternTerm && t.Key.Kind() == term.KindLiteral {
		p.broken(at.at, "a literal cannot be the subject of a triple term", "")
	}
	return t
}

// anon parses "[]".
func (p *parser) anon() Term {
	p.noBlank(p.tok.at)
	p.advance()
	p.needPunct("]")
	return Term{Key: p.blankNode()}
}

// plainVerb parses a predicate that is not a path.
func (p *parser) plainVerb(w where) Term {
	switch {
	case p.isVar() && w != dataTerm:
		return Term{Var: p.variable()}
	case p.isA():
		p.advance()
		return iriTerm(vocab.RDFType)
	case p.isIRI():
		return iriTerm(p.iri())
	}
	p.fail("a predicate")
	return Term{}
}

// reified parses "<<" s p o ("~" name?)? ">>" and returns the reifier, which rdf:reifies the triple term.
func (p *parser) reified(ts *triples) Term {
	if !p.enter() {
		return Term{}
	}
	defer p.leave()
	p.needPunct("<<")
	t := &Triple{S: p.reifiedNode(ts)}
	t.P = p.plainVerb(patternTerm)
	t.O = p.reifiedNode(ts)
	var name Term
	if p.takePunct("~") {
		name = p.reifierName()
	} else {
		p.noBlank(p.tok.at)
		name = Term{Key: p.blankNode()}
	}
	p.needPunct(">>")
	ts.add(name, iriTerm(vocab.RDFNS+"reifies"), nil, fold(t))
	return name
}

// reifiedNode parses the subject or object of a reified triple.
func (p *parser) reifiedNode(ts *triples) Term {
	switch {
	case p.isPunct("<<"):
		return p.reified(ts)
	case p.isPunct("<<("):
		return p.tripleTerm(patternTerm)
	case p.isPunct("["):
		return p.anon()
	}
	return p.varOrTerm()
}

// reifierName parses what may follow "~": a variable, an IRI, a blank node, or nothing for a new blank node.
func (p *parser) reifierName() Term {
	switch {
	case p.isVar():
		return Term{Var: p.variable()}
	case p.isIRI():
		return iriTerm(p.iri())
	case p.tok.kind == tBlank:
		return Term{Key: p.label()}
	case p.isPunct("["):
		return p.anon()
	}
	p.noBlank(p.tok.at)
	return Term{Key: p.blankNode()}
}

// annotations parses "~ name" and "{| ... |}" after the object of t.
func (p *parser) annotations(ts *triples, t Triple, isPath, paths bool) {
	var name Term
	have := false
	for p.err == nil && (p.isPunct("~") || p.isPunct("{|")) {
		if isPath {
			p.fail("no annotation after a path")
			return
		}
		if p.takePunct("~") {
			name, have = p.reifierName(), true
			ts.add(name, iriTerm(vocab.RDFNS+"reifies"), nil, fold(&t))
			continue
		}
		p.advance()
		if !have {
			p.noBlank(p.tok.at)
			name = Term{Key: p.blankNode()}
			ts.add(name, iriTerm(vocab.RDFNS+"reifies"), nil, fold(&t))
		}
		if !p.enter() {
			return
		}
		p.propertyList(ts, name, paths)
		p.leave()
		p.needPunct("|}")
		have = false
	}
}
