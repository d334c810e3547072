package csvw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Limits of documents.
const (
	maxDocument = 16 << 20
	maxColumns  = 1 << 14
)

type object = map[string]any

// parser parses one metadata document.
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

// Parse parses the metadata document at location. load returns the documents that it refers to for schemas and
// dialects.
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

// decode decodes a document, which must be a JSON object.
func decode(doc []byte) (object, error) {
	if len(doc) > maxDocument {
		return nil, invalid("%d bytes", len(doc))
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, invalid("not JSON: %v", err)
	}
	root, ok := v.(object)
	if !ok {
		return nil, invalid("the document is not an object")
	}
	return root, nil
}

// validLanguage reports whether s has the form of a BCP 47 tag.
func validLanguage(s string) bool {
	ok, _ := regexp.MatchString(`^(?:[a-zA-Z]{2,3}(?:-[a-zA-Z]{3}){0,3}|[a-zA-Z]{4,8}|i|x)(?:-[a-zA-Z0-9]{1,8})*$`, s)
	return ok && len(s) < 100
}

const contextURL = "http://www.w3.org/ns/csvw"

// context parses @context (Metadata Vocabulary 5.2).
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
				return invalid("the local context is not an object")
			}
			for k, v := range local {
				s, isString := v.(string)
				switch k {
				case "@language":
					if isString && validLanguage(s) {
						p.lang = s
					} else {
						p.warn("@language %v is not a language tag", v)
					}
				case "@base":
					if !isString {
						return invalid("@base is not a string")
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

// group parses the root of a document, a group of tables or a single one.
func (p *parser) group(root object) (*Group, error) {
	g := &Group{}
	_, tables := root["tables"]
	kind, _ := root["@type"].(string)
	if !tables && (root["url"] != nil || kind == "Table") {
		t, err := p.table(root, inherited{}, nil, true)
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
			p.warn("a table is not an object")
			continue
		}
		if o["tableSchema"] == nil && schema != nil {
			o["tableSchema"] = schema
		}
		t, err := p.table(o, up, dialect, false)
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

// kind checks @type, if present.
func (p *parser) kind(o object, want string) error {
	if v, ok := o["@type"]; ok && v != want {
		return invalid("@type is %v, not %s", v, want)
	}
	return nil
}

// id returns @id, which must be a link but not a blank node, as an absolute IRI.
func (p *parser) id(o object) (string, error) {
	v, ok := o["@id"]
	if !ok {
		return "", nil
	}
	s, isString := v.(string)
	if !isString {
		p.warn("@id %v is not a link", v)
		return resolve(p.base, ""), nil // as for an empty link
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
