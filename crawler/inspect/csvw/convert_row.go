package csvw

import (
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// row is one row of a table.
type row struct {
	number, source int
	cells          []cell
}

// cell is a parsed cell.
type cell struct {
	column *Column
	values []value // empty for null
	list   bool    // the column has a separator
	typed  []bool  // false for a value that is not valid in its datatype
}

// columns returns the columns of the schema, or those of the header if it has none. A header that differs from the
// schema causes a warning.
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

// language returns the language of a column's cells and title, "und" if unknown.
func (c *Column) language() string {
	if c.lang != nil {
		return *c.lang
	}
	return "und"
}

// sameLanguage reports whether one of two language tags is a prefix of the other. "und" matches any.
func sameLanguage(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == "und" || b == "und" || a == b || strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-")
}

// read parses the cells of a row by their columns' datatypes (Model 6.4).
func (c *converter) read(columns []*Column, src *source, number int) row {
	r := row{number: number, source: src.at}
	for i, col := range columns {
		text := ""
		if !col.Virtual && i < len(src.current) {
			text = src.current[i]
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
