package rdfio

import (
	"bufio"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// turtleEncoder writes Turtle and TriG. Consecutive statements with the same subject share it, and those of them with
// the same predicate share that too. Prefixes are declared when they are first used: those of the first 64 KiB at the
// head of the document, later ones before the statement that needs them.
type turtleEncoder struct {
	group
	w        *bufio.Writer
	short    shortener
	body     []byte // rendered and not yet written
	scratch  []byte
	declare  []string // prefixes used by scratch for the first time
	declared map[string]bool
	headDone bool
	head     []string // prefixes that the head declares
	graph    term.Key // of the open { }
	inGraph  bool
}

func encodeTurtle(w *bufio.Writer, prefixes map[string]string, s Syntax) encoder {
	e := &turtleEncoder{w: w, short: newShortener(prefixes), declared: map[string]bool{}}
	e.emit = e.subject
	return e
}

func (e *turtleEncoder) flush() {
	e.group.flush()
	e.writeBody()
}

func (e *turtleEncoder) close() {
	e.closeGraph()
	e.writeBody()
}

// subject renders the statements of a subject.
func (e *turtleEncoder) subject(quads []term.Quad) {
	g := quads[0].G
	var name []byte
	indent := ""
	if g != "" {
		name = e.term(nil, g)
		indent = "    "
	}
	e.render(quads, indent)
	if e.headDone {
		if len(e.declare) > 0 {
			e.closeGraph()
			for _, p := range e.declare {
				e.body = e.short.appendDeclaration(e.body, p)
			}
		}
	} else {
		e.head = append(e.head, e.declare...)
	}
	e.declare = e.declare[:0]
	if e.inGraph && e.graph != g {
		e.closeGraph()
	}
	if g != "" && !e.inGraph {
		e.body = append(append(e.body, name...), " {\n"...)
		e.graph, e.inGraph = g, true
	}
	e.body = append(e.body, e.scratch...)
	if len(e.body) >= windowSize {
		e.writeBody()
	}
}

// render writes the statements of a subject to scratch.
func (e *turtleEncoder) render(quads []term.Quad, indent string) {
	b := e.term(append(e.scratch[:0], indent...), quads[0].S)
	for i, q := range quads {
		switch {
		case i > 0 && q.P == quads[i-1].P:
			b = append(b, ", "...)
			b = e.term(b, q.O)
			continue
		case i > 0:
			b = append(b, " ;\n"...)
			b = append(append(b, indent...), "    "...)
		default:
			b = append(b, ' ')
		}
		if q.P == rdfType {
			b = append(b, 'a')
		} else {
			b = e.term(b, q.P)
		}
		b = e.term(append(b, ' '), q.O)
	}
	e.scratch = append(b, " .\n"...)
}

func (e *turtleEncoder) closeGraph() {
	if e.inGraph {
		e.body = append(e.body, "}\n"...)
		e.graph, e.inGraph = "", false
	}
}

// writeBody writes the body, and before it the head, if that is still missing.
func (e *turtleEncoder) writeBody() {
	if len(e.body) == 0 {
		return
	}
	if !e.headDone {
		e.headDone = true
		slices.Sort(e.head)
		for _, p := range e.head {
			e.w.Write(e.short.appendDeclaration(nil, p))
		}
		if len(e.head) > 0 {
			e.w.WriteByte('\n')
		}
	}
	e.w.Write(e.body)
	e.body = e.body[:0]
}

func (e *turtleEncoder) term(b []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindIRI:
		return e.iri(b, k.Value())
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		b = e.term(append(b, "<<( "...), s)
		b = e.term(append(b, ' '), p)
		b = e.term(append(b, ' '), o)
		return append(b, " )>>"...)
	case term.KindLiteral:
		return e.literal(b, k)
	}
	return appendNT(b, k)
}

func (e *turtleEncoder) iri(b []byte, iri string) []byte {
	prefix, local, ok := e.short.split(iri)
	if !ok || local != "" && !validLabel(local) {
		return append(append(append(b, '<'), iri...), '>')
	}
	if !e.declared[prefix] {
		e.declared[prefix] = true
		e.declare = append(e.declare, prefix)
	}
	return append(append(append(b, prefix...), ':'), local...)
}

func (e *turtleEncoder) literal(b []byte, k term.Key) []byte {
	lex := k.Value()
	if k[0] == '^' {
		dt := k.Datatype()
		if abbreviated(lex, dt) {
			return append(b, lex...)
		}
		b = appendText(b, lex)
		return e.iri(append(b, "^^"...), dt)
	}
	if k[0] == '"' {
		return appendText(b, lex)
	}
	b = append(append(appendText(b, lex), '@'), k.Lang()...)
	if dir := k.Dir(); dir != "" {
		b = append(append(b, "--"...), dir...)
	}
	return b
}

// appendText appends a string, in triple quotes if it has several lines.
func appendText(b []byte, s string) []byte {
	if !strings.Contains(s, "\n") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7F }) {
		return appendQuoted(b, s, false)
	}
	b = append(b, `"""`...)
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, `"""`...)
}

// abbreviated reports whether Turtle can write the literal without quotes and datatype.
func abbreviated(lex, datatype string) bool {
	kind, ok := strings.CutPrefix(datatype, xsdNS)
	if !ok {
		return false
	}
	if kind == "boolean" {
		return lex == "true" || lex == "false"
	}
	return terminals.IsNumber(lex, kind)
}

// shortener finds prefixes for IRIs.
type shortener struct {
	byStem   map[string]string // namespace that ends in '#' or '/' -> prefix
	rest     []string          // prefixes of all other namespaces, longest namespace first
	prefixes map[string]string
}

func newShortener(prefixes map[string]string) shortener {
	s := shortener{byStem: map[string]string{}, prefixes: map[string]string{}}
	for _, p := range slices.Sorted(maps.Keys(prefixes)) {
		ns := prefixes[p]
		if terminals.Prefix(p) != len(p) || checkTerm(term.IRI(ns), 0) != nil {
			continue // its IRIs are written in full
		}
		s.prefixes[p] = ns
		if strings.HasSuffix(ns, "#") || strings.HasSuffix(ns, "/") {
			if _, taken := s.byStem[ns]; !taken {
				s.byStem[ns] = p
			}
		} else {
			s.rest = append(s.rest, p)
		}
	}
	slices.SortStableFunc(s.rest, func(a, b string) int { return len(s.prefixes[b]) - len(s.prefixes[a]) })
	return s
}

// split splits an IRI into a prefix and the rest after the namespace.
func (s *shortener) split(iri string) (prefix, local string, ok bool) {
	for _, sep := range [2]byte{'#', '/'} {
		if i := strings.LastIndexByte(iri, sep); i >= 0 {
			if p, ok := s.byStem[iri[:i+1]]; ok {
				return p, iri[i+1:], true
			}
		}
	}
	for _, p := range s.rest {
		if local, ok := strings.CutPrefix(iri, s.prefixes[p]); ok {
			return p, local, true
		}
	}
	return "", "", false
}

func (s *shortener) appendDeclaration(b []byte, prefix string) []byte {
	b = append(append(b, "@prefix "...), prefix...)
	b = append(append(b, ": <"...), s.prefixes[prefix]...)
	return append(b, "> .\n"...)
}
