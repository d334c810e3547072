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

// identities are the members and attributes that identify elements of a list. The first one present counts.
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
		return nil, errors.New("there is more after the document")
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
		err = errors.New("the document is incomplete")
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
		return &node{kind: 'v', text: string(text)}, g.add(len(text))
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
	return n, g.add(0)
}

// lastOfEach keeps the last of the members with the same name, as most JSON readers do.
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

// readXML reads elements as lists of attributes, children and text. If decoded is set, text is UTF-8 whatever it
// declares.
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
				err = errors.New("the document is incomplete")
			}
			return nil, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, errTooDeep
			}
			n := &node{kind: 'l', name: xmlName(tok.Name)}
			if err := g.add(len(n.name)); err != nil {
				return nil, err
			}
			for _, a := range tok.Attr {
				n.kids = append(n.kids, &node{kind: 'v', name: "@" + xmlName(a.Name), text: a.Value})
				if err := g.add(len(a.Value)); err != nil {
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
			if err := g.add(len(s)); err != nil {
				return nil, err
			}
		case xml.EndElement:
			if len(open) == 0 {
				return nil, errors.New("an end tag has no start tag")
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

// numberKids numbers the children of the same name.
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
