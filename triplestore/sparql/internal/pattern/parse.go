package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// node is a part of a parsed pattern.
type node interface{}

type (
	char     rune
	set      []rune // pairs of the first and the last character of a range, ascending
	anyChar  struct{}
	start    struct{}
	end      struct{}
	back     int // a back-reference to a group
	sequence []node
	choice   []node
	group    struct {
		in      node
		capture bool
	}
	repeat struct {
		in       node
		min, max int // max is -1 if there is no maximum
		lazy     bool
	}
)

// literal returns the node of a text without syntax.
func literal(s string) node {
	var n sequence
	for _, c := range s {
		n = append(n, char(c))
	}
	return n
}

const (
	maxNesting = 250
	maxRepeat  = 1_000_000
)

// parser is a recursive-descent parser of patterns.
type parser struct {
	options
	src    []rune
	at     int
	depth  int
	groups int
	closed []bool // groups that are complete, which back-references may name
}

// fault is a panic value of parser: what is wrong with the pattern.
type fault struct{ error }

func (p *parser) fail(format string, args ...any) {
	panic(fault{fmt.Errorf("at character %d of the regular expression: %s", min(p.at, len(p.src))+1, fmt.Sprintf(format, args...))})
}

func (p *parser) parse() (n node, err error) {
	defer func() {
		if v := recover(); v != nil {
			f, ok := v.(fault)
			if !ok {
				panic(v)
			}
			err = f.error
		}
	}()
	n = p.alternatives()
	if p.at < len(p.src) {
		p.fail("a \")\" without its \"(\"")
	}
	return n, nil
}

// next reports whether the rest begins with s, and skips it.
func (p *parser) next(s string) bool {
	r := []rune(s)
	if len(p.src)-p.at < len(r) || !slices.Equal(p.src[p.at:p.at+len(r)], r) {
		return false
	}
	p.at += len(r)
	return true
}

// peek returns the next character, or -1 at the end.
func (p *parser) peek() rune {
	if p.at >= len(p.src) {
		return -1
	}
	return p.src[p.at]
}

func (p *parser) alternatives() node {
	if p.depth++; p.depth > maxNesting {
		p.fail("groups nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	list := choice{p.branch()}
	for p.next("|") {
		list = append(list, p.branch())
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func (p *parser) branch() node {
	var list sequence
	for p.at < len(p.src) && p.peek() != '|' && p.peek() != ')' {
		list = append(list, p.quantified(p.atom()))
	}
	return list
}

func (p *parser) atom() node {
	c := p.peek()
	switch c {
	case '(':
		return p.group()
	case '[':
		p.at++
		return p.class()
	case '\\':
		if p.at+1 < len(p.src) && p.src[p.at+1] >= '1' && p.src[p.at+1] <= '9' {
			p.at++
			return p.reference()
		}
		s, single := p.escape()
		if single >= 0 {
			return char(single)
		}
		return s
	case '.':
		p.at++
		return anyChar{}
	case '^':
		p.at++
		return start{}
	case '$':
		p.at++
		return end{}
	case '*', '+', '?':
		p.fail("%q has nothing to repeat", c)
	case '{', '}', ']':
		p.fail("%q must be written as \"\\%c\"", c, c)
	}
	p.at++
	return char(c)
}

func (p *parser) group() node {
	open := p.at
	p.at++
	capture := !p.next("?:")
	if capture && p.peek() == '?' {
		p.fail("unknown group \"(?\"; XPath has \"(?:\" only")
	}
	nr := 0
	if capture {
		p.groups++
		nr = p.groups
		p.closed = append(p.closed, false)
	}
	n := group{p.alternatives(), capture}
	if !p.next(")") {
		p.at = open
		p.fail("a \"(\" without its \")\"")
	}
	if capture {
		p.closed[nr-1] = true
	}
	return n
}

// reference parses the number of a back-reference: as many digits as there are groups for.
func (p *parser) reference() node {
	nr := int(p.src[p.at] - '0')
	at := p.at
	p.at++
	for p.peek() >= '0' && p.peek() <= '9' && nr*10+int(p.peek()-'0') <= p.groups {
		nr = nr*10 + int(p.peek()-'0')
		p.at++
	}
	if nr > p.groups || !p.closed[nr-1] {
		p.at = at
		p.fail("the back-reference \\%d has no complete group before it", nr)
	}
	return back(nr)
}

// quantified parses the quantifier after an atom, if there is one.
func (p *parser) quantified(n node) node {
	r := repeat{in: n}
	switch {
	case p.next("*"):
		r.max = -1
	case p.next("+"):
		r.min, r.max = 1, -1
	case p.next("?"):
		r.max = 1
	case p.next("{"):
		r.min = p.number()
		r.max = r.min
		if p.next(",") {
			if r.max = -1; p.peek() != '}' {
				r.max = p.number()
			}
		}
		if !p.next("}") {
			p.fail("a quantifier is {n}, {n,} or {n,m}")
		}
		if r.max >= 0 && r.max < r.min {
			p.fail("the quantifier {%d,%d} has its bounds in the wrong order", r.min, r.max)
		}
	default:
		return n
	}
	r.lazy = p.next("?")
	if c := p.peek(); c == '*' || c == '+' || c == '?' || c == '{' {
		p.fail("a quantifier follows a quantifier")
	}
	return r
}

func (p *parser) number() int {
	n, digits := 0, 0
	for ; p.peek() >= '0' && p.peek() <= '9'; digits++ {
		if n = n*10 + int(p.peek()-'0'); n > maxRepeat {
			p.fail("a quantifier beyond %d", maxRepeat)
		}
		p.at++
	}
	if digits == 0 {
		p.fail("a quantifier is {n}, {n,} or {n,m}")
	}
	return n
}

// class parses a character class after its "[".
func (p *parser) class() set {
	if p.depth++; p.depth > maxNesting {
		p.fail("classes nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	open := p.at - 1
	negative := p.next("^")
	var out set
	for first := true; ; first = false {
		c := p.peek()
		switch {
		case c < 0:
			p.at = open
			p.fail("a \"[\" without its \"]\"")
		case c == ']':
			if first {
				p.fail("an empty character class")
			}
			p.at++
			return p.finish(out, negative)
		case !first && p.next("-["):
			minus := p.class()
			if !p.next("]") {
				p.fail("a subtraction ends its character class")
			}
			return p.finish(out, negative).minus(minus)
		case c == '[':
			p.fail("\"[\" in a character class must be written as \"\\[\"")
		}
		out = append(out, p.members(first)...)
		if len(out) > maxRanges {
			p.fail("a character class of more than %d ranges", maxRanges)
		}
	}
}

func (p *parser) finish(s set, negative bool) set {
	s = s.normal()
	if negative {
		return s.negated()
	}
	return s
}

// members parses one escape, character or range of a class.
func (p *parser) members(first bool) set {
	from, ok := p.member()
	if !ok {
		s, single := p.escape()
		if single < 0 {
			return s
		}
		from = single
	} else if from == '-' && !first && p.peek() != ']' {
		p.at--
		p.fail("\"-\" in the middle of a character class must be written as \"\\-\"")
	}
	to := from
	if p.peek() == '-' && p.at+1 < len(p.src) && p.src[p.at+1] != ']' && p.src[p.at+1] != '[' {
		p.at++
		if to, ok = p.member(); !ok {
			var s set
			if s, to = p.escape(); to < 0 {
				_ = s
				p.fail("a range ends in a class of characters")
			}
		}
		if to < from {
			p.fail("the range %c-%c is in the wrong order", from, to)
		}
	}
	s := set{from, to}
	if p.fold {
		s = s.folded()
	}
	return s
}

// member parses a character of a class, or returns false before a backslash.
func (p *parser) member() (rune, bool) {
	c := p.peek()
	switch c {
	case '\\':
		return 0, false
	case '[':
		p.fail("\"[\" in a character class must be written as \"\\[\"")
	case -1:
		p.fail("the pattern ends in a character class")
	}
	p.at++
	return c, true
}

// escape parses an escape sequence: a class of characters, or a single one, which is -1 otherwise.
func (p *parser) escape() (s set, single rune) {
	p.at++
	if p.at >= len(p.src) {
		p.fail("the pattern ends in a backslash")
	}
	e := p.peek()
	p.at++
	switch e {
	case 'n':
		return nil, '\n'
	case 'r':
		return nil, '\r'
	case 't':
		return nil, '\t'
	case 'p', 'P':
		s = p.property()
		if e == 'P' {
			s = s.negated()
		}
		return s, -1
	}
	if s := multi(e); s != nil {
		return s, -1
	}
	if !strings.ContainsRune(`\|.?*+(){}[]-^$/`, e) { // "\/" is no escape of XPath, but programs write it
		p.at -= 2
		p.fail("unknown escape sequence \\%c", e)
	}
	return nil, e
}

// property parses {L}, {IsGreek} and the like.
func (p *parser) property() set {
	begin := p.at
	if !p.next("{") {
		p.fail("\\p needs a name in braces, as in \\p{L}")
	}
	for p.peek() != '}' {
		if p.peek() < 0 {
			p.at = begin
			p.fail("a \"{\" without its \"}\"")
		}
		p.at++
	}
	name := string(p.src[begin+1 : p.at])
	p.at++
	if s := property(name); s != nil {
		return s
	}
	p.at = begin
	p.fail("%q is neither a category nor a block of Unicode", name)
	return nil
}
