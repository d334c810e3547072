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

// jsonldDecoder reads JSON-LD 1.1. It holds the whole document (Limits.Document). json-gold expands it (JSON-LD 1.1 API
// §5.1), after a check that the expansion does not become far larger than the document. The decoder walks the expanded
// form itself: making statements needs no node map, since a repeated statement is the same statement.
type jsonldDecoder struct {
	terms
	queue
	in     io.Reader
	o      Options
	base   string
	loaded bool
	err    error // first error while making statements
}

func decodeJSONLD(r io.Reader, base iri.Base, o Options, _ Syntax) decoder {
	return &jsonldDecoder{terms: newTerms(o), in: r, o: o, base: base.String()}
}

func (d *jsonldDecoder) read() (term.Quad, error) { return d.queue.read(d.load) }

// load makes all statements of the document. It returns io.EOF when called again.
func (d *jsonldDecoder) load() error {
	if d.loaded {
		return io.EOF
	}
	d.loaded = true
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

// maxJSONDepth bounds the recursion of json-gold.
const maxJSONDepth = 500

// expand calls json-gold, and turns its panics, which some documents cause, into errors.
func (d *jsonldDecoder) expand(doc any) (expanded []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not JSON-LD (%v)", p)
		}
	}()
	if _, ok := doc.(string); ok {
		return nil, errors.New("expected an object or an array") // json-gold would load a string as an address
	}
	opts := ld.NewJsonLdOptions(d.base)
	opts.DocumentLoader = &contextLoader{Options: d.o, seen: map[string]bool{}}
	return ld.NewJsonLdProcessor().Expand(doc, opts)
}

// maxContexts is the maximum number of contexts that a document may refer to, and these to others: they could do so
// without end (JSON-LD 1.1 API §5.1.2, "context overflow").
const maxContexts = 32

// contextLoader loads contexts for json-gold, from Options.Context alone.
type contextLoader struct {
	Options
	seen map[string]bool
}

func (l *contextLoader) LoadDocument(u string) (*ld.RemoteDocument, error) {
	if l.Context == nil {
		return nil, fmt.Errorf("the context <%s> is not part of the document", u)
	}
	if l.seen[u] = true; len(l.seen) > maxContexts {
		return nil, fmt.Errorf("the document has more than %d contexts", maxContexts)
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

// emit adds a statement, unless one of its terms is missing.
func (d *jsonldDecoder) emit(s, p, o, g term.Key) {
	if s != "" && p != "" && o != "" {
		d.out = append(d.out, term.Quad{S: s, P: p, O: o, G: g})
	}
}

// object emits the statements of an item of the expanded document and returns the term of the item. The term is "" if
// it is not RDF, like a relative IRI or a literal with a malformed language tag; statements with such terms are left
// out (JSON-LD 1.1 API §8.2).
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

// node emits the statements of a node object.
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

// items returns the elements of v, or v itself if it is no array.
func items(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// predicate returns the IRI s, or "" for a blank node, which cannot be a predicate in RDF.
func (d *jsonldDecoder) predicate(s string) term.Key {
	if strings.HasPrefix(s, "_:") || strings.HasPrefix(s, "@") {
		return ""
	}
	return d.resource(s)
}

// resource returns the IRI or blank node v, or "" if it is neither.
func (d *jsonldDecoder) resource(v any) term.Key {
	s, _ := v.(string)
	if label, ok := strings.CutPrefix(s, "_:"); ok {
		if label == "" {
			return ""
		}
		return d.label([]byte(label))
	}
	if iri.Check(s) != nil || strings.Count(s, "#") > 1 { // json-gold may append a fragment to a fragment
		return ""
	}
	d.buf = append(append(d.buf[:0], '<'), s...)
	return d.keys.key(d.buf)
}

// list emits the cells of a list and returns the first.
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
