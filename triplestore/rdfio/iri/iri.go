// Package iri resolves and checks IRIs. Resolution follows RFC 3986, extended to the characters of RFC 3987.
//
// IRIs are plain strings, kept and compared exactly as written. Nothing is normalised: there is no case folding, no
// percent-decoding and no punycode. Only resolving a relative reference removes dot segments (RFC 3986 §5.2.4).
package iri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// parts are the components of a reference (RFC 3986 appendix B). An empty component differs from a missing one.
type parts struct {
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

func split(s string) parts {
	var p parts
	if n := schemeLen(s); n > 0 {
		p.scheme, s = s[:n], s[n+1:]
	}
	s, p.fragment, p.hasFragment = strings.Cut(s, "#")
	s, p.query, p.hasQuery = strings.Cut(s, "?")
	if strings.HasPrefix(s, "//") {
		s = s[2:]
		i := strings.IndexByte(s, '/')
		if i < 0 {
			i = len(s)
		}
		p.authority, p.hasAuthority, s = s[:i], true, s[i:]
	}
	p.path = s
	return p
}

// String recomposes the parts (RFC 3986 §5.3).
func (p parts) String() string {
	var b strings.Builder
	b.Grow(len(p.scheme) + len(p.authority) + len(p.path) + len(p.query) + len(p.fragment) + 5)
	if p.scheme != "" {
		b.WriteString(p.scheme)
		b.WriteByte(':')
	}
	if p.hasAuthority {
		b.WriteString("//")
		b.WriteString(p.authority)
	}
	b.WriteString(p.path)
	if p.hasQuery {
		b.WriteByte('?')
		b.WriteString(p.query)
	}
	if p.hasFragment {
		b.WriteByte('#')
		b.WriteString(p.fragment)
	}
	return b.String()
}

// schemeLen returns the length of the scheme of s without the colon, or 0 (RFC 3986 §3.1).
func schemeLen[T string | []byte](s T) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':':
			return i
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

// IsAbsolute reports whether s begins with a scheme. Absolute IRIs in the sense of RDF may have a fragment.
func IsAbsolute[T string | []byte](s T) bool { return schemeLen(s) > 0 }

// Base is an absolute IRI that references are resolved against. The zero Base is no base: it resolves absolute
// references only.
type Base struct {
	p   parts
	iri string
}

// NewBase returns the Base of an absolute IRI, or the zero Base if s is empty.
func NewBase(s string) (Base, error) {
	if s == "" {
		return Base{}, nil
	}
	if err := Check(s); err != nil {
		return Base{}, err
	}
	return Base{p: split(s), iri: s}, nil
}

// String returns the IRI of the base.
func (b Base) String() string { return b.iri }

// Resolve returns the absolute IRI that ref means under the base (RFC 3986 §5.2.2, strict). A reference with a scheme
// is returned unchanged, even with dot segments: RDF compares IRIs as strings, and resolving only relative IRIs (Turtle
// §6.3) keeps documents the same when they are written and read again. Resolve does not check the characters of ref.
func (b Base) Resolve(ref string) (string, error) {
	if schemeLen(ref) > 0 {
		return ref, nil
	}
	if b.iri == "" {
		return "", fmt.Errorf("relative IRI <%s> without a base", ref)
	}
	r, t := split(ref), b.p
	switch {
	case r.hasAuthority:
		t.authority, t.hasAuthority = r.authority, true
		t.path, t.query, t.hasQuery = removeDots(r.path), r.query, r.hasQuery
	case r.path == "":
		if r.hasQuery {
			t.query, t.hasQuery = r.query, true
		}
	default:
		if r.path[0] == '/' {
			t.path = removeDots(r.path)
		} else {
			t.path = removeDots(merge(t, r.path))
		}
		t.query, t.hasQuery = r.query, r.hasQuery
	}
	t.fragment, t.hasFragment = r.fragment, r.hasFragment
	if !t.hasAuthority && strings.HasPrefix(t.path, "//") {
		t.path = "/." + t.path // RFC 3986 §3.3: without an authority a path must not begin with "//"
	}
	return t.String(), nil
}

// Resolve resolves a single reference.
func Resolve(base, ref string) (string, error) {
	b, err := NewBase(base)
	if err != nil {
		return "", err
	}
	return b.Resolve(ref)
}

// merge implements RFC 3986 §5.2.3.
func merge(base parts, path string) string {
	if base.hasAuthority && base.path == "" {
		return "/" + path
	}
	return base.path[:strings.LastIndexByte(base.path, '/')+1] + path
}

// removeDots removes dot segments (RFC 3986 §5.2.4).
func removeDots(path string) string {
	if !strings.Contains(path, ".") {
		return path
	}
	var out []byte
	in := path
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"):
			in = in[3:]
		case strings.HasPrefix(in, "./"):
			in = in[2:]
		case strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"):
			in, out = in[3:], dropSegment(out)
		case in == "/..":
			in, out = "/", dropSegment(out)
		case in == "." || in == "..":
			in = ""
		default:
			i := strings.IndexByte(in[1:], '/') + 1
			if i == 0 {
				i = len(in)
			}
			out = append(out, in[:i]...)
			in = in[i:]
		}
	}
	return string(out)
}

func dropSegment(out []byte) []byte {
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == '/' {
			return out[:i]
		}
	}
	return out[:0]
}

// Check returns an error if RDF cannot use s as an IRI: s must begin with a scheme, be valid UTF-8, and contain none of
// the characters that all RDF syntaxes exclude (controls, space, <>"{}|^` and backslash).
func Check(s string) error {
	if !IsAbsolute(s) {
		return fmt.Errorf("<%s> is not an absolute IRI", s)
	}
	return CheckChars(s)
}

// CheckChars is Check for references that may be relative.
func CheckChars[T string | []byte](s T) error {
	ascii := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf {
			ascii = false
		} else if terminals.Class[c]&terminals.InIRI == 0 {
			return fmt.Errorf("%q is not allowed in an IRI", rune(c))
		}
	}
	if !ascii && !utf8.ValidString(string(s)) {
		return errors.New("invalid UTF-8 in an IRI")
	}
	return nil
}

// CheckPort returns an error if the authority of an IRI has a port that is not a number (RFC 3986 §3.2.3).
func CheckPort(s string) error {
	p := split(s)
	if !p.hasAuthority {
		return nil
	}
	host := p.authority[strings.LastIndexByte(p.authority, '@')+1:]
	if strings.HasPrefix(host, "[") {
		host = host[strings.LastIndexByte(host, ']')+1:]
	}
	_, port, _ := strings.Cut(host, ":")
	if strings.Trim(port, "0123456789") != "" {
		return fmt.Errorf("<%s> has the port %q, which is not a number", s, port)
	}
	return nil
}

// Escape percent-encodes the characters of s that IRIs must not contain (RFC 3987 §3.1).
func Escape[T string | []byte](s T) T {
	var b []byte
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf && terminals.Class[c]&terminals.InIRI == 0 {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return T(b)
}
