package csvw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// Options of Convert.
type Options struct {
	Minimal bool // only the triples of the cells (csv2rdf 4.3)
	MaxRows int  // of each table, default 10 million
}

// Terms of CSVW in RDF.
const (
	ns      = "http://www.w3.org/ns/csvw#"
	rdfNS   = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	xsdNS   = "http://www.w3.org/2001/XMLSchema#"
	rdfType = rdfNS + "type"
)

// Convert gives the triples of a source's tables to emit, in document order. It returns what was warned of; the
// error is emit's, the context's, or wraps ErrMetadata.
func Convert(ctx context.Context, s Source, o Options, emit func(term.Quad) error) ([]string, error) {
	g, err := Locate(s)
	if err != nil {
		return nil, err
	}
	if o.MaxRows == 0 {
		o.MaxRows = 10_000_000
	}
	c := &converter{ctx: ctx, load: s.Load, o: o, emit: emit, warnings: g.Warnings}
	err = c.group(g)
	if c.err != nil {
		err = c.err
	}
	return c.warnings, err
}

type converter struct {
	ctx      context.Context
	load     Load
	o        Options
	emit     func(term.Quad) error
	warnings []string
	blanks   int
	err      error
}

func (c *converter) warn(format string, a ...any) {
	if len(c.warnings) < 1000 {
		c.warnings = append(c.warnings, fmt.Sprintf(format, a...))
	}
}

func (c *converter) blank() term.Key {
	c.blanks++
	return term.Blank("c" + strconv.Itoa(c.blanks))
}

func (c *converter) triple(s, p, o term.Key) {
	if c.err == nil {
		c.err = c.emit(term.Quad{S: s, P: p, O: o})
	}
}

// subject is the node of something with an optional id.
func (c *converter) subject(id string) term.Key {
	if id != "" {
		return term.IRI(id)
	}
	return c.blank()
}

func (c *converter) group(g *Group) error {
	var node term.Key
	if !c.o.Minimal {
		node = c.subject(g.ID)
		c.triple(node, term.IRI(rdfType), term.IRI(ns+"TableGroup"))
		c.common(node, g.Common)
	}
	for _, t := range g.Tables {
		if err := c.table(node, t); err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// row is one row of a table with what its cells need.
type row struct {
	number, source int
	cells          []cell
}

// cell is a cell's value, read.
type cell struct {
	column *Column
	values []value // none for null
	list   bool    // the column has a separator
	typed  []bool  // false for a value that did not fit its datatype
	text   string
}

func (c *converter) table(group term.Key, t *Table) error {
	src, err := c.open(t)
	if err != nil {
		return err
	}
	if t.Suppress {
		return nil
	}
	columns := c.columns(t, src)
	var node term.Key
	if !c.o.Minimal {
		node = c.subject(t.ID)
		c.triple(group, term.IRI(ns+"table"), node)
		c.triple(node, term.IRI(rdfType), term.IRI(ns+"Table"))
		c.triple(node, term.IRI(ns+"url"), term.IRI(t.URL))
		c.common(node, t.Common)
		for _, text := range src.comments {
			c.triple(node, term.IRI("http://www.w3.org/2000/01/rdf-schema#comment"), term.String(text))
		}
	}
	for n := 1; n <= c.o.MaxRows && src.next(); n++ {
		if n&255 == 0 && c.ctx.Err() != nil {
			return fmt.Errorf("csvw: %w", c.ctx.Err())
		}
		c.row(node, t, c.read(columns, src, n))
		if c.err != nil {
			return c.err
		}
	}
	return src.err()
}

// columns are those of the schema, or those of the header where it has none; what the header says otherwise is a
// warning.
func (c *converter) columns(t *Table, src *source) []*Column {
	up := t.Schema.inherited
	described := slices.Clone(t.Schema.Columns)
	real := 0
	for _, col := range described {
		if !col.Virtual {
			real++
		}
	}
	for i, title := range src.titles {
		if i >= real {
			break
		}
		col := described[i]
		if title != "" && len(col.Titles) > 0 && !slices.ContainsFunc(col.Titles, func(t Title) bool { return t.Text == title && sameLanguage(t.Lang, col.language()) }) && col.Name != title {
			c.warn("column %d is %q in the table, %q in its description", i+1, title, col.Titles[0].Text)
		}
		if title != "" && len(col.Titles) == 0 && col.Name != "" && col.Name != title && encodeName(title) != col.Name {
			c.warn("column %d is %q in the table, %q in its description", i+1, title, col.Name)
		}
	}
	width := max(len(src.titles), src.width)
	if real > 0 && width != real {
		c.warn("%d columns in the table, %d in its description", width, real)
	}
	var virtual []*Column
	if real < len(described) {
		described, virtual = described[:real:real], described[real:]
	}
	for i := len(described); i < width; i++ {
		col := &Column{inherited: up}
		if i < len(src.titles) && src.titles[i] != "" && real == 0 && !t.Schema.bare {
			col.Titles = []Title{{src.titles[i], "und"}}
			col.fallback = encodeName(src.titles[i])
		}
		described = append(described, col)
	}
	described = append(described, virtual...)
	for i, col := range described {
		if col.Name == "" {
			copied := *col
			col = &copied
			described[i] = col
			if col.Name = col.fallback; col.Name == "" {
				col.Name = "_col." + strconv.Itoa(i+1)
			}
		}
	}
	return described
}

// language of a column's cells and title, "und" where it is not said.
func (c *Column) language() string {
	if c.lang != nil {
		return *c.lang
	}
	return "und"
}

// sameLanguage tells whether two tags are of one language as far as they go; "und" is any.
func sameLanguage(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == "und" || b == "und" || a == b || strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-")
}

// read reads the cells of a row by their columns' datatypes (Model 6.4).
func (c *converter) read(columns []*Column, src *source, number int) row {
	r := row{number: number, source: src.line()}
	cells := src.cells()
	for i, col := range columns {
		text := ""
		if !col.Virtual && i < len(cells) {
			text = cells[i]
		}
		r.cells = append(r.cells, c.cell(col, text))
	}
	return r
}

func (c *converter) cell(col *Column, text string) cell {
	d := col.datatype
	if d == nil {
		d = &Datatype{Base: "string", length: -1, minLength: -1, maxLength: -1}
	}
	out := cell{column: col}
	clean := func(s string) string {
		if !keepsSpace(d.Base) {
			s = strings.Map(func(r rune) rune {
				if r == '\r' || r == '\n' || r == '\t' {
					return ' '
				}
				return r
			}, s)
			if d.Base != "normalizedString" {
				s = strings.Join(strings.Fields(s), " ")
			}
		}
		return s
	}
	null := func(s string) bool {
		if col.null == nil {
			return s == ""
		}
		return slices.Contains(col.null, s)
	}
	text = clean(text)
	if text == "" && col.deflt != nil {
		text = *col.deflt
	}
	required := col.required != nil && *col.required
	var parts []string
	if col.separator != nil {
		out.list = true
		if text == "" || null(text) {
			if required {
				c.warn("column %s: a value is required", col.Name)
			}
			return out
		}
		for part := range strings.SplitSeq(text, *col.separator) {
			if d.Base != "string" && d.Base != "anyAtomicType" && d.Base != "any" {
				part = strings.TrimSpace(part)
			}
			parts = append(parts, part)
		}
	} else {
		parts = []string{text}
	}
	for _, part := range parts {
		part = clean(part)
		if part == "" && col.deflt != nil {
			part = *col.deflt
		}
		if null(part) {
			if required && !out.list {
				c.warn("column %s: a value is required", col.Name)
			}
			continue
		}
		v, err := d.read(part)
		if err != nil {
			c.warn("column %s: %v", col.Name, err)
			out.values, out.typed = append(out.values, value{lexical: part}), append(out.typed, false)
			continue
		}
		out.values, out.typed = append(out.values, v), append(out.typed, true)
	}
	return out
}

// row writes the triples of one row (csv2rdf 4.4, step 4.6).
func (c *converter) row(table term.Key, t *Table, r row) {
	var node term.Key
	if !c.o.Minimal {
		node = c.blank()
		c.triple(table, term.IRI(ns+"row"), node)
		c.triple(node, term.IRI(rdfType), term.IRI(ns+"Row"))
		c.triple(node, term.IRI(ns+"rownum"), term.Typed(strconv.Itoa(r.number), xsdNS+"integer"))
		c.triple(node, term.IRI(ns+"url"), term.IRI(t.URL+"#row="+strconv.Itoa(r.source)))
		for _, name := range t.Schema.RowTitles {
			for _, cl := range r.cells {
				if cl.column.Name != name {
					continue
				}
				for _, v := range cl.values {
					c.triple(node, term.IRI(ns+"title"), titled(v.lexical, cl.column))
				}
			}
		}
	}
	var fallback term.Key
	described := map[term.Key]bool{}
	for i, cl := range r.cells {
		col := cl.column
		if col.Suppress {
			continue
		}
		vars := c.variables(t, r, i)
		var subject term.Key
		if col.aboutURL != nil {
			subject = term.IRI(c.iri(t, *col.aboutURL, vars))
		} else {
			if fallback == "" {
				fallback = c.blank()
			}
			subject = fallback
		}
		if !c.o.Minimal && !described[subject] {
			described[subject] = true
			c.triple(node, term.IRI(ns+"describes"), subject)
		}
		predicate := term.IRI(t.URL + "#" + col.Name)
		if col.propertyURL != nil {
			predicate = term.IRI(c.iri(t, *col.propertyURL, vars))
		}
		c.object(t, subject, predicate, cl, vars)
	}
}

func titled(s string, col *Column) term.Key {
	if col.lang != nil && *col.lang != "und" && (col.datatype == nil || col.datatype.Base == "string") {
		return term.Lang(s, *col.lang)
	}
	return term.String(s)
}

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

// iri expands a template property: the template, then prefixes, then against the table's URL (Metadata 5.1.2).
func (c *converter) iri(t *Table, template string, vars func(string) ([]string, bool)) string {
	s := expandTemplate(template, vars)
	if full, ok := expand(s); ok {
		return full
	}
	return resolve(t.URL, s)
}

// variables are what templates of a row's cell may name.
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
			n, err := unescape(r.cells[at].column.Name)
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

func (t *Table) dialect() *Dialect {
	if t.Dialect != nil {
		return t.Dialect
	}
	return defaultDialect()
}

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

// values are the objects that a JSON value of a common property stands for.
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

// open loads a table. One that is not there is an error.
func (c *converter) open(t *Table) (*source, error) {
	b, err := c.load(t.URL)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("csvw: %w: no table at %s", ErrMetadata, t.URL)
	}
	if err != nil {
		return nil, fmt.Errorf("csvw: load %s: %w", t.URL, err)
	}
	return newSource(b, t.dialect())
}
