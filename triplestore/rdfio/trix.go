package rdfio

import (
	"bytes"
	"fmt"
	"io"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

const trixNS = "http://www.w3.org/2004/03/trix/trix-1/"

// trixDecoder reads TriX (Carroll and Stickler, 2004): <TriX> holds <graph>s, a graph its name and <triple>s, a triple
// three terms.
type trixDecoder struct {
	x     *xmlScanner
	lim   Limits
	base  iri.Base
	blank blanks
	keys  *keyCache
	buf   []byte

	depth    int // 0 outside, 1 in TriX, 2 in a graph, 3 in a triple, 4 in a term
	graph    term.Key
	named    bool // the graph has a triple or a name already
	naming   bool // the open term is the graph's name
	triple   [3]term.Key
	n        int
	element  string // the term's
	lang     string
	datatype string
	text     []byte
}

func decodeTriX(r io.Reader, base iri.Base, o Options) decoder {
	return &trixDecoder{x: newXMLScanner(r, o), lim: o.Limits, base: base, blank: blanks{prefix: o.BlankPrefix}, keys: newKeyCache()}
}

func (d *trixDecoder) skip() bool                  { return false }
func (d *trixDecoder) prefixes() map[string]string { return nil }

func (d *trixDecoder) fail(format string, args ...any) error {
	return d.x.in.failWith(0, fmt.Errorf(format, args...))
}

func (d *trixDecoder) read() (term.Quad, error) {
	for {
		kind, err := d.x.next()
		if err != nil {
			return term.Quad{}, err
		}
		switch kind {
		case xmlStart:
			err = d.start()
		case xmlText:
			if d.depth == 4 {
				d.text = append(d.text, d.x.text...)
				if len(d.text) > d.lim.Token {
					err = d.x.in.failWith(0, limitError("a term", int64(d.lim.Token)))
				}
			} else if d.x.mixed {
				err = d.fail("text where only elements may be")
			}
		case xmlEnd:
			d.depth--
			switch {
			case d.depth == 3:
				err = d.term()
			case d.depth == 2 && d.n != 3:
				err = d.fail("a triple of %d terms", d.n)
			case d.depth == 2:
				return term.Quad{S: d.triple[0], P: d.triple[1], O: d.triple[2], G: d.graph}, nil
			}
		}
		if err != nil {
			return term.Quad{}, err
		}
	}
}

func (d *trixDecoder) start() error {
	name := d.x.name
	if name.space != trixNS {
		return d.fail("the element %s, which is not TriX", name.raw)
	}
	switch {
	case d.depth == 0 && (name.local == "TriX" || name.local == "trix"):
	case d.depth == 1 && name.local == "graph":
		d.graph, d.named = "", false
	case d.depth == 2 && name.local == "triple":
		d.n, d.named = 0, true
	case d.depth == 2 && !d.named && (name.local == "uri" || name.local == "id"):
		d.depth = 3 // the graph's name is read like a term
		d.naming, d.named = true, true
		fallthrough
	case d.depth == 3 && (name.local == "uri" || name.local == "id" || name.local == "plainLiteral" || name.local == "typedLiteral"):
		d.element, d.lang, d.datatype, d.text = name.local, "", "", d.text[:0]
		for _, a := range d.x.attrs {
			switch {
			case a.name.space == xmlNS && a.name.local == "lang":
				d.lang = a.value
			case a.name.space == "" && a.name.local == "datatype":
				d.datatype = a.value
			}
		}
	default:
		return d.fail("the element %s does not belong here", name.raw)
	}
	d.depth++
	return nil
}

// term ends a term of a triple, or the name of a graph.
func (d *trixDecoder) term() (err error) {
	var k term.Key
	switch d.element {
	case "uri":
		k, err = d.resource(bytes.TrimSpace(d.text))
	case "id":
		label := bytes.TrimSpace(d.text)
		if len(label) == 0 {
			return d.fail("an <id> without a label")
		}
		d.buf = d.blank.appendLabelled(d.buf[:0], label)
		k = d.keys.key(d.buf)
	case "plainLiteral":
		if langLen([]byte(d.lang)) != len(d.lang) {
			return d.fail("xml:lang=%q is not a language tag", d.lang)
		}
		k = term.Lang(string(d.text), d.lang)
	case "typedLiteral":
		if err := iri.Check(d.datatype); err != nil {
			return d.fail("datatype: %w", err)
		}
		k = term.Typed(string(d.text), d.datatype)
	}
	if err != nil {
		return err
	}
	if d.naming {
		d.graph, d.naming, d.depth = k, false, 2
		return nil
	}
	if d.n == 3 {
		return d.fail("a triple of more than three terms")
	}
	switch kind := k.Kind(); {
	case d.n == 0 && kind == term.KindLiteral:
		return d.fail("a literal as a subject")
	case d.n == 1 && kind != term.KindIRI:
		return d.fail("a predicate that is no <uri>")
	}
	d.triple[d.n] = k
	d.n++
	return nil
}

func (d *trixDecoder) resource(b []byte) (term.Key, error) {
	if err := iri.CheckChars(b); err != nil {
		return "", d.fail("<uri>: %w", err)
	}
	abs, err := d.base.Resolve(string(b))
	if err != nil {
		return "", d.fail("<uri>: %w", err)
	}
	d.buf = append(append(d.buf[:0], '<'), abs...)
	return d.keys.key(d.buf), nil
}
