package rdfio

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/piprate/json-gold/ld"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// jsonldDecoder reads JSON-LD 1.1. The document is held whole (Limits.Document). json-gold expands it (JSON-LD 1.1 API
// §5.1), behind a guard against documents whose expansion would be far larger than they are; the expanded form is walked
// here, because making statements needs no node map: a statement that is made twice is the same statement.
type jsonldDecoder struct {
	in    io.Reader
	o     Options
	base  string
	blank blanks
	keys  *keyCache
	buf   []byte
	ready bool
	out   []term.Quad
	next  int
	err   error // found while making statements
}

func decodeJSONLD(r io.Reader, base iri.Base, o Options) decoder {
	return &jsonldDecoder{in: r, o: o, base: base.String(), blank: blanks{prefix: o.BlankPrefix}, keys: newKeyCache()}
}

func (d *jsonldDecoder) skip() bool                  { return false }
func (d *jsonldDecoder) prefixes() map[string]string { return nil }

func (d *jsonldDecoder) read() (term.Quad, error) {
	if !d.ready {
		if err := d.load(); err != nil {
			return term.Quad{}, err
		}
		d.ready = true
	}
	if d.next == len(d.out) {
		return term.Quad{}, io.EOF
	}
	d.next++
	return d.out[d.next-1], nil
}

func (d *jsonldDecoder) load() error {
	limited := &io.LimitedReader{R: d.in, N: d.o.Limits.Document + 1}
	j := jsonScanner{in: newInput(limited, d.o), lim: d.o.Limits}
	j.lim.Depth = min(j.lim.Depth, maxJSONDepth)
	t, err := j.tree()
	if limited.N == 0 {
		return j.in.failWith(0, limitError("a document", d.o.Limits.Document))
	}
	if err == nil {
		err = checkExpansion(t)
	}
	var expanded []any
	if err == nil {
		expanded, err = d.expand(t.root)
	}
	for _, node := range expanded {
		d.object(node, "")
	}
	if err == nil {
		err = d.err
	}
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		err = &Error{File: d.o.File, Line: 1, Col: 1, Err: err}
	}
	return err
}

// maxJSONDepth keeps json-gold's recursion small.
const maxJSONDepth = 500

// expand calls json-gold, which panics on some documents.
func (d *jsonldDecoder) expand(doc any) (expanded []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not JSON-LD (%v)", p)
		}
	}()
	if _, ok := doc.(string); ok {
		return nil, errors.New("an object or an array was expected") // json-gold would load it as an address
	}
	opts := ld.NewJsonLdOptions(d.base)
	opts.DocumentLoader = contextLoader(d.o)
	return ld.NewJsonLdProcessor().Expand(doc, opts)
}

// contextLoader is what json-gold asks for contexts. It never asks anybody but the caller's function.
type contextLoader Options

func (l contextLoader) LoadDocument(u string) (*ld.RemoteDocument, error) {
	if l.Context == nil {
		return nil, fmt.Errorf("the context <%s> is outside of the document", u)
	}
	b, err := l.Context(u)
	if err != nil {
		return nil, fmt.Errorf("the context <%s>: %w", u, err)
	}
	lim := l.Limits
	lim.Depth = min(lim.Depth, maxJSONDepth)
	j := jsonScanner{in: newInput(strings.NewReader(string(b)), Options{File: u, Limits: lim}), lim: lim}
	t, err := j.tree()
	if err != nil {
		return nil, err
	}
	return &ld.RemoteDocument{DocumentURL: u, Document: t.root}, nil
}

func (d *jsonldDecoder) emit(s, p, o, g term.Key) {
	if s != "" && p != "" && o != "" {
		d.out = append(d.out, term.Quad{S: s, P: p, O: o, G: g})
	}
}

// object makes the statements of one item of an expanded document and returns its term, "" where it has none that is
// RDF (a relative IRI, a malformed language tag): such statements are left out (JSON-LD 1.1 API §8.2).
func (d *jsonldDecoder) object(item any, g term.Key) term.Key {
	m, ok := item.(map[string]any)
	if !ok {
		return ""
	}
	if _, ok := m["@value"]; ok {
		return d.value(m)
	}
	if list, ok := m["@list"]; ok {
		return d.list(list, g)
	}
	return d.node(m, g)
}

func (d *jsonldDecoder) node(m map[string]any, g term.Key) term.Key {
	var subject term.Key
	if id, has := m["@id"]; has {
		subject = d.resource(id)
	} else {
		subject = d.blank.fresh()
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch key {
		case "@id", "@index":
		case "@type":
			for _, t := range items(m[key]) {
				d.emit(subject, rdfType, d.resource(t), g)
			}
		case "@graph":
			for _, inner := range items(m[key]) {
				if subject != "" {
					d.object(inner, subject)
				}
			}
		case "@included":
			for _, inner := range items(m[key]) {
				d.object(inner, g)
			}
		case "@reverse":
			reverse, _ := m[key].(map[string]any)
			for _, p := range slices.Sorted(maps.Keys(reverse)) {
				for _, v := range items(reverse[p]) {
					d.emit(d.object(v, g), d.predicate(p), subject, g)
				}
			}
		default:
			p := d.predicate(key)
			for _, v := range items(m[key]) {
				d.emit(subject, p, d.object(v, g), g)
			}
		}
	}
	return subject
}

func items(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// predicate is an IRI; blank nodes as predicates are no RDF.
func (d *jsonldDecoder) predicate(s string) term.Key {
	if strings.HasPrefix(s, "_:") || strings.HasPrefix(s, "@") {
		return ""
	}
	return d.resource(s)
}

func (d *jsonldDecoder) resource(v any) term.Key {
	s, _ := v.(string)
	if label, ok := strings.CutPrefix(s, "_:"); ok {
		if label == "" {
			return ""
		}
		d.buf = d.blank.appendLabelled(d.buf[:0], []byte(label))
		return d.keys.key(d.buf)
	}
	if iri.Check(s) != nil || strings.Count(s, "#") > 1 { // json-gold may glue a fragment behind a fragment
		return ""
	}
	d.buf = append(append(d.buf[:0], '<'), s...)
	return d.keys.key(d.buf)
}

func (d *jsonldDecoder) list(v any, g term.Key) term.Key {
	head, last := rdfNil, term.Key("")
	for _, item := range items(v) {
		cell := d.blank.fresh()
		if last == "" {
			head = cell
		} else {
			d.emit(last, rdfRest, cell, g)
		}
		last = cell
		d.emit(cell, rdfFirst, d.object(item, g), g)
	}
	d.emit(last, rdfRest, rdfNil, g)
	return head
}
