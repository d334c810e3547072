package csvw

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// column parses a column description (Metadata Vocabulary 5.6).
func (p *parser) column(o object, up inherited) (*Column, error) {
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

// validName reports whether s is a variable name of a URI template that does not begin with "_" (RFC 6570, 2.3).
func validName(s string) bool {
	ok, _ := regexp.MatchString(`^(?:[A-Za-z0-9]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*$`, s)
	return ok
}

// encodeName returns a column name derived from a title.
func encodeName(title string) string {
	var b strings.Builder
	for _, c := range []byte(title) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// titles parses natural language strings.
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
					p.warn("title %v is not a string", e)
				}
			}
		default:
			p.warn("title %v is not a string", v)
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

func sortedKeys(o object) []string { return slices.Sorted(maps.Keys(o)) }

// boolean parses a boolean property.
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

// inherit parses the inherited properties of an object (Metadata Vocabulary 5.7).
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
	// A URI template that is not a string counts as an empty one, which stands for the table's URL (Metadata Vocabulary 5.1.3).
	template := func(key string) *string {
		s := text(key)
		if _, there := o[key]; there && s == nil {
			s = new(string)
		}
		return s
	}
	i.aboutURL, i.propertyURL, i.valueURL = template("aboutUrl"), template("propertyUrl"), template("valueUrl")
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
				p.warn("null %v is not a string", e)
			}
		}
	default:
		p.warn("null %v is not a string", v)
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
