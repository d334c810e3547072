package csvw

import (
	"net/url"
	"strconv"

	"odarchive/triplestore/term"
)

func (c *converter) object(t *Table, s, p term.Key, cl cell, vars func(string) ([]string, bool)) {
	col := cl.column
	if col.valueURL != nil {
		if len(cl.values) > 0 || col.Virtual {
			c.triple(s, p, term.IRI(c.iri(t, *col.valueURL, vars)))
		}
		return
	}
	if cl.list && col.ordered != nil && *col.ordered {
		if len(cl.values) == 0 {
			return
		}
		items := make([]term.Key, len(cl.values))
		for i := range cl.values {
			items[i] = c.literal(cl, i)
		}
		c.triple(s, p, c.list(items))
		return
	}
	for i := range cl.values {
		c.triple(s, p, c.literal(cl, i))
	}
}

// list writes an RDF list and returns its head.
func (c *converter) list(items []term.Key) term.Key {
	head := term.IRI(rdfNS + "nil")
	nodes := make([]term.Key, len(items))
	for i := range items {
		nodes[i] = c.blank()
	}
	for i := len(items) - 1; i >= 0; i-- {
		c.triple(nodes[i], term.IRI(rdfNS+"first"), items[i])
		c.triple(nodes[i], term.IRI(rdfNS+"rest"), head)
		head = nodes[i]
	}
	return head
}

func (c *converter) literal(cl cell, i int) term.Key {
	v, d := cl.values[i], cl.column.datatype
	if d == nil || !cl.typed[i] || d.Base == "string" && d.ID == "" {
		return titled(v.lexical, &Column{inherited: inherited{lang: cl.column.lang}})
	}
	return term.Typed(v.lexical, d.iri())
}

// iri expands a template property, then prefixes, and resolves the result against the table's URL (Metadata 5.1.2).
func (c *converter) iri(t *Table, template string, vars func(string) ([]string, bool)) string {
	s := expandTemplate(template, vars)
	if full, ok := expand(s); ok {
		return full
	}
	return resolve(t.URL, s)
}

// variables returns the values of the variables that templates of a row's cell may use.
func (c *converter) variables(t *Table, r row, at int) func(string) ([]string, bool) {
	return func(name string) ([]string, bool) {
		switch name {
		case "_column":
			return []string{strconv.Itoa(at + 1)}, true
		case "_sourceColumn":
			return []string{strconv.Itoa(at + 1 + t.dialect().SkipColumns)}, true
		case "_row":
			return []string{strconv.Itoa(r.number)}, true
		case "_sourceRow":
			return []string{strconv.Itoa(r.source)}, true
		case "_name":
			n, err := url.PathUnescape(r.cells[at].column.Name)
			if err != nil {
				n = r.cells[at].column.Name
			}
			return []string{n}, true
		}
		for _, cl := range r.cells {
			if cl.column.Name == name {
				var values []string
				for _, v := range cl.values {
					values = append(values, v.lexical)
				}
				return values, len(values) > 0
			}
		}
		return nil, false
	}
}
