package diff

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"odarchive/crawler/inspect/charset"
)

// identities are the members and attributes by which things in a list are told apart, the first that is there.
var identities = []string{"id", "@id", "_id", "identifier", "uuid", "guid", "ID", "Id", "key", "code", "gml:id", "name"}

func (n *node) identify() {
	if n.kind != 'o' && n.kind != 'l' {
		return
	}
	for _, name := range identities {
		for _, k := range n.kids {
			if k.kind == 'v' && k.text != "" && strings.TrimPrefix(k.name, "@") == strings.TrimPrefix(name, "@") {
				n.ident = name + "=" + k.text
				return
			}
		}
	}
}

func readJSON(g *grower, r io.Reader) (*node, error) {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	n, err := jsonValue(g, dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something stands behind the document")
	}
	return n, nil
}

func jsonValue(g *grower, dec *json.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	if g.ctx.Err() != nil {
		return nil, context.Cause(g.ctx)
	}
	tok, err := dec.Token()
	if err == io.EOF {
		err = errors.New("the document is not complete")
	}
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		text, err := json.Marshal(tok)
		if err != nil {
			return nil, err
		}
		return &node{kind: 'v', text: string(text)}, g.take(len(text))
	}
	n := &node{kind: 'l'}
	if delim == '{' {
		n.kind = 'o'
	}
	for dec.More() {
		name := ""
		if n.kind == 'o' {
			tok, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ = tok.(string)
		}
		kid, err := jsonValue(g, dec, depth+1)
		if err != nil {
			return nil, err
		}
		kid.name = name
		n.kids = append(n.kids, kid)
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if n.kind == 'o' {
		n.identify()
		n.kids = lastOfEach(n.kids)
	}
	return n, g.take(0)
}

// lastOfEach drops members whose name comes again, as most JSON readers do.
func lastOfEach(kids []*node) []*node {
	if len(kids) < 2 {
		return kids
	}
	at := make(map[string]int, len(kids))
	out := kids[:0]
	for _, k := range kids {
		if i, ok := at[k.name]; ok {
			out[i] = k
			continue
		}
		at[k.name] = len(out)
		out = append(out, k)
	}
	return out
}

// readXML reads elements as lists of attributes, children and text. Where the text is in UTF-8 already, what it says of
// its encoding no longer counts.
func readXML(g *grower, text io.Reader, decoded bool) (*node, error) {
	dec := xml.NewDecoder(text)
	dec.Strict = false
	dec.Entity = xml.HTMLEntity
	dec.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		if decoded {
			return r, nil
		}
		return charset.NewReader(r, label)
	}
	var open []*node
	for {
		if g.ctx.Err() != nil {
			return nil, context.Cause(g.ctx)
		}
		tok, err := dec.RawToken()
		if err != nil {
			if err == io.EOF {
				err = errors.New("the document is not complete")
			}
			return nil, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, errTooDeep
			}
			n := &node{kind: 'l', name: xmlName(tok.Name)}
			if err := g.take(len(n.name)); err != nil {
				return nil, err
			}
			for _, a := range tok.Attr {
				n.kids = append(n.kids, &node{kind: 'v', name: "@" + xmlName(a.Name), text: a.Value})
				if err := g.take(len(a.Value)); err != nil {
					return nil, err
				}
			}
			if len(open) > 0 {
				parent := open[len(open)-1]
				parent.kids = append(parent.kids, n)
			}
			open = append(open, n)
		case xml.CharData:
			s := strings.TrimSpace(string(tok))
			if s == "" || len(open) == 0 {
				continue
			}
			parent := open[len(open)-1]
			parent.kids = append(parent.kids, &node{kind: 'v', name: "text()", text: s})
			if err := g.take(len(s)); err != nil {
				return nil, err
			}
		case xml.EndElement:
			if len(open) == 0 {
				return nil, errors.New("an element ends that never began")
			}
			n := open[len(open)-1]
			n.identify()
			n.numberKids()
			open = open[:len(open)-1]
			if len(open) == 0 {
				return n, nil
			}
		}
	}
}

// numberKids counts children of the same name.
func (n *node) numberKids() {
	seen := map[string]int{}
	for _, k := range n.kids {
		seen[k.name]++
		k.nth = seen[k.name]
	}
}

func xmlName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}
