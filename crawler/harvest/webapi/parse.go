package webapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// parser reads one expression.
type parser struct {
	in     string
	at     int
	depth  int
	quoted bool // inside a text: texts cannot be nested
}

// parseExpression compiles an expression; "" is nil.
func parseExpression(in string) (*expression, error) {
	if strings.TrimSpace(in) == "" {
		return nil, nil
	}
	if len(in) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes: at most %d are allowed", len(in), maxExpression)
	}
	p := &parser{in: in}
	n, err := p.or()
	if err == nil && p.peek() != 0 {
		err = p.fail("the end or an operator")
	}
	if err != nil {
		return nil, fmt.Errorf("the expression %q: %w", in, err)
	}
	return &expression{in, n}, nil
}

// parseTemplate compiles a text with holes, as a part of a request has it: "/datasets/{ref}".
func parseTemplate(in string) (text, error) {
	if len(in) > maxExpression {
		return text{}, fmt.Errorf("the text has %d bytes: at most %d are allowed", len(in), maxExpression)
	}
	p := &parser{in: in}
	t, err := p.holes(0)
	if err != nil {
		return t, fmt.Errorf("the text %q: %w", in, err)
	}
	return t, nil
}

// peek returns the next byte that is not space, 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\t' || p.in[p.at] == '\n' || p.in[p.at] == '\r') {
		p.at++
	}
	if p.at == len(p.in) {
		return 0
	}
	return p.in[p.at]
}

// accept reads an operator if it is next.
func (p *parser) accept(operator string) bool {
	p.peek()
	if strings.HasPrefix(p.in[p.at:], operator) {
		p.at += len(operator)
		return true
	}
	return false
}

func (p *parser) fail(expected string) error {
	found := "its end"
	if p.at < len(p.in) {
		found = fmt.Sprintf("%.20q", p.in[p.at:])
	}
	return fmt.Errorf("expected %s instead of %s", expected, found)
}

func (p *parser) or() (node, error) {
	if p.depth++; p.depth > maxNested {
		return nil, fmt.Errorf("nested more than %d deep", maxNested)
	}
	defer func() { p.depth-- }()
	var list or
	for {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		if list = append(list, n); !p.accept("||") {
			if len(list) == 1 {
				return list[0], nil
			}
			return list, nil
		}
	}
}

func (p *parser) and() (node, error) {
	var list and
	for {
		n, err := p.test()
		if err != nil {
			return nil, err
		}
		if list = append(list, n); !p.accept("&&") {
			if len(list) == 1 {
				return list[0], nil
			}
			return list, nil
		}
	}
}

func (p *parser) test() (node, error) {
	left, err := p.pipe()
	if err != nil {
		return nil, err
	}
	for _, operator := range []string{"==", "!=", "!~", "~"} {
		if !p.accept(operator) {
			continue
		}
		right, err := p.pipe()
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(operator, "=") {
			return equal{left, right, operator == "!="}, nil
		}
		literal, ok := right.(text)
		if !ok || len(literal.holes) > 0 {
			return nil, fmt.Errorf("%s needs a regular expression in quotes", operator)
		}
		pattern, err := regexp.Compile(literal.literals[0])
		if err != nil {
			return nil, err
		}
		return match{left, pattern, operator == "!~"}, nil
	}
	return left, nil
}

func (p *parser) pipe() (node, error) {
	n, err := p.primary()
	for err == nil && p.peek() == '|' && !strings.HasPrefix(p.in[p.at:], "||") {
		p.at++
		p.peek()
		name := p.word()
		if !slices.Contains(functions, name) {
			return nil, fmt.Errorf("there is no function %q; expected one of %s", name, strings.Join(functions, ", "))
		}
		n = call{n, name}
	}
	return n, err
}

func (p *parser) primary() (n node, err error) {
	switch c := p.peek(); {
	case c == '(':
		p.at++
		if n, err = p.or(); err == nil && !p.accept(")") {
			err = p.fail(`")"`)
		}
		return n, err
	case c == '!':
		p.at++
		if p.depth++; p.depth > maxNested {
			return nil, fmt.Errorf("nested more than %d deep", maxNested)
		}
		n, err = p.primary()
		p.depth--
		return not{n}, err
	case c == '\'':
		if p.quoted {
			return nil, fmt.Errorf("a text inside of a text")
		}
		p.at++
		p.quoted = true
		t, err := p.holes('\'')
		p.quoted = false
		return t, err
	case c == '@':
		p.at++
		n = current{}
	case c == '$':
		p.at++
		name := p.word()
		if !slices.Contains(variables, name) {
			return nil, fmt.Errorf("there is no variable %q; expected one of $%s", "$"+name, strings.Join(variables, ", $"))
		}
		n = variable(name)
	default:
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		n = member{current{}, name}
	}
	return p.path(n)
}

// path reads what follows the beginning of a path.
func (p *parser) path(n node) (node, error) {
	for steps := 0; ; steps++ {
		if steps > maxNested {
			return nil, fmt.Errorf("a path of more than %d steps", maxNested)
		}
		switch p.peek() {
		case '.':
			p.at++
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			n = member{n, name}
		case '[':
			p.at++
			switch {
			case p.accept("]"):
				n = flat{n}
				continue
			case p.accept("?"):
				test, err := p.or()
				if err != nil {
					return nil, err
				}
				n = filter{n, test}
			default:
				p.peek()
				start := p.at
				for p.at < len(p.in) && strings.IndexByte("-0123456789", p.in[p.at]) >= 0 {
					p.at++
				}
				at, ok := number(p.in[start:p.at])
				if !ok {
					p.at = start
					return nil, p.fail("the number of an element")
				}
				n = element{n, at}
			}
			if !p.accept("]") {
				return nil, p.fail(`"]"`)
			}
		default:
			return n, nil
		}
	}
}

// name reads the name of a member: a word, or anything in double quotes.
func (p *parser) name() (string, error) {
	if p.peek() == '"' {
		end := strings.IndexByte(p.in[p.at+1:], '"')
		if end < 1 {
			return "", p.fail("a name in quotes")
		}
		name := p.in[p.at+1 : p.at+1+end]
		p.at += end + 2
		return name, nil
	}
	name := p.word()
	if name == "" {
		return "", p.fail("a name")
	}
	return name, nil
}

// word reads letters, digits, "_", "-" and ":".
func (p *parser) word() string {
	start := p.at
	for p.at < len(p.in) {
		c := p.in[p.at]
		if c < 0x80 && c != '_' && c != '-' && c != ':' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			break
		}
		p.at++
	}
	return p.in[start:p.at]
}

// holes reads a text with holes up to its end, or to a quote if there is one. "{{" and "}}" are braces, two quotes are
// a quote.
func (p *parser) holes(quote byte) (text, error) {
	var t text
	var b strings.Builder
	for {
		if p.at == len(p.in) {
			if quote != 0 {
				return t, p.fail("a quote")
			}
			break
		}
		c := p.in[p.at]
		double := p.at+1 < len(p.in) && p.in[p.at+1] == c
		if c == quote && quote != 0 && !double {
			p.at++
			break
		}
		if c == '{' && !double {
			p.at++
			n, err := p.or()
			if err != nil {
				return t, err
			}
			if !p.accept("}") {
				return t, p.fail(`"}"`)
			}
			t.literals, t.holes = append(t.literals, b.String()), append(t.holes, n)
			b.Reset()
			continue
		}
		if (c == '{' || c == '}' || c == quote && quote != 0) && double {
			p.at++
		}
		b.WriteByte(c)
		p.at++
	}
	t.literals = append(t.literals, b.String())
	return t, nil
}
