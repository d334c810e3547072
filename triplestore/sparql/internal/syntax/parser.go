package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// parser is a recursive-descent parser of SPARQL (§19.8), with one method per rule or small family of rules. It keeps
// the first error, after which every token is the end of the text, so that all loops end.
type parser struct {
	lex      lexer
	tok      token // the current token
	prev     int   // end of the token before
	err      *Error
	opts     Options
	depth    int
	patterns int

	base     iri.Base
	prefixes map[string]string
	version  string

	fresh  string // prefix of generated labels, which occurs in no label of the text
	made   int
	labels map[string]int // blank node label -> scope of its first use
	scope  int            // number of the current basic graph pattern or template
	scopes int            // number of scopes so far
	inData bool           // variables are not allowed (INSERT DATA, DELETE DATA)
	noNew  bool           // blank nodes are not allowed (DELETE)
	agg    aggState
	remote int // nesting of SERVICE, whose expressions another engine evaluates
	regex  int // constant regular expressions compiled so far
}

func newParser(src, base string, o Options) (*parser, error) {
	if len(src) > o.MaxBytes {
		return nil, &Error{Line: 1, Col: 1, Problem: fmt.Sprintf("the text is %d bytes long, the limit is %d", len(src), o.MaxBytes)}
	}
	b, err := iri.NewBase(base)
	if err != nil {
		return nil, &Error{Line: 1, Col: 1, Problem: fmt.Sprintf("the given base IRI is invalid: %v", err)}
	}
	p := &parser{lex: lexer{src: strings.TrimPrefix(src, "\ufeff")}, opts: o, base: b, prefixes: map[string]string{},
		labels: map[string]int{}}
	p.fresh = "0."
	for strings.Contains(src, "_:"+p.fresh) {
		p.fresh += "0."
	}
	p.advance()
	return p, nil
}

// advance reads the next token.
func (p *parser) advance() {
	p.prev = p.tok.end
	if p.err != nil {
		p.tok = token{at: len(p.lex.src), end: len(p.lex.src)}
		return
	}
	p.tok = p.lex.next()
	if p.tok.kind == tBad {
		p.broken(p.tok.at, p.tok.val, "")
	}
}

// fail records that the grammar expects something else than the current token.
func (p *parser) fail(expected string) {
	if p.err == nil {
		p.report(&Error{Found: p.found(), Expected: expected}, p.tok.at)
	}
}

// broken records that the text at a byte offset breaks a rule beyond the grammar.
func (p *parser) broken(at int, problem, hint string) {
	if p.err == nil {
		p.report(&Error{Problem: problem, Hint: hint}, at)
	}
}

func (p *parser) report(e *Error, at int) {
	e.Line, e.Col = place(p.lex.src, at)
	if e.Found == "" {
		e.Found = p.found()
	}
	p.err = e
	p.tok = token{at: len(p.lex.src), end: len(p.lex.src)}
}

// found returns the current token, quoted and shortened.
func (p *parser) found() string {
	if p.tok.kind == tEOF {
		return "the end of the text"
	}
	s := p.lex.src[p.tok.at:max(p.tok.at, p.tok.end)]
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}

// enter begins a recursion, which leave ends. It returns false if the nesting is too deep, or after another error.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > p.opts.MaxDepth {
		p.broken(p.tok.at, fmt.Sprintf("nested deeper than the limit of %d levels", p.opts.MaxDepth), "")
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// count counts a pattern and records an error if there are too many.
func (p *parser) count() {
	p.patterns++
	if p.patterns > p.opts.MaxPatterns {
		p.broken(p.tok.at, fmt.Sprintf("more than the limit of %d graph patterns", p.opts.MaxPatterns), "")
	}
}

func (p *parser) isPunct(s string) bool { return p.tok.kind == tPunct && p.tok.val == s }
func (p *parser) isWord(s string) bool  { return p.tok.kind == tWord && strings.EqualFold(p.tok.val, s) }

// isA reports whether the token is the keyword "a", the only one whose case matters.
func (p *parser) isA() bool { return p.tok.kind == tWord && p.tok.val == "a" }

// takePunct consumes s, if it is the current token, and reports whether it did.
func (p *parser) takePunct(s string) bool {
	if p.isPunct(s) {
		p.advance()
		return true
	}
	return false
}

// takeWord is takePunct for keywords.
func (p *parser) takeWord(s string) bool {
	if p.isWord(s) {
		p.advance()
		return true
	}
	return false
}

// takeJoined is takeWord for a keyword that the name of a built-in follows without a space, as in FILTERregex(…).
func (p *parser) takeJoined(s string) bool {
	if n := len(s); p.tok.kind == tWord && len(p.tok.val) > n && strings.EqualFold(p.tok.val[:n], s) && isBuiltin(p.tok.val[n:]) {
		p.tok.val = p.tok.val[n:]
		p.tok.at += n
		return true
	}
	return false
}

func (p *parser) needPunct(s string) {
	if !p.takePunct(s) {
		p.fail("\"" + s + "\"")
	}
}

func (p *parser) needWord(s string) {
	if !p.takeWord(s) {
		p.fail(s)
	}
}

// needEnd requires the end of the text.
func (p *parser) needEnd(expected string) {
	if p.tok.kind != tEOF {
		p.fail(expected)
	}
}

// prologue parses BASE, PREFIX and VERSION, in any number and order.
func (p *parser) prologue() {
	for p.err == nil {
		switch {
		case p.takeWord("BASE"):
			at := p.tok.at
			b, err := iri.NewBase(p.iriRef())
			if err != nil {
				p.broken(at, err.Error(), "")
				return
			}
			p.base = b
		case p.takeWord("PREFIX"):
			if p.tok.kind != tName || p.tok.local != "" {
				p.fail("a prefix ending in a colon")
				return
			}
			name := p.tok.val
			p.advance()
			p.prefixes[name] = p.iriRef()
		case p.takeWord("VERSION"):
			if p.tok.kind != tString || p.tok.local == "long" {
				p.fail("a version in quotes, such as \"1.2\"")
				return
			}
			p.version = p.tok.val
			p.advance()
		default:
			return
		}
	}
}

// iriRef parses an IRI in angle brackets.
func (p *parser) iriRef() string {
	if p.tok.kind != tIRI {
		p.fail("an IRI in angle brackets")
		return ""
	}
	return p.iri()
}

// resolve resolves an IRI against the base. Without a base it returns ref.
func (p *parser) resolve(ref string) string {
	abs, err := p.base.Resolve(ref)
	if err != nil {
		return ref
	}
	return abs
}

// isIRI reports whether the token is an IRI or a prefixed name.
func (p *parser) isIRI() bool { return p.tok.kind == tIRI || p.tok.kind == tName }

// iri parses an IRI or a prefixed name and returns the absolute IRI.
func (p *parser) iri() string {
	var abs string
	switch p.tok.kind {
	case tIRI:
		abs = p.resolve(p.tok.val)
	case tName:
		ns, ok := p.namespace(p.tok.val)
		if !ok {
			p.broken(p.tok.at, fmt.Sprintf("the prefix %q is not declared", p.tok.val+":"), prefixHint(p.tok.val))
			return ""
		}
		abs = ns + p.tok.local
		if endsInAuthority(ns) {
			if err := iri.CheckPort(abs); err != nil {
				p.broken(p.tok.at, err.Error(), "")
				return ""
			}
		}
	default:
		p.fail("an IRI or a prefixed name")
		return ""
	}
	p.advance()
	return abs
}

// namespace returns the namespace of a prefix. One of the options counts as declared from its first use on, so that the
// tree has the prefixes that the text uses.
func (p *parser) namespace(prefix string) (ns string, ok bool) {
	if ns, ok = p.prefixes[prefix]; !ok {
		if ns, ok = p.opts.Prefixes[prefix]; ok {
			p.prefixes[prefix] = ns
		}
	}
	return ns, ok
}

// endsInAuthority reports whether a local name after a namespace may belong to a host or port.
func endsInAuthority(ns string) bool {
	_, rest, ok := strings.Cut(ns, "//")
	return ok && !strings.ContainsAny(rest, "/?#")
}

func (p *parser) isVar() bool { return p.tok.kind == tVar }

func (p *parser) variable() string {
	if p.tok.kind != tVar {
		p.fail("a variable")
		return ""
	}
	if p.inData {
		p.broken(p.tok.at, "variables are not allowed in DATA", "use INSERT { } WHERE { } or DELETE { } WHERE { }")
	}
	v := p.tok.val
	p.advance()
	return v
}

// blankNode returns a new blank node.
func (p *parser) blankNode() term.Key {
	p.made++
	return term.Blank(p.fresh + strconv.Itoa(p.made))
}

// label parses a blank node label and checks its scope: one basic graph pattern (SPARQL 1.1 §5.1.1), one operation.
func (p *parser) label() term.Key {
	name := p.tok.val
	if p.noNew {
		p.broken(p.tok.at, "blank nodes are not allowed in what is deleted", "use a variable")
	}
	if used, ok := p.labels[name]; ok && used != p.scope {
		p.broken(p.tok.at, fmt.Sprintf("the blank node label _:%s is used in two graph patterns or operations", name), "use a variable")
	}
	p.labels[name] = p.scope
	p.advance()
	return term.Blank(name)
}

// newScope begins a basic graph pattern.
func (p *parser) newScope() {
	p.scopes++
	p.scope = p.scopes
}
