package rdfio

import (
	"bufio"
	"maps"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// jsonldEncoder writes JSON-LD 1.1: a context with the prefixes, and a list of node objects, each with a group of
// statements. Named graphs are node objects with a @graph.
type jsonldEncoder struct {
	group
	w       *bufio.Writer
	short   shortener
	started bool
	graph   term.Key
	open    bool // the @graph of graph is open
	comma   bool // the open list is not empty
	buf     []byte
}

// schemes are prefixes that are not declared, since they are schemes of IRIs: "geo:1,2" would change its meaning.
var schemes = []string{"about", "acct", "ark", "blob", "bitcoin", "cid", "data", "did", "dns", "doi", "file", "ftp", "geo", "git", "go",
	"hdl", "http",
	"https", "im", "imap", "info", "ipfs", "ipns", "isbn", "issn", "jar", "javascript", "ldap", "magnet", "mailto", "mid", "news", "ni",
	"nih", "oid", "pkg",
	"sip", "sms", "ssh", "swh", "tag", "tel", "urn", "uuid", "view-source", "ws", "wss", "xmpp"}

func encodeJSONLD(w *bufio.Writer, prefixes map[string]string, _ Syntax) encoder {
	usable := map[string]string{}
	for p, ns := range prefixes {
		if p != "" && !slices.Contains(schemes, p) {
			usable[p] = ns
		}
	}
	e := &jsonldEncoder{w: w, short: newShortener(usable)}
	e.emit = e.node
	return e
}

func (e *jsonldEncoder) write(q term.Quad) error {
	if q.O.Kind() == term.KindTriple || q.O.Kind() == term.KindLiteral && q.O.Dir() != "" {
		return &TermError{q.O, "JSON-LD is limited to RDF 1.1"}
	}
	for _, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
		iri := k.Value()
		if k.Kind() == term.KindLiteral {
			iri = k.Datatype()
		}
		scheme, rest, _ := strings.Cut(iri, ":")
		if _, declared := e.short.prefixes[scheme]; declared && k.Kind() != term.KindBlank && !strings.HasPrefix(rest, "//") {
			return &TermError{k, "its scheme is also a declared prefix"}
		}
	}
	return e.group.write(q)
}

func (e *jsonldEncoder) close() {
	b := e.closeGraph(e.start(e.buf[:0]))
	b = append(b, "\n]"...)
	if len(e.short.prefixes) > 0 {
		b = append(b, '}')
	}
	e.w.Write(append(b, '\n'))
}

// start appends the beginning of the document, once.
func (e *jsonldEncoder) start(b []byte) []byte {
	if e.started {
		return b
	}
	e.started = true
	if len(e.short.prefixes) == 0 {
		return append(b, '[')
	}
	b = append(b, `{"@context": {`...)
	for i, p := range slices.Sorted(maps.Keys(e.short.prefixes)) {
		if i > 0 {
			b = append(b, ',')
		}
		ns := e.short.prefixes[p]
		b = append(appendJSONString(append(b, "\n    "...), p), ": "...)
		if strings.IndexByte(":/?#[]@", ns[len(ns)-1]) >= 0 {
			b = appendJSONString(b, ns)
		} else { // a term that ends otherwise is a prefix only with @prefix
			b = append(appendJSONString(append(b, `{"@id": `...), ns), `, "@prefix": true}`...)
		}
	}
	return append(b, "\n},\n\"@graph\": ["...)
}

// node writes the statements of a subject as a node object.
func (e *jsonldEncoder) node(quads []term.Quad) {
	g := quads[0].G
	b := e.start(e.buf[:0])
	if e.open && e.graph != g {
		b = e.closeGraph(b)
	}
	if g != "" && !e.open {
		b = append(e.item(b), `{"@id": `...)
		b = append(e.reference(b, g), `, "@graph": [`...)
		e.graph, e.open, e.comma = g, true, false
	}
	b = append(e.item(b), `{"@id": `...)
	b = e.reference(b, quads[0].S)
	for len(quads) > 0 {
		n := 1
		for n < len(quads) && quads[n].P == quads[0].P {
			n++
		}
		b = e.property(b, quads[:n])
		quads = quads[n:]
	}
	e.buf = append(b, '}')
	e.w.Write(e.buf)
}

func (e *jsonldEncoder) closeGraph(b []byte) []byte {
	if e.open {
		b = append(b, "\n]}"...)
		e.graph, e.open, e.comma = "", false, true
	}
	return b
}

// item appends the separator before an item of the open list.
func (e *jsonldEncoder) item(b []byte) []byte {
	if e.comma {
		b = append(b, ',')
	}
	e.comma = true
	return append(b, '\n')
}

// property appends a member with the objects of statements that share their predicate.
func (e *jsonldEncoder) property(b []byte, quads []term.Quad) []byte {
	types := quads[0].P == rdfType && !slices.ContainsFunc(quads, func(q term.Quad) bool { return q.O.Kind() == term.KindLiteral })
	b = append(b, ",\n    "...)
	if types {
		b = append(b, `"@type"`...)
	} else {
		b = e.reference(b, quads[0].P)
	}
	b = append(b, ": "...)
	if len(quads) > 1 {
		b = append(b, '[')
	}
	for i, q := range quads {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch {
		case types:
			b = e.reference(b, q.O)
		case q.O.Kind() == term.KindLiteral:
			b = e.literal(b, q.O)
		default:
			b = append(e.reference(append(b, `{"@id": `...), q.O), '}')
		}
	}
	if len(quads) > 1 {
		b = append(b, ']')
	}
	return b
}

// reference appends an IRI, shortened if possible, or the name of a blank node.
func (e *jsonldEncoder) reference(b []byte, k term.Key) []byte {
	if k.Kind() == term.KindBlank {
		return appendJSONString(b, resourceName(k))
	}
	return appendJSONString(b, e.compact(k.Value()))
}

func (e *jsonldEncoder) compact(iri string) string {
	if p, local, ok := e.short.split(iri); ok && !strings.HasPrefix(local, "//") {
		return p + ":" + local
	}
	return iri
}

func (e *jsonldEncoder) literal(b []byte, k term.Key) []byte {
	lex := k.Value()
	switch {
	case k[0] == '"':
		return appendJSONString(b, lex)
	case k[0] == '@':
		b = appendJSONString(append(b, `{"@language": `...), k.Lang())
	case native(lex, k.Datatype()):
		return append(b, lex...)
	default:
		b = appendJSONString(append(b, `{"@type": `...), e.compact(k.Datatype()))
	}
	b = appendJSONString(append(b, `, "@value": `...), lex)
	return append(b, '}')
}

// native reports whether a JSON value without a type is read as exactly this literal.
func native(lex, datatype string) bool {
	switch datatype {
	case xsdNS + "boolean":
		return lex == "true" || lex == "false"
	case xsdNS + "integer":
		n, err := strconv.ParseInt(lex, 10, 64)
		return err == nil && n > -1<<53 && n < 1<<53 && strconv.FormatInt(n, 10) == lex
	}
	return false
}
