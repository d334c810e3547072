package text

import (
	"errors"
	"fmt"
	"strings"
)

// Query is a parsed query.
//
//	wien bevölkerung      both words (either, if Any is set)
//	"wien bevölkerung"    the words one after the other
//	bev*                  words that begin with bev
//	wien AND graz, wien OR graz, wien NOT graz, +wien -graz, (wien OR graz) linz
//
// AND binds more closely than OR. NOT and - exclude; a query that only excludes finds nothing.
type Query struct {
	root node
	lang string // only literals of this language; "" for all
}

// Options of a query.
type Options struct {
	Any  bool   // words without an operator between them are alternatives
	Lang string // language range: only literals with this tag or one that continues it
}

// ErrQuery is wrapped by every error about the text of a query.
var ErrQuery = errors.New("not a text query")

// Limits of a query.
const (
	maxQuery  = 4 << 10 // bytes
	maxLeaves = 64      // words and phrases
	maxNested = 32
)

// node is a part of a query: one of the types below.
type node interface{ node() }

type (
	// leaf is a word, or a phrase if it has several.
	leaf struct {
		words  []queryWord
		prefix bool // the last word is a beginning of words
	}
	// all needs every part of must, or at least one of some if must is empty, and none of not.
	all struct{ must, some, not []node }
)

type queryWord struct{ word, full string }

func (leaf) node() {}
func (all) node()  {}

// ParseQuery reads a query. A query without any word is valid and finds nothing.
func ParseQuery(s string, o Options) (*Query, error) {
	if len(s) > maxQuery {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrQuery, maxQuery)
	}
	p := &queryParser{in: s, any: o.Any}
	root, err := p.alternatives(0)
	if err != nil {
		return nil, err
	}
	if p.skip(); p.in != "" {
		return nil, fmt.Errorf("%w: unexpected %q", ErrQuery, p.in[:1])
	}
	return &Query{root: root, lang: strings.ToLower(o.Lang)}, nil
}

type queryParser struct {
	in     string
	any    bool
	leaves int
	a      Analyser
}

func (p *queryParser) skip() { p.in = strings.TrimLeft(p.in, " \t\r\n") }

// operator takes an upper-case operator if it is the next word.
func (p *queryParser) operator(names ...string) bool {
	p.skip()
	for _, name := range names {
		rest, ok := strings.CutPrefix(p.in, name)
		if !ok {
			continue
		}
		if strings.Trim(name, "&|") != "" && rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n(\"") {
			continue // a word that begins like an operator
		}
		p.in = rest
		return true
	}
	return false
}

// alternatives parses parts joined by OR.
func (p *queryParser) alternatives(depth int) (node, error) {
	if depth > maxNested {
		return nil, fmt.Errorf("%w: nested too deep", ErrQuery)
	}
	var some []node
	for {
		n, err := p.sequence(depth)
		if err != nil {
			return nil, err
		}
		if n != nil {
			some = append(some, n)
		}
		if !p.operator("OR", "||") {
			break
		}
	}
	if len(some) == 1 {
		return some[0], nil
	}
	return all{some: some}, nil
}

// sequence parses parts with AND, NOT or nothing between them. It returns nil if there are none.
func (p *queryParser) sequence(depth int) (node, error) {
	var out all
	joined := false // AND precedes
	for {
		p.skip()
		if p.in == "" || p.in[0] == ')' || p.peekOr() {
			break
		}
		if p.operator("AND", "&&") {
			joined = true
			if n := len(out.some); n > 0 { // the part before AND is needed
				out.must, out.some = append(out.must, out.some[n-1]), out.some[:n-1]
			}
			continue
		}
		not, must := p.operator("NOT"), false
		if !not {
			switch p.in[0] {
			case '-', '!':
				not, p.in = true, p.in[1:]
			case '+':
				must, p.in = true, p.in[1:]
			}
		}
		n, err := p.part(depth)
		if err != nil {
			return nil, err
		}
		switch {
		case n == nil:
		case not:
			out.not = append(out.not, n)
		case must || joined || !p.any:
			out.must = append(out.must, n)
		default:
			out.some = append(out.some, n)
		}
		joined = false
	}
	switch {
	case len(out.must)+len(out.some)+len(out.not) == 0:
		return nil, nil
	case len(out.not) == 0 && len(out.must)+len(out.some) == 1:
		return append(out.must, out.some...)[0], nil
	}
	return out, nil
}

func (p *queryParser) peekOr() bool {
	saved := p.in
	is := p.operator("OR", "||")
	p.in = saved
	return is
}

// part parses a group, a phrase or a word. It returns nil for punctuation that has no word.
func (p *queryParser) part(depth int) (node, error) {
	if p.skip(); p.in == "" || p.in[0] == ')' {
		return nil, nil
	}
	if p.leaves++; p.leaves > maxLeaves {
		return nil, fmt.Errorf("%w: more than %d words", ErrQuery, maxLeaves)
	}
	switch p.in[0] {
	case '(':
		p.in = p.in[1:]
		n, err := p.alternatives(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.skip(); !strings.HasPrefix(p.in, ")") {
			return nil, fmt.Errorf("%w: a ( has no )", ErrQuery)
		}
		p.in = p.in[1:]
		return n, nil
	case '"', '\'':
		quote := p.in[:1]
		if phrase, rest, ok := strings.Cut(p.in[1:], quote); ok || quote == `"` {
			if !ok {
				return nil, fmt.Errorf("%w: a \" has no other", ErrQuery)
			}
			p.in = skipBoost(rest)
			return p.leaf(phrase), nil
		}
	}
	end := strings.IndexAny(p.in, " \t\r\n()\"")
	if end < 0 {
		end = len(p.in)
	}
	if end == 0 {
		end = 1
	}
	word := p.in[:end]
	p.in = p.in[end:]
	if boost := strings.IndexAny(word, "^~"); boost > 0 && skipBoost(word[boost:]) == "" {
		word = word[:boost]
	}
	return p.leaf(word), nil
}

// skipBoost skips the factors and distances of Lucene's queries (word^2, word~1), which have no effect.
func skipBoost(s string) string {
	if s == "" || s[0] != '^' && s[0] != '~' {
		return s
	}
	return strings.TrimLeft(s[1:], "0123456789.")
}

// leaf returns the node of a word or phrase. A final * makes the last word a beginning.
func (p *queryParser) leaf(s string) node {
	var l leaf
	p.a.tokens(s, func(t token) { l.words = append(l.words, queryWord{t.word, t.full}) })
	if len(l.words) == 0 {
		return nil
	}
	l.prefix = strings.HasSuffix(strings.TrimSpace(s), "*")
	return l
}
