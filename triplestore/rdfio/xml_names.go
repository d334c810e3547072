package rdfio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

const (
	xmlNS   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNS = "http://www.w3.org/2000/xmlns/"
)

// xmlName is a name with its namespace.
type xmlName struct {
	raw           string // as written
	prefix, local string
	space         string   // IRI of the namespace, "" for none
	iri           term.Key // of space followed by local
	checked       bool     // iri is set
}

// xmlAttr is an attribute.
type xmlAttr struct {
	name  *xmlName
	value string
}

// xmlBinding is a namespace declaration in scope. Later ones hide earlier ones.
type xmlBinding struct{ prefix, iri string }

// lookup returns the namespace of a prefix in scope.
func (x *xmlScanner) lookup(prefix string) (string, bool) {
	for i := len(x.ns) - 1; i >= 0; i-- {
		if x.ns[i].prefix == prefix {
			return x.ns[i].iri, x.ns[i].iri != "" || prefix == ""
		}
	}
	return "", false
}

// resolve returns raw with its namespace. Attributes without a prefix have none.
func (x *xmlScanner) resolve(raw string, element bool) (*xmlName, error) {
	cacheKey := raw
	prefix, local, colon := strings.Cut(raw, ":")
	if !colon {
		prefix, local = "", raw
		if !element {
			cacheKey = "@" + raw
		}
	}
	if n := x.names[cacheKey]; n != nil {
		return n, nil
	}
	if colon && (prefix == "" || local == "" || strings.Contains(local, ":") || !startsName(local)) {
		return nil, x.in.failWith(0, fmt.Errorf("%q is not a qualified name", raw))
	}
	n := &xmlName{raw: raw, prefix: prefix, local: local}
	if colon || element {
		space, ok := x.lookup(prefix)
		if !ok {
			return nil, x.in.failWith(0, fmt.Errorf("the namespace prefix %q is not declared", prefix))
		}
		n.space = space
	}
	x.names[cacheKey] = n
	return n, nil
}

// declare adds the namespace declaration of an xmlns attribute.
func (x *xmlScanner) declare(prefix, iri string) error {
	switch {
	case prefix == "xml" && iri == xmlNS:
		return nil
	case prefix == "xml", prefix == "xmlns", iri == xmlNS, iri == xmlnsNS:
		return x.in.failWith(0, errors.New("the prefixes xml and xmlns and their namespaces cannot be declared"))
	case prefix != "" && iri == "":
		return x.in.failWith(0, fmt.Errorf("the namespace prefix %q has no namespace", prefix))
	}
	if len(x.ns) >= x.lim.Prefixes {
		return x.in.failWith(0, limitError("a number of namespaces in scope", int64(x.lim.Prefixes)))
	}
	x.ns = append(x.ns, xmlBinding{prefix, iri})
	clear(x.names)
	return nil
}

// nameLen returns the length of the XML Name at pos+n.
func (x *xmlScanner) nameLen(n int) (int, error) {
	in, start := x.in, n
	for {
		c := in.at(n)
		if terminals.Class[c]&terminals.InName != 0 && (n > start || c > '9') || c == ':' || c == '.' && n > start {
			n++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := in.runeAt(n)
			if !(r == utf8.RuneError && size == 1) && (terminals.PNCharsU(r) || n > start && terminals.PNChars(r)) {
				n += size
				continue
			}
		}
		if n == start {
			return 0, in.fail(n, "a name")
		}
		return n - start, nil
	}
}

// startsName reports whether s begins with a character that can begin a name.
func startsName(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return terminals.PNCharsU(r)
}

// isNCName reports whether s is a name without colons (Namespaces in XML §3).
func isNCName(s string) bool {
	for i, r := range s {
		if i == 0 && !terminals.PNCharsU(r) || !terminals.PNChars(r) && r != '.' {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}
