package csvw

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// common writes common properties as RDF (csv2rdf 5.1).
func (c *converter) common(s term.Key, list []property) {
	for _, p := range list {
		if p.iri == "" {
			continue
		}
		for _, o := range c.values(p.value, p) {
			c.triple(s, term.IRI(p.iri), o)
		}
	}
}

// values returns the objects that a JSON value of a common property stands for.
func (c *converter) values(v any, p property) []term.Key {
	switch x := v.(type) {
	case []any:
		var out []term.Key
		for _, e := range x {
			out = append(out, c.values(e, p)...)
		}
		return out
	case string:
		if p.lang != "" && p.lang != "und" {
			return []term.Key{term.Lang(x, p.lang)}
		}
		return []term.Key{term.String(x)}
	case bool:
		return []term.Key{term.Typed(strconv.FormatBool(x), xsdNS+"boolean")}
	case json.Number:
		if strings.ContainsAny(string(x), ".eE") {
			return []term.Key{term.Typed(string(x), xsdNS+"double")}
		}
		return []term.Key{term.Typed(string(x), xsdNS+"integer")}
	case object:
		return []term.Key{c.node(x, p)}
	}
	return nil
}

func (c *converter) node(o object, p property) term.Key {
	if v, ok := o["@value"]; ok {
		text := fmt.Sprint(v)
		if lang, ok := o["@language"].(string); ok {
			return term.Lang(text, lang)
		}
		if t, ok := o["@type"].(string); ok {
			return term.Typed(text, typeIRI(t))
		}
		q := p
		q.lang = ""
		if values := c.values(v, q); len(values) == 1 {
			return values[0]
		}
		return term.String(text)
	}
	id, _ := o["@id"].(string)
	if id != "" {
		if full, ok := expand(id); ok {
			id = full
		} else {
			id = resolve(p.base, id)
		}
	}
	node := c.subject(id)
	types, ok := o["@type"].([]any)
	if !ok && o["@type"] != nil {
		types = []any{o["@type"]}
	}
	for _, t := range types {
		if s, ok := t.(string); ok {
			c.triple(node, term.IRI(rdfType), term.IRI(typeIRI(s)))
		}
	}
	for _, k := range sortedKeys(o) {
		if strings.HasPrefix(k, "@") {
			continue
		}
		iri, ok := expand(k)
		if !ok {
			iri = ns + k
		}
		for _, v := range c.values(o[k], p) {
			c.triple(node, term.IRI(iri), v)
		}
	}
	return node
}

func typeIRI(s string) string {
	if iri := datatypeIRI(s); iri != "" {
		return iri
	}
	if iri, ok := expand(s); ok {
		return iri
	}
	return ns + s
}
