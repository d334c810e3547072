package document

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Limits of an object.
const (
	pdfNest     = 50
	pdfElements = 100_000 // of an array or dictionary
	pdfString   = 64 << 10
)

// pdfParser parses one object (ISO 32000-1, 7.3). What is wrong becomes nil.
type pdfParser struct {
	b  []byte
	at int
}

// isDelimiter reports whether a byte ends a token.
func isDelimiter(c byte) bool {
	return c <= ' ' || strings.IndexByte("()<>[]{}/%", c) >= 0
}

// space skips white space and comments.
func (p *pdfParser) space() {
	for p.at < len(p.b) {
		switch c := p.b[p.at]; {
		case c <= ' ':
			p.at++
		case c == '%':
			end := bytes.IndexAny(p.b[p.at:], "\r\n")
			if end < 0 {
				p.at = len(p.b)
				return
			}
			p.at += end
		default:
			return
		}
	}
}

func (p *pdfParser) has(s string) bool {
	if bytes.HasPrefix(p.b[p.at:], []byte(s)) {
		p.at += len(s)
		return true
	}
	return false
}

// value parses the next object.
func (p *pdfParser) value(depth int) any {
	p.space()
	if p.at >= len(p.b) || depth > pdfNest {
		return nil
	}
	switch c := p.b[p.at]; {
	case p.has("<<"):
		return p.dict(depth)
	case c == '<':
		end := bytes.IndexByte(p.b[p.at:], '>')
		if end < 0 || end > 2*pdfString {
			p.at = len(p.b)
			return nil
		}
		digits := strings.Join(strings.Fields(string(p.b[p.at+1:p.at+end])), "")
		p.at += end + 1
		raw, _ := hex.DecodeString(digits + strings.Repeat("0", len(digits)%2))
		return string(raw)
	case c == '(':
		return p.text()
	case c == '/':
		p.at++
		return pdfName(p.token())
	case c == '[':
		p.at++
		var list []any
		for len(list) < pdfElements {
			p.space()
			if p.at >= len(p.b) || p.has("]") {
				return list
			}
			before := p.at
			list = append(list, p.value(depth+1))
			if p.at == before {
				return list
			}
		}
		return list
	}
	word := p.token()
	if n, err := strconv.Atoi(word); err == nil {
		back := p.at
		p.space()
		if gen := p.token(); gen != "" && len(gen) <= 5 && strings.Trim(gen, "0123456789") == "" {
			p.space()
			if p.at < len(p.b) && p.b[p.at] == 'R' && (p.at+1 == len(p.b) || isDelimiter(p.b[p.at+1])) {
				p.at++
				return pdfRef(n)
			}
		}
		p.at = back
		return n
	}
	if word == "" {
		p.at++
	}
	return nil
}

// token reads a name, a number or a keyword.
func (p *pdfParser) token() string {
	start := p.at
	for p.at < len(p.b) && !isDelimiter(p.b[p.at]) && p.at-start < 200 {
		p.at++
	}
	return string(p.b[start:p.at])
}

func (p *pdfParser) dict(depth int) any {
	t := pdfDict{}
	for len(t) < pdfElements {
		p.space()
		if p.at >= len(p.b) || p.has(">>") {
			return t
		}
		if p.b[p.at] != '/' {
			return t
		}
		p.at++
		key := p.token()
		if v := p.value(depth + 1); key != "" && v != nil {
			t[key] = v
		}
	}
	return t
}

// text reads a literal string (7.3.4.2).
func (p *pdfParser) text() any {
	var b []byte
	depth := 0
	for ; p.at < len(p.b); p.at++ {
		c := p.b[p.at]
		switch c {
		case '(':
			if depth++; depth == 1 {
				continue
			}
		case ')':
			if depth--; depth == 0 {
				p.at++
				return string(b)
			}
		case '\\':
			if p.at++; p.at >= len(p.b) {
				return string(b)
			}
			c = p.b[p.at]
			switch {
			case c == '\r' || c == '\n':
				continue
			case c >= '0' && c <= '7':
				n, digits := 0, 0
				for ; digits < 3 && p.at < len(p.b) && p.b[p.at] >= '0' && p.b[p.at] <= '7'; digits++ {
					n = n*8 + int(p.b[p.at]-'0')
					p.at++
				}
				p.at--
				c = byte(n)
			default:
				if i := strings.IndexByte("nrtbf", c); i >= 0 {
					c = "\n\r\t\b\f"[i]
				}
			}
		}
		if len(b) < pdfString {
			b = append(b, c)
		}
	}
	return string(b)
}

// pdfText decodes a text string (7.9.2.2): UTF-16 or UTF-8 with a mark, or else PDFDocEncoding, which for most letters
// is Latin-1.
func pdfText(s string) string {
	switch {
	case strings.HasPrefix(s, "\xfe\xff"), strings.HasPrefix(s, "\xff\xfe"):
		var units []uint16
		for i := 2; i+1 < len(s); i += 2 {
			u := uint16(s[i])<<8 | uint16(s[i+1])
			if s[0] == 0xff {
				u = u<<8 | u>>8
			}
			units = append(units, u)
		}
		return string(utf16.Decode(units))
	case strings.HasPrefix(s, "\xef\xbb\xbf"):
		return strings.ToValidUTF8(s[3:], "")
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// inflate unpacks at most n bytes. What precedes damage is kept.
func inflate(b []byte, n int) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil || n <= 0 {
		return nil
	}
	defer z.Close()
	out, _ := io.ReadAll(io.LimitReader(z, int64(n)))
	return out
}
