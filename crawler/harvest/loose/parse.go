package loose

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Error describes a fault in a document and its position.
type Error struct {
	Offset int64
	Why    string
	Cut    bool // the document breaks off
}

func (e *Error) Error() string {
	if e.Cut {
		return fmt.Sprintf("JSON that breaks off after %d bytes", e.Offset)
	}
	return fmt.Sprintf("no JSON at byte %d: %s", e.Offset, e.Why)
}

// Parse parses the document at the beginning of text. With an error, it returns the part that was complete.
func Parse(text []byte) (Value, error) {
	p := &parser{text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}
	return p.value(0)
}

type parser struct {
	text   []byte
	at     int
	values int
}

func (p *parser) fail(why string) *Error { return &Error{Offset: int64(p.at), Why: why} }

func (p *parser) cut() *Error { return &Error{Offset: int64(len(p.text)), Cut: true} }

// next returns the next byte that is not space, 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c > ' ' {
			return c
		}
	}
	return 0
}

func (p *parser) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, p.fail("nested too deeply")
	}
	if p.values++; p.values > maxValues {
		return Value{}, p.fail("too many values")
	}
	switch c := p.next(); {
	case c == 0 && p.at >= len(p.text):
		return Value{}, p.cut()
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return Value{s}, err
	default:
		return p.bare()
	}
}

// object parses an object. With an error, the value of its last member may be incomplete.
func (p *parser) object(depth int) (Value, error) {
	o := &object{}
	p.at++
	for {
		switch c := p.next(); c {
		case '}':
			p.at++
			return Value{o}, nil
		case ',':
			p.at++
			continue
		case '"':
		case 0:
			return Value{o}, p.cut()
		default:
			return Value{o}, p.fail(fmt.Sprintf("%q where a member's name should be", c))
		}
		key, err := p.str()
		if err != nil {
			return Value{o}, err
		}
		switch c := p.next(); {
		case c == ':':
			p.at++
		case p.at >= len(p.text):
			return Value{o}, p.cut()
		default:
			return Value{o}, p.fail(fmt.Sprintf("%q where a colon should be", c))
		}
		v, err := p.value(depth + 1)
		if err == nil || v.IsArray() || v.IsObject() {
			o.keys, o.values = append(o.keys, key), append(o.values, v)
		}
		if err != nil {
			return Value{o}, err
		}
	}
}

// array parses an array. With an error, it omits the element that has the fault.
func (p *parser) array(depth int) (Value, error) {
	list := []Value{}
	p.at++
	for {
		switch c := p.next(); {
		case c == ']':
			p.at++
			return Value{list}, nil
		case c == ',':
			p.at++
			continue
		case c == 0 && p.at >= len(p.text):
			return Value{list}, p.cut()
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{list}, err
		}
		list = append(list, v)
	}
}

// str parses the string that begins at p.at.
func (p *parser) str() (string, error) {
	start := p.at + 1
	for i := start; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			p.at = i + 1
			return unescape(p.text[start:i]), nil
		}
	}
	return "", p.cut()
}

// unescape returns the inside of a string. Wrong escapes stand for themselves; half a surrogate pair becomes U+FFFD.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return strings.ToValidUTF8(string(raw), "\ufffd")
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r, used := codePoint(raw[i+1:])
			if used == 0 {
				out = append(out, 'u')
				continue
			}
			out = utf8.AppendRune(out, r)
			i += used
		default:
			out = append(out, c)
		}
	}
	return strings.ToValidUTF8(string(out), "\ufffd")
}

// codePoint parses the digits after \u. It returns the number of bytes parsed: 4, 10 for a surrogate pair, 0 for an
// error.
func codePoint(raw []byte) (rune, int) {
	unit := func(at int) rune {
		if len(raw) < at+4 {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := unit(0)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(raw) >= 10 && raw[4] == '\\' && raw[5] == 'u' {
		if both := utf16.DecodeRune(r, unit(6)); both != utf8.RuneError {
			return both, 10
		}
	}
	return r, 4
}

// bare parses a number or a word.
func (p *parser) bare() (Value, error) {
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(",:]}[{\"", rune(p.text[p.at])) && p.text[p.at] > ' ' {
		p.at++
	}
	word := string(p.text[start:p.at])
	switch strings.ToLower(word) {
	case "true":
		return Value{true}, nil
	case "false":
		return Value{false}, nil
	case "null", "none", "nan", "undefined", "infinity", "-infinity":
		return Value{}, nil
	}
	if _, err := strconv.ParseFloat(word, 64); err == nil && strings.IndexFunc(word, notInNumbers) < 0 {
		return Value{number(word)}, nil
	}
	p.at = start
	if len(word) > 20 {
		word = strings.ToValidUTF8(word[:20], "") + "…"
	}
	return Value{}, p.fail(fmt.Sprintf("%q is no value", word))
}

func notInNumbers(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }
