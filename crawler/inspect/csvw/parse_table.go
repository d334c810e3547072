package csvw

import (
	"fmt"
	"slices"
)

// table parses a table description (Metadata Vocabulary 5.4).
func (p *parser) table(o object, up inherited, dialect *Dialect, root bool) (*Table, error) {
	if err := p.kind(o, "Table"); err != nil {
		return nil, err
	}
	t := &Table{}
	u, ok := o["url"].(string)
	if !ok {
		if o["url"] != nil {
			p.warn("url %v is not a link", o["url"])
		}
		return nil, invalid("a table without a url")
	}
	t.URL = resolve(p.base, u)
	var err error
	if t.ID, err = p.id(o); err != nil {
		return nil, err
	}
	own, err := p.inherit(o)
	if err != nil {
		return nil, err
	}
	own = own.under(up)
	if o["dialect"] != nil {
		d, err := p.dialect(o["dialect"])
		if err != nil {
			return nil, err
		}
		if d != nil {
			dialect = d
		}
	}
	t.Dialect = dialect
	t.Suppress = p.boolean(o, "suppressOutput", false)
	p.direction(o)
	if err := p.transformations(o); err != nil {
		return nil, err
	}
	keys := []string{"@id", "@type", "url", "dialect", "notes", "suppressOutput", "tableDirection", "tableSchema", "transformations"}
	if root {
		keys = append(keys, "@context")
	}
	if t.Common, err = p.rest(o, "table", keys...); err != nil {
		return nil, err
	}
	if t.Schema, err = p.schema(o["tableSchema"], own); err != nil {
		return nil, err
	}
	if t.Schema == nil {
		t.Schema = &Schema{bare: o["tableSchema"] != nil}
	}
	t.Schema.inherited = own
	return t, nil
}

// refer returns the object that v is or links to, and the parser for it.
func (p *parser) refer(v any, what string) (object, *parser, error) {
	switch x := v.(type) {
	case nil:
		return nil, p, nil
	case object:
		return x, p, nil
	case string:
		if p.load == nil || p.depth > 3 {
			return nil, p, invalid("%s at %s cannot be loaded", what, x)
		}
		at := resolve(p.base, x)
		doc, err := p.load(at)
		if err != nil {
			return nil, p, fmt.Errorf("csvw: %w: %s at %s: %w", ErrMetadata, what, at, err)
		}
		o, err := decode(doc)
		if err != nil {
			return nil, p, err
		}
		q := &parser{load: p.load, base: at, lang: p.lang, depth: p.depth + 1}
		if o["@context"] != nil {
			if err := q.context(o["@context"]); err != nil {
				return nil, p, err
			}
			delete(o, "@context")
		}
		if o["@id"] == nil {
			o["@id"] = at
		}
		return o, q, nil
	}
	p.warn("%s is %v", what, v)
	return nil, p, nil
}

// schema parses a schema, or the one that v links to (Metadata Vocabulary 5.5).
func (p *parser) schema(v any, up inherited) (*Schema, error) {
	o, q, err := p.refer(v, "tableSchema")
	if err != nil || o == nil {
		return nil, err
	}
	defer func() {
		if q != p {
			p.warnings = append(p.warnings, q.warnings...)
		}
	}()
	if err := q.kind(o, "Schema"); err != nil {
		return nil, err
	}
	s := &Schema{}
	if s.ID, err = q.id(o); err != nil {
		return nil, err
	}
	own, err := q.inherit(o)
	if err != nil {
		return nil, err
	}
	own = own.under(up)
	columns, ok := o["columns"].([]any)
	if o["columns"] != nil && !ok {
		q.warn("columns is not an array")
		s.bare = true
	}
	if len(columns) > maxColumns {
		return nil, invalid("%d columns", len(columns))
	}
	names := map[string]bool{}
	for _, v := range columns {
		co, ok := v.(object)
		if !ok {
			q.warn("a column is not an object")
			continue
		}
		c, err := q.column(co, own)
		if err != nil {
			return nil, err
		}
		if n := len(s.Columns); n > 0 && s.Columns[n-1].Virtual && !c.Virtual {
			return nil, invalid("a virtual column before one that is not virtual")
		}
		if c.Name != "" {
			if names[c.Name] {
				return nil, invalid("two columns have the name %s", c.Name)
			}
			names[c.Name] = true
		}
		s.Columns = append(s.Columns, c)
	}
	known := func(list []string) bool {
		for _, n := range list {
			if !slices.ContainsFunc(s.Columns, func(c *Column) bool { return c.Name == n }) {
				return false
			}
		}
		return true
	}
	if s.PrimaryKey = q.references(o, "primaryKey"); s.PrimaryKey != nil && !known(s.PrimaryKey) {
		q.warn("primaryKey names an unknown column")
		s.PrimaryKey = nil
	}
	if s.RowTitles = q.references(o, "rowTitles"); s.RowTitles != nil && !known(s.RowTitles) {
		q.warn("rowTitles names an unknown column")
		s.RowTitles = nil
	}
	if v := o["foreignKeys"]; v != nil {
		list, ok := v.([]any)
		if !ok {
			q.warn("foreignKeys is not an array")
		}
		for _, v := range list {
			fk, err := q.foreignKey(v)
			if err != nil {
				return nil, err
			}
			if fk == nil {
				continue
			}
			if !known(fk.columns) {
				return nil, invalid("a foreign key of an unknown column")
			}
			s.ForeignKeys = append(s.ForeignKeys, *fk)
		}
	}
	if s.Common, err = q.rest(o, "schema", "@id", "@type", "columns", "foreignKeys", "primaryKey", "rowTitles"); err != nil {
		return nil, err
	}
	return s, nil
}

// references parses a property that names one or more columns.
func (p *parser) references(o object, key string) []string {
	switch v := o[key].(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				p.warn("%s contains %v", key, x)
				return nil
			}
			out = append(out, s)
		}
		return out
	}
	p.warn("%s is %v", key, o[key])
	return nil
}

// foreignKey parses a foreign key definition, nil if it is invalid but may be ignored.
func (p *parser) foreignKey(v any) (*foreignKey, error) {
	o, ok := v.(object)
	if !ok {
		p.warn("a foreign key is not an object")
		return nil, nil
	}
	for k := range o {
		if k != "columnReference" && k != "reference" {
			return nil, invalid("a foreign key with %s", k)
		}
	}
	fk := &foreignKey{columns: p.references(o, "columnReference")}
	ref, ok := o["reference"].(object)
	if !ok || fk.columns == nil {
		return nil, invalid("a foreign key without columns or reference")
	}
	for k, v := range ref {
		s, isString := v.(string)
		switch k {
		case "resource":
			if !isString {
				return nil, invalid("a foreign key to %v", v)
			}
			fk.resource = resolve(p.base, s)
		case "schemaReference":
			if !isString {
				return nil, invalid("a foreign key to %v", v)
			}
			fk.schema = resolve(p.base, s)
		case "columnReference":
			fk.reference = p.references(ref, k)
		default:
			return nil, invalid("a foreign key reference with %s", k)
		}
	}
	if fk.reference == nil || (fk.resource == "") == (fk.schema == "") {
		return nil, invalid("a foreign key without a target")
	}
	return fk, nil
}

// check checks the foreign keys between the tables.
func (g *Group) check() error {
	for _, t := range g.Tables {
		for _, fk := range t.Schema.ForeignKeys {
			var target *Table
			for _, o := range g.Tables {
				if fk.resource != "" && o.URL == fk.resource || fk.schema != "" && o.Schema.ID == fk.schema {
					target = o
				}
			}
			if target == nil {
				return invalid("a foreign key to a table that is not in the group")
			}
			for _, n := range fk.reference {
				if !slices.ContainsFunc(target.Schema.Columns, func(c *Column) bool { return c.Name == n }) {
					return invalid("a foreign key to an unknown column %s", n)
				}
			}
		}
	}
	return nil
}
