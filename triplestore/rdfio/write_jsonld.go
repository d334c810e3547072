package rdfio

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// jsonldEncoder writes JSON-LD 1.1: a context with the prefixes, and a list of node objects, each with the statements
// that came together. Named graphs are node objects with a @graph.
type jsonldEncoder struct {
	w       *bufio.Writer
	short   shortener
	started bool
	graph   term.Key
	open    bool // the @graph of graph
	comma   bool // something stands before in the open list
	held    group
	buf     []byte
}

// schemes are prefixes that are not declared because IRIs begin with them: "geo:1,2" would become something else.
var schemes = []string{"about", "acct", "ark", "blob", "bitcoin", "cid", "data", "did", "dns", "doi", "file", "ftp", "geo", "git", "go", "hdl", "http",
	"https", "im", "imap", "info", "ipfs", "ipns", "isbn", "issn", "jar", "javascript", "ldap", "magnet", "mailto", "mid", "news", "ni", "nih", "oid", "pkg",
	"sip", "sms", "ssh", "swh", "tag", "tel", "urn", "uuid", "view-source", "ws", "wss", "xmpp"}

func encodeJSONLD(w io.Writer, prefixes map[string]string, _ Syntax) encoder {
	usable := map[string]string{}
	for p, ns := range prefixes {
		if p != "" && !slices.Contains(schemes, p) {
			usable[p] = ns
		}
	}
	return &jsonldEncoder{w: bufio.NewWriterSize(w, windowSize), short: newShortener(usable)}
}

func (e *jsonldEncoder) write(q term.Quad) error {
	if q.O.Kind() == term.KindTriple || q.O.Kind() == term.KindLiteral && q.O.Dir() != "" {
		return &TermError{q.O, "JSON-LD knows only RDF 1.1"}
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
	if e.held.full(q) {
		if err := e.node(); err != nil {
			return err
		}
	}
	e.held = append(e.held, q)
	return nil
}

func (e *jsonldEncoder) flush() error {
	if err := e.node(); err != nil {
		return err
	}
	return e.w.Flush()
}

func (e *jsonldEncoder) close() error {
	if err := e.node(); err != nil {
		return err
	}
	b := e.closeGraph(e.start(e.buf[:0]))
	b = append(b, "\n]"...)
	if len(e.short.prefixes) > 0 {
		b = append(b, '}')
	}
	e.w.Write(append(b, '\n')) // a bufio.Writer keeps its error for Flush
	return e.w.Flush()
}

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
		} else { // JSON-LD 1.1 takes such a term for a prefix only where it is told to
			b = append(appendJSONString(append(b, `{"@id": `...), ns), `, "@prefix": true}`...)
		}
	}
	return append(b, "\n},\n\"@graph\": ["...)
}

// node writes what is held as a node object.
func (e *jsonldEncoder) node() error {
	if len(e.held) == 0 {
		return nil
	}
	e.held.sort()
	g := e.held[0].G
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
	b = e.reference(b, e.held[0].S)
	for i := 0; i < len(e.held); {
		n := e.held.run(i)
		b = e.property(b, e.held[i:i+n])
		i += n
	}
	e.buf = append(b, '}')
	e.held = e.held[:0]
	_, err := e.w.Write(e.buf)
	return err
}

func (e *jsonldEncoder) closeGraph(b []byte) []byte {
	if e.open {
		b = append(b, "\n]}"...)
		e.graph, e.open, e.comma = "", false, true
	}
	return b
}

func (e *jsonldEncoder) item(b []byte) []byte {
	if e.comma {
		b = append(b, ',')
	}
	e.comma = true
	return append(b, '\n')
}

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

// reference appends an IRI, shortened where that works, or a blank node's name.
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

// native tells whether JSON has a value of its own that becomes this very literal again.
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
