package csvw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/charset"
)

// bounds against documents that were made to be long.
const (
	maxDocument = 16 << 20
	maxColumns  = 1 << 14
)

type object = map[string]any

// parser reads one metadata document.
type parser struct {
	load     Load
	base     string
	lang     string
	warnings []string
	depth    int
}

func (p *parser) warn(format string, a ...any) {
	if len(p.warnings) < 1000 {
		p.warnings = append(p.warnings, fmt.Sprintf(format, a...))
	}
}

// Parse reads the metadata document at location. load gives the documents that it refers to for schemas and dialects.
func Parse(doc []byte, location string, load Load) (*Group, error) {
	root, err := decode(doc)
	if err != nil {
		return nil, err
	}
	p := &parser{load: load, base: location, lang: "und"}
	if err := p.context(root["@context"]); err != nil {
		return nil, err
	}
	g, err := p.group(root)
	if err != nil {
		return nil, err
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	g.Warnings = p.warnings
	return g, nil
}

func decode(doc []byte) (object, error) {
	if len(doc) > maxDocument {
		return nil, invalid("%d bytes", len(doc))
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, invalid("no JSON: %v", err)
	}
	root, ok := v.(object)
	if !ok {
		return nil, invalid("the document is no object")
	}
	return root, nil
}

// validLanguage tells whether s has the shape of a BCP 47 tag.
func validLanguage(s string) bool {
	ok, _ := regexp.MatchString(`^(?:[a-zA-Z]{2,3}(?:-[a-zA-Z]{3}){0,3}|[a-zA-Z]{4,8}|i|x)(?:-[a-zA-Z0-9]{1,8})*$`, s)
	return ok && len(s) < 100
}

const contextURL = "http://www.w3.org/ns/csvw"

// context reads @context (Metadata Vocabulary 5.2).
func (p *parser) context(v any) error {
	switch c := v.(type) {
	case nil:
		return invalid("no @context")
	case string:
		if c != contextURL {
			return invalid("@context is %q", c)
		}
	case []any:
		if len(c) == 0 || c[0] != contextURL || len(c) > 2 {
			return invalid("@context does not begin with %s", contextURL)
		}
		if len(c) == 2 {
			local, ok := c[1].(object)
			if !ok {
				return invalid("the local context is no object")
			}
			for k, v := range local {
				s, isString := v.(string)
				switch k {
				case "@language":
					if isString && validLanguage(s) {
						p.lang = s
					} else {
						p.warn("@language %v is no language tag", v)
					}
				case "@base":
					if !isString {
						return invalid("@base is no string")
					}
					p.base = resolve(p.base, s)
				default:
					return invalid("%s in the local context", k)
				}
			}
			if len(local) == 0 {
				return invalid("an empty local context")
			}
		}
	default:
		return invalid("@context is %v", v)
	}
	return nil
}

// group reads the root of a document, a group of tables or a single one.
func (p *parser) group(root object) (*Group, error) {
	g := &Group{}
	_, tables := root["tables"]
	kind, _ := root["@type"].(string)
	if !tables && (root["url"] != nil || kind == "Table") {
		t, err := p.table(root, inherited{}, nil, "", true)
		if err != nil {
			return nil, err
		}
		g.Tables = []*Table{t}
		return g, nil
	}
	if err := p.kind(root, "TableGroup"); err != nil {
		return nil, err
	}
	var err error
	if g.ID, err = p.id(root); err != nil {
		return nil, err
	}
	list, ok := root["tables"].([]any)
	if !ok || len(list) == 0 {
		return nil, invalid("no tables")
	}
	up, err := p.inherit(root)
	if err != nil {
		return nil, err
	}
	dialect, err := p.dialect(root["dialect"])
	if err != nil {
		return nil, err
	}
	if g.Common, err = p.rest(root, "group", "@context", "@id", "@type", "tables", "dialect", "notes", "tableDirection", "tableSchema", "transformations"); err != nil {
		return nil, err
	}
	if err := p.transformations(root); err != nil {
		return nil, err
	}
	p.direction(root)
	schema := root["tableSchema"]
	for _, v := range list {
		o, ok := v.(object)
		if !ok {
			p.warn("a table that is no object")
			continue
		}
		if o["tableSchema"] == nil && schema != nil {
			o["tableSchema"] = schema
		}
		t, err := p.table(o, up, dialect, "", false)
		if err != nil {
			return nil, err
		}
		g.Tables = append(g.Tables, t)
	}
	if len(g.Tables) == 0 {
		return nil, invalid("no tables")
	}
	return g, nil
}

// kind checks @type, where it is there.
func (p *parser) kind(o object, want string) error {
	if v, ok := o["@type"]; ok && v != want {
		return invalid("@type is %v, not %s", v, want)
	}
	return nil
}

// id reads @id: a link that is no blank node.
func (p *parser) id(o object) (string, error) {
	v, ok := o["@id"]
	if !ok {
		return "", nil
	}
	s, isString := v.(string)
	if !isString {
		p.warn("@id %v is no link", v)
		return resolve(p.base, ""), nil // as if it were the empty link
	}
	if strings.HasPrefix(s, "_:") {
		return "", invalid("@id %s is a blank node", s)
	}
	return resolve(p.base, s), nil
}

func (p *parser) direction(o object) {
	switch o["tableDirection"] {
	case nil, "rtl", "ltr", "auto":
	default:
		p.warn("tableDirection %v", o["tableDirection"])
	}
}

func (p *parser) table(o object, up inherited, dialect *Dialect, _ string, root bool) (*Table, error) {
	if err := p.kind(o, "Table"); err != nil {
		return nil, err
	}
	t := &Table{}
	u, ok := o["url"].(string)
	if !ok {
		if o["url"] != nil {
			p.warn("url %v is no link", o["url"])
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

// refer loads the object that a link stands for.
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
		q.warn("columns is no array")
		s.bare = true
	}
	if len(columns) > maxColumns {
		return nil, invalid("%d columns", len(columns))
	}
	names := map[string]bool{}
	for i, v := range columns {
		co, ok := v.(object)
		if !ok {
			q.warn("a column that is no object")
			continue
		}
		c, err := q.column(co, own, i)
		if err != nil {
			return nil, err
		}
		if n := len(s.Columns); n > 0 && s.Columns[n-1].Virtual && !c.Virtual {
			return nil, invalid("a virtual column before one that is not")
		}
		if c.Name != "" {
			if names[c.Name] {
				return nil, invalid("two columns are called %s", c.Name)
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
		q.warn("primaryKey names a column that is not there")
		s.PrimaryKey = nil
	}
	if s.RowTitles = q.references(o, "rowTitles"); s.RowTitles != nil && !known(s.RowTitles) {
		q.warn("rowTitles names a column that is not there")
		s.RowTitles = nil
	}
	if v := o["foreignKeys"]; v != nil {
		list, ok := v.([]any)
		if !ok {
			q.warn("foreignKeys is no array")
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
				return nil, invalid("a foreign key of a column that is not there")
			}
			s.ForeignKeys = append(s.ForeignKeys, *fk)
		}
	}
	if s.Common, err = q.rest(o, "schema", "@id", "@type", "columns", "foreignKeys", "primaryKey", "rowTitles"); err != nil {
		return nil, err
	}
	return s, nil
}

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
				p.warn("%s has %v in it", key, x)
				return nil
			}
			out = append(out, s)
		}
		return out
	}
	p.warn("%s is %v", key, o[key])
	return nil
}

func (p *parser) foreignKey(v any) (*foreignKey, error) {
	o, ok := v.(object)
	if !ok {
		p.warn("a foreign key that is no object")
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

// check looks at what tables say of one another.
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
					return invalid("a foreign key to a column %s that is not there", n)
				}
			}
		}
	}
	return nil
}

func (p *parser) column(o object, up inherited, _ int) (*Column, error) {
	if err := p.kind(o, "Column"); err != nil {
		return nil, err
	}
	c := &Column{}
	var err error
	if c.ID, err = p.id(o); err != nil {
		return nil, err
	}
	if v, ok := o["name"]; ok {
		s, isString := v.(string)
		if isString && validName(s) {
			c.Name = s
		} else {
			p.warn("column name %v", v)
		}
	}
	c.Titles = p.titles(o["titles"])
	if c.Name == "" {
		if i := slices.IndexFunc(c.Titles, func(t Title) bool { return t.Lang == p.lang }); i >= 0 {
			c.fallback = encodeName(c.Titles[i].Text)
		}
	}
	c.Virtual = p.boolean(o, "virtual", false)
	c.Suppress = p.boolean(o, "suppressOutput", false)
	own, err := p.inherit(o)
	if err != nil {
		return nil, err
	}
	c.inherited = own.under(up)
	if c.Common, err = p.rest(o, "column", "@id", "@type", "name", "titles", "virtual", "suppressOutput"); err != nil {
		return nil, err
	}
	return c, nil
}

// validName tells whether s is a variable name of a URI template that does not begin with "_" (RFC 6570, 2.3).
func validName(s string) bool {
	ok, _ := regexp.MatchString(`^(?:[A-Za-z0-9]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*$`, s)
	return ok
}

// encodeName makes a column name of a title.
func encodeName(title string) string {
	var b strings.Builder
	for _, c := range []byte(title) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' && false {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (p *parser) titles(v any) []Title {
	var out []Title
	add := func(v any, lang string) {
		switch x := v.(type) {
		case string:
			out = append(out, Title{x, lang})
		case []any:
			for _, e := range x {
				if s, ok := e.(string); ok {
					out = append(out, Title{s, lang})
				} else {
					p.warn("title %v is no string", e)
				}
			}
		default:
			p.warn("title %v is no string", v)
		}
	}
	switch x := v.(type) {
	case nil:
	case object:
		for _, lang := range sortedKeys(x) {
			if !validLanguage(lang) {
				p.warn("title in a language %q", lang)
				continue
			}
			add(x[lang], lang)
		}
	default:
		add(x, p.lang)
	}
	return out
}

func sortedKeys(o object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (p *parser) boolean(o object, key string, deflt bool) bool {
	switch v := o[key].(type) {
	case nil:
		return deflt
	case bool:
		return v
	}
	p.warn("%s is %v, not a boolean", key, o[key])
	return deflt
}

// inherit reads the inherited properties of an object (Metadata Vocabulary 5.7).
func (p *parser) inherit(o object) (inherited, error) {
	var i inherited
	text := func(key string) *string {
		v, ok := o[key]
		if !ok {
			return nil
		}
		s, isString := v.(string)
		if !isString {
			p.warn("%s is %v, not a string", key, v)
			return nil
		}
		return &s
	}
	i.aboutURL, i.propertyURL, i.valueURL = text("aboutUrl"), text("propertyUrl"), text("valueUrl")
	i.deflt = text("default")
	if v, ok := o["separator"]; ok && v != nil {
		i.separator = text("separator")
	}
	if s := text("lang"); s != nil {
		if validLanguage(*s) {
			i.lang = s
		} else {
			p.warn("lang %q", *s)
		}
	}
	switch o["textDirection"] {
	case nil, "ltr", "rtl", "auto", "inherit":
	default:
		p.warn("textDirection %v", o["textDirection"])
	}
	switch v := o["null"].(type) {
	case nil:
	case string:
		i.null = []string{v}
	case []any:
		i.null = []string{}
		for _, e := range v {
			if s, ok := e.(string); ok {
				i.null = append(i.null, s)
			} else {
				p.warn("null %v is no string", e)
			}
		}
	default:
		p.warn("null %v is no string", v)
	}
	for key, to := range map[string]**bool{"ordered": &i.ordered, "required": &i.required} {
		switch v := o[key].(type) {
		case nil:
		case bool:
			*to = &v
		default:
			p.warn("%s is %v, not a boolean", key, v)
		}
	}
	if v, ok := o["datatype"]; ok {
		d, err := p.datatype(v)
		if err != nil {
			return i, err
		}
		i.datatype = d
	}
	return i, nil
}

// rest reads the common properties and notes of an object, and warns of properties it should not have.
func (p *parser) rest(o object, what string, own ...string) ([]property, error) {
	var out []property
	for _, k := range sortedKeys(o) {
		if slices.Contains(own, k) {
			if k == "notes" {
				list, ok := o[k].([]any)
				if !ok {
					p.warn("notes is no array")
					continue
				}
				for _, n := range list {
					if err := p.checkCommon(n, true); err != nil {
						return nil, err
					}
					out = append(out, property{"http://www.w3.org/ns/csvw#note", n, p.lang, p.base})
				}
			}
			continue
		}
		switch k {
		case "aboutUrl", "datatype", "default", "lang", "null", "ordered", "propertyUrl", "required", "separator", "textDirection", "valueUrl":
			continue
		}
		iri, ok := expand(k)
		if !ok {
			if strings.HasPrefix(k, "@") {
				return nil, invalid("%s in a %s", k, what)
			}
			p.warn("a %s has no property %s", what, k)
			continue
		}
		if err := p.checkCommon(o[k], true); err != nil {
			return nil, err
		}
		out = append(out, property{iri, o[k], p.lang, p.base})
	}
	return out, nil
}

// checkCommon checks the value of a common property (Metadata Vocabulary 5.8).
func (p *parser) checkCommon(v any, top bool) error {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			if err := p.checkCommon(e, top); err != nil {
				return err
			}
		}
	case object:
		_, value := x["@value"]
		for k, e := range x {
			switch k {
			case "@context", "@list", "@set":
				return invalid("%s in a common property", k)
			case "@value":
				for other := range x {
					if other != "@value" && other != "@type" && other != "@language" {
						return invalid("@value beside %s", other)
					}
				}
				if x["@type"] != nil && x["@language"] != nil {
					return invalid("@value with both @type and @language")
				}
			case "@language":
				if !value {
					return invalid("@language without @value")
				}
				if s, ok := e.(string); !ok || !validLanguage(s) {
					return invalid("@language %v", e)
				}
			case "@type":
				list, ok := e.([]any)
				if !ok || value {
					list = []any{e}
				}
				for _, t := range list {
					s, isString := t.(string)
					if !isString || !p.validType(s, value) {
						return invalid("@type %v", t)
					}
				}
			case "@id":
				s, ok := e.(string)
				if !ok || strings.HasPrefix(s, "_:") {
					return invalid("@id %v", e)
				}
			default:
				if strings.HasPrefix(k, "@") {
					return invalid("%s in a common property", k)
				}
				if _, ok := expand(k); !ok && !contextTerm(k) {
					p.warn("%s in a common property", k)
				}
				if err := p.checkCommon(e, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// validType tells whether a type in a common property is a term, a prefixed name or an absolute URL.
func (p *parser) validType(s string, ofValue bool) bool {
	if ofValue {
		if builtin(s) {
			return true
		}
	} else if contextTerm(s) {
		return true
	}
	_, ok := expand(s)
	return ok
}

// contextTerm tells whether s is a class that the CSVW context defines.
func contextTerm(s string) bool {
	switch s {
	case "Cell", "Column", "Datatype", "Dialect", "Direction", "ForeignKey", "JSON", "NumericFormat", "Row", "Schema", "Table", "TableGroup", "TableReference",
		"Transformation", "auto", "inherit", "ltr", "rtl", "rowtitle", "uriTemplate", "tabularMetadata", "csvEncodedTabularData":
		return true
	}
	return builtin(s)
}

func (p *parser) transformations(o object) error {
	v, ok := o["transformations"]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		p.warn("transformations is no array")
		return nil
	}
	for _, e := range list {
		t, ok := e.(object)
		if !ok {
			p.warn("a transformation that is no object")
			continue
		}
		if err := p.kind(t, "Template"); err != nil {
			return err
		}
		if _, err := p.id(t); err != nil {
			return err
		}
		for k := range t {
			switch k {
			case "@id", "@type", "url", "scriptFormat", "source", "targetFormat", "titles":
			default:
				if _, ok := expand(k); !ok {
					p.warn("a transformation has no property %s", k)
				}
			}
		}
		if t["url"] == nil || t["scriptFormat"] == nil || t["targetFormat"] == nil {
			return invalid("a transformation without url, scriptFormat or targetFormat")
		}
	}
	return nil
}

// dialect reads a dialect description (Metadata Vocabulary 5.9).
func (p *parser) dialect(v any) (*Dialect, error) {
	o, q, err := p.refer(v, "dialect")
	if err != nil || o == nil {
		return nil, err
	}
	defer func() {
		if q != p {
			p.warnings = append(p.warnings, q.warnings...)
		}
	}()
	if err := q.kind(o, "Dialect"); err != nil {
		return nil, err
	}
	if _, err := q.id(o); err != nil {
		return nil, err
	}
	d := defaultDialect()
	text := func(key string, to *string) {
		switch v := o[key].(type) {
		case string:
			*to = v
		case nil:
			if _, there := o[key]; there && (key == "quoteChar" || key == "commentPrefix") {
				*to = ""
			}
		default:
			q.warn("dialect %s is %v", key, v)
		}
	}
	count := func(key string, to *int) {
		switch v := o[key].(type) {
		case nil:
		case json.Number:
			if n, err := v.Int64(); err == nil && n >= 0 && n < 1<<20 {
				*to = int(n)
				return
			}
			q.warn("dialect %s is %v", key, v)
		default:
			q.warn("dialect %s is %v", key, v)
		}
	}
	text("commentPrefix", &d.CommentPrefix)
	text("delimiter", &d.Delimiter)
	text("quoteChar", &d.QuoteChar)
	text("encoding", &d.Encoding)
	if _, err := charset.NewReader(bytes.NewReader(nil), d.Encoding); err != nil {
		q.warn("dialect encoding is %q", d.Encoding)
		d.Encoding = "utf-8"
	}
	d.DoubleQuote = q.boolean(o, "doubleQuote", true)
	d.SkipBlankRows = q.boolean(o, "skipBlankRows", false)
	d.SkipInitialSpace = q.boolean(o, "skipInitialSpace", false)
	if !q.boolean(o, "header", true) {
		d.HeaderRowCount = 0
	}
	count("headerRowCount", &d.HeaderRowCount)
	count("skipRows", &d.SkipRows)
	count("skipColumns", &d.SkipColumns)
	switch t := o["trim"].(type) {
	case nil:
		if d.SkipInitialSpace {
			d.Trim = "start"
		}
	case bool:
		d.Trim = fmt.Sprint(t)
	case string:
		switch t {
		case "true", "false", "start", "end":
			d.Trim = t
		default:
			q.warn("dialect trim is %q", t)
		}
	default:
		q.warn("dialect trim is %v", t)
	}
	switch v := o["lineTerminators"].(type) {
	case nil, string:
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				q.warn("dialect lineTerminators has %v", e)
			}
		}
	default:
		q.warn("dialect lineTerminators is %v", v)
	}
	for k := range o {
		switch k {
		case "@id", "@type", "commentPrefix", "delimiter", "quoteChar", "encoding", "doubleQuote", "skipBlankRows", "skipInitialSpace", "header", "headerRowCount", "skipRows",
			"skipColumns", "trim", "lineTerminators":
		default:
			q.warn("a dialect has no property %s", k)
		}
	}
	return d, nil
}
