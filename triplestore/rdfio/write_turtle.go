package rdfio

import (
	"io"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// turtleEncoder writes Turtle and TriG: statements that come one after the other with the same subject share it, those
// with the same predicate share that too. Prefixes are declared once they are used: all that the first 64 KiB need at
// the head of the document, later ones before the statement that needs them.
type turtleEncoder struct {
	w        io.Writer
	trig     bool
	short    shortener
	held     group
	body     []byte // rendered and not yet written
	scratch  []byte
	declare  []string // prefixes used by scratch for the first time
	declared map[string]bool
	headDone bool
	head     []string // prefixes the head declares
	graph    term.Key // of the open { }
	inGraph  bool
}

func encodeTurtle(w io.Writer, prefixes map[string]string, s Syntax) encoder {
	return &turtleEncoder{w: w, trig: s.Quads, short: newShortener(prefixes), declared: map[string]bool{}}
}

func (e *turtleEncoder) write(q term.Quad) error {
	if e.held.full(q) {
		if err := e.subject(); err != nil {
			return err
		}
	}
	e.held = append(e.held, q)
	return nil
}

func (e *turtleEncoder) flush() error {
	if err := e.subject(); err != nil {
		return err
	}
	return e.out()
}

func (e *turtleEncoder) close() error {
	if err := e.subject(); err != nil {
		return err
	}
	e.closeGraph()
	return e.out()
}

// subject renders what is held.
func (e *turtleEncoder) subject() error {
	if len(e.held) == 0 {
		return nil
	}
	e.held.sort()
	g := e.held[0].G
	var name []byte
	if g != "" {
		name = e.term(nil, g)
	}
	indent := ""
	if g != "" {
		indent = "    "
	}
	e.render(indent)
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
	e.held = e.held[:0]
	if len(e.body) >= windowSize {
		return e.out()
	}
	return nil
}

func (e *turtleEncoder) render(indent string) {
	b := e.term(append(e.scratch[:0], indent...), e.held[0].S)
	for i, q := range e.held {
		switch {
		case i > 0 && q.P == e.held[i-1].P:
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

// out writes the body, before that the head where it is still missing.
func (e *turtleEncoder) out() error {
	if len(e.body) == 0 {
		return nil
	}
	if !e.headDone {
		e.headDone = true
		slices.Sort(e.head)
		var head []byte
		for _, p := range e.head {
			head = e.short.appendDeclaration(head, p)
		}
		if len(head) > 0 {
			head = append(head, '\n')
			if _, err := e.w.Write(head); err != nil {
				return err
			}
		}
	}
	_, err := e.w.Write(e.body)
	e.body = e.body[:0]
	return err
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

// appendText writes text of several lines between triple quotes, so that people can read it.
func appendText(b []byte, s string) []byte {
	if !strings.Contains(s, "\n") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7F }) {
		return appendQuoted(b, s)
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

// abbreviated tells whether Turtle has a short form for the literal that keeps its lexical form.
func abbreviated(lex, datatype string) bool {
	kind, ok := strings.CutPrefix(datatype, xsdNS)
	if !ok || lex == "" {
		return false
	}
	if kind == "boolean" {
		return lex == "true" || lex == "false"
	}
	if kind != "integer" && kind != "decimal" && kind != "double" {
		return false
	}
	rest := strings.TrimLeft(lex, "+-")
	if len(lex)-len(rest) > 1 {
		return false
	}
	mantissa, exponent, hasExponent := rest, "", false
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = rest[:i], rest[i+1:], true
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !allDigits(whole) || !allDigits(fraction) {
		return false
	}
	switch kind {
	case "integer":
		return !hasExponent && !hasPoint && whole != ""
	case "decimal":
		return !hasExponent && hasPoint && fraction != ""
	}
	if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
		exponent = exponent[1:]
	}
	return hasExponent && exponent != "" && allDigits(exponent) && whole+fraction != ""
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// shortener finds the prefix of an IRI.
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
			continue // a prefix that cannot be declared is only a shortening lost
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

// split gives the prefix and local part of an IRI.
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
