package syntax

import (
	"maps"
	"strings"
)

// update parses Update (rule [29]): operations separated by ";", each with its own prologue.
func (p *parser) update() *Update {
	u := &Update{}
	for p.err == nil {
		p.prologue()
		if p.tok.kind == tEOF {
			break
		}
		p.count()
		p.newScope()
		u.Ops = append(u.Ops, p.operation())
		if !p.takePunct(";") {
			break
		}
	}
	p.needEnd("\";\" or the end of the update")
	u.Base, u.Prefixes, u.Version = p.base.String(), maps.Clone(p.prefixes), p.version
	return u
}

func (p *parser) operation() Operation {
	if p.tok.kind != tWord {
		p.fail("an update operation")
		return &Clear{}
	}
	word := strings.ToUpper(p.tok.val)
	switch word {
	case "LOAD":
		return p.load()
	case "CLEAR", "DROP":
		p.advance()
		silent := p.takeWord("SILENT")
		return &Clear{Silent: silent, Drop: word == "DROP", Target: p.graphRefAll()}
	case "CREATE":
		p.advance()
		silent := p.takeWord("SILENT")
		p.needWord("GRAPH")
		return &Create{Silent: silent, IRI: p.iri()}
	case "ADD", "COPY", "MOVE":
		p.advance()
		t := &Transfer{Kind: word, Silent: p.takeWord("SILENT"), From: p.graphOrDefault()}
		p.needWord("TO")
		t.To = p.graphOrDefault()
		return t
	case "INSERT":
		p.advance()
		if p.takeWord("DATA") {
			return &InsertData{p.quadData(false)}
		}
		return p.modifyAfter(&Modify{}, word)
	case "DELETE":
		p.advance()
		switch {
		case p.takeWord("DATA"):
			return &DeleteData{p.quadData(true)}
		case p.takeWord("WHERE"):
			p.noNew = true
			quads := p.quads()
			p.noNew = false
			return &DeleteWhere{quads}
		}
		return p.modifyAfter(&Modify{}, word)
	case "WITH":
		p.advance()
		m := &Modify{With: p.iri()}
		for _, word := range []string{"INSERT", "DELETE"} {
			if p.takeWord(word) {
				return p.modifyAfter(m, word)
			}
		}
		p.fail("DELETE or INSERT")
		return m
	case "SELECT", "ASK", "CONSTRUCT", "DESCRIBE":
		p.fail("an update operation")
		if p.err.Hint == "" {
			p.err.Hint = "this is a query: send it as one"
		}
		return &Clear{}
	}
	p.fail("INSERT, DELETE, WITH, LOAD, CLEAR, CREATE, DROP, COPY, MOVE or ADD")
	return &Clear{}
}

func (p *parser) load() Operation {
	p.advance()
	l := &Load{Silent: p.takeWord("SILENT"), Source: p.iri()}
	if p.takeWord("INTO") {
		p.needWord("GRAPH")
		l.Into = p.iri()
	}
	return l
}

// modifyAfter parses the rest of a DELETE/INSERT operation after its first keyword, which is word.
func (p *parser) modifyAfter(m *Modify, word string) Operation {
	if word == "DELETE" {
		m.HasDelete = true
		p.noNew = true
		m.Delete = p.quadTemplate()
		p.noNew = false
		if p.takeWord("INSERT") {
			word = "INSERT"
		}
	}
	if word == "INSERT" {
		m.HasInsert = true
		m.Insert = p.quadTemplate()
	}
	for p.takeWord("USING") {
		if p.takeWord("NAMED") {
			m.UsingNamed = append(m.UsingNamed, p.iri())
		} else {
			m.Using = append(m.Using, p.iri())
		}
	}
	p.needWord("WHERE")
	m.Where = p.group()
	m.Base = p.base.String()
	return m
}

// quadTemplate parses quads whose blank node labels may be repeated in the pattern.
func (p *parser) quadTemplate() []Quad {
	outer := p.labels
	p.labels = map[string]int{}
	defer func() { p.labels = outer }()
	return p.quads()
}

// quadData parses QuadData, without variables and, if remove is set, without blank nodes.
func (p *parser) quadData(remove bool) []Quad {
	p.inData, p.noNew = true, remove
	defer func() { p.inData, p.noNew = false, false }()
	return p.quads()
}

// quads parses "{" triples and GRAPH blocks "}".
func (p *parser) quads() []Quad {
	var out []Quad
	p.needPunct("{")
	block := func(graph Term) {
		var ts triples
		for p.err == nil && p.atTriples() {
			p.sameSubject(&ts, false)
			if !p.takePunct(".") {
				break
			}
		}
		for _, t := range ts.list {
			out = append(out, Quad{Triple: t, Graph: graph})
		}
	}
	for p.err == nil && !p.isPunct("}") {
		switch {
		case p.atTriples():
			block(Term{})
			if p.err == nil && !p.isPunct("}") && !p.isWord("GRAPH") {
				p.fail("\".\", GRAPH or \"}\"")
			}
		case p.takeWord("GRAPH"):
			name := p.varOrIRI()
			p.needPunct("{")
			block(name)
			p.needPunct("}")
			p.takePunct(".")
		default:
			p.fail("a triple, GRAPH or \"}\"")
		}
	}
	p.needPunct("}")
	return out
}

// graphOrDefault parses DEFAULT, GRAPH iri or an IRI.
func (p *parser) graphOrDefault() Target {
	if p.takeWord("DEFAULT") {
		return Target{Default: true}
	}
	p.takeWord("GRAPH")
	if !p.isIRI() {
		p.fail("DEFAULT or a graph's IRI")
		return Target{}
	}
	return Target{IRI: p.iri()}
}

// graphRefAll parses GRAPH iri, DEFAULT, NAMED or ALL.
func (p *parser) graphRefAll() Target {
	switch {
	case p.takeWord("DEFAULT"):
		return Target{Default: true}
	case p.takeWord("NAMED"):
		return Target{Named: true}
	case p.takeWord("ALL"):
		return Target{All: true}
	case p.takeWord("GRAPH"):
		return Target{IRI: p.iri()}
	}
	p.fail("GRAPH, DEFAULT, NAMED or ALL")
	return Target{}
}
