package packed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"odarchive/crawler/inspect"
)

// The archive reads what is inside a version several times on its way in, and once more for each page about it. The
// text nearly always is what encodeInside writes of tables, so a parser for just that form reads it, in a fraction of
// the time that encoding/json takes. Whatever is of another form is left to encoding/json: spaces, fields in another
// order, twice or unknown, older records, and RDF, documents and geometries, which are seldom and parts of the text. So
// the format is JSON, and what is read is what encoding/json reads.

// Bounds of what the parser reads itself.
const (
	maxFast  = insideWhole // bytes of text
	maxDepth = 100         // of values in a value that is left to encoding/json, which has a bound for the whole text
)

// parseInside returns what encoding/json reads from text; ok is false if that has to do it.
func parseInside(text []byte) (in *inspect.Inside, ok bool) {
	if len(text) > maxFast {
		return nil, false
	}
	p := parser{b: text}
	in = &inspect.Inside{}
	p.inside(in)
	return in, !p.bad && p.at == len(text)
}

// parser reads compact JSON. Once something is not of the form that it reads, bad is true, and what it returned is
// worth nothing.
type parser struct {
	b   []byte
	at  int
	bad bool
}

// next reports whether c comes next, and reads it if so.
func (p *parser) next(c byte) bool {
	if p.at < len(p.b) && p.b[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(c byte) {
	if !p.next(c) {
		p.fail()
	}
}

func (p *parser) fail() { p.bad, p.at = true, len(p.b) }

// object reads an object. field reads the value of a field and returns the field's place in the struct, or 0 if it has
// no such field. The fields must come in that order, so that none comes twice.
func (p *parser) object(field func(name []byte) (place int)) {
	p.want('{')
	if p.next('}') {
		return
	}
	for last := 0; !p.bad; {
		name := p.token()
		p.want(':')
		place := 0
		if !p.bad {
			place = field(name)
		}
		if place <= last {
			p.fail()
		}
		last = place
		if !p.next(',') {
			p.want('}')
			return
		}
	}
}

// list reads an array; item reads one item of it.
func (p *parser) list(item func()) {
	p.want('[')
	if p.next(']') {
		return
	}
	for !p.bad {
		item()
		if !p.next(',') {
			p.want(']')
			return
		}
	}
}

// plain has the bytes that stand for themselves in a string and are no part of a longer character.
var plain = func() (plain [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// token reads a string without escapes.
func (p *parser) token() []byte {
	token, escaped := p.unescaped()
	if escaped {
		p.fail()
	}
	return token
}

// unescaped reads a string up to its end, or to the first escape.
func (p *parser) unescaped() (token []byte, escaped bool) {
	p.want('"')
	from := p.at
	for p.at < len(p.b) && plain[p.b[p.at]] {
		p.at++
	}
	ascii := true
	for p.at < len(p.b) {
		c := p.b[p.at]
		switch {
		case plain[c]:
		case c == '"':
			token = p.b[from:p.at]
			p.at++
			if !ascii && !utf8.Valid(token) {
				p.fail()
			}
			return token, false
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '\\':
			return nil, true
		default:
			p.fail()
		}
		p.at++
	}
	p.fail()
	return nil, false
}

func (p *parser) text() (s string) {
	from := p.at
	token, escaped := p.unescaped()
	if escaped {
		p.at = from
		p.other(&s)
		return s
	}
	return string(token)
}

func (p *parser) texts() []string {
	texts := make([]string, 0, 4)
	p.list(func() { texts = append(texts, p.text()) })
	return texts
}

func (p *parser) truth() bool {
	if rest := p.b[p.at:]; bytes.HasPrefix(rest, []byte("true")) {
		p.at += len("true")
		return true
	} else if !bytes.HasPrefix(rest, []byte("false")) {
		p.fail()
		return false
	}
	p.at += len("false")
	return false
}

// digits reads digits and returns how many.
func (p *parser) digits() int {
	from := p.at
	for p.at < len(p.b) && '0' <= p.b[p.at] && p.b[p.at] <= '9' {
		p.at++
	}
	return p.at - from
}

// integer reads the part of a number before the point.
func (p *parser) integer() {
	p.next('-')
	from := p.at
	if n := p.digits(); n == 0 || n > 1 && p.b[from] == '0' {
		p.fail()
	}
}

// whole reads a whole number of at most 18 digits.
func (p *parser) whole() (n int64) {
	from := p.at
	p.integer()
	if p.bad || p.at-from > 18 || p.at < len(p.b) && (p.b[p.at] == '.' || p.b[p.at]|0x20 == 'e') {
		p.fail()
		return 0
	}
	digits := bytes.TrimPrefix(p.b[from:p.at], []byte("-"))
	for _, c := range digits {
		n = 10*n + int64(c-'0')
	}
	if p.b[from] == '-' {
		return -n
	}
	return n
}

func (p *parser) wholes() []int64 {
	numbers := make([]int64, 0, 4)
	p.list(func() { numbers = append(numbers, p.whole()) })
	return numbers
}

func (p *parser) ints() []int {
	numbers := make([]int, 0, 4)
	p.list(func() { numbers = append(numbers, int(p.whole())) })
	return numbers
}

func (p *parser) float() *float64 {
	from := p.at
	p.integer()
	if p.next('.') && p.digits() == 0 {
		p.fail()
	}
	if p.next('e') || p.next('E') {
		if !p.next('+') {
			p.next('-')
		}
		if p.digits() == 0 {
			p.fail()
		}
	}
	if p.bad {
		return nil
	}
	f, err := strconv.ParseFloat(string(p.b[from:p.at]), 64)
	if err != nil {
		p.fail()
	}
	return &f
}

// other lets encoding/json read a value.
func (p *parser) other(into any) {
	from, depth, quoted := p.at, 0, false
	for ; p.at < len(p.b); p.at++ {
		switch c := p.b[p.at]; {
		case quoted && c == '\\':
			p.at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				p.fail()
				return
			}
		case c == '}' || c == ']' || c == ',':
			if depth == 0 {
				p.unmarshal(p.b[from:p.at], into)
				return
			}
			if c != ',' {
				depth--
			}
		}
	}
	p.fail() // no value is the end of the text
}

func (p *parser) unmarshal(value []byte, into any) {
	if json.Unmarshal(value, into) != nil {
		p.fail()
	}
}
