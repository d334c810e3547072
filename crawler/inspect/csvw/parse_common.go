package csvw

import (
	"slices"
	"strings"
)

// rest parses the common properties and notes of an object, and warns about unknown properties.
func (p *parser) rest(o object, what string, own ...string) ([]property, error) {
	var out []property
	for _, k := range sortedKeys(o) {
		if slices.Contains(own, k) {
			if k == "notes" {
				list, ok := o[k].([]any)
				if !ok {
					p.warn("notes is not an array")
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
			p.warn("%s: unknown property %s", what, k)
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

// validType reports whether a type in a common property is a term, a prefixed name or an absolute URL.
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

// contextTerm reports whether the CSVW context defines s as a class or value.
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
		p.warn("transformations is not an array")
		return nil
	}
	for _, e := range list {
		t, ok := e.(object)
		if !ok {
			p.warn("a transformation is not an object")
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
					p.warn("transformation: unknown property %s", k)
				}
			}
		}
		if t["url"] == nil || t["scriptFormat"] == nil || t["targetFormat"] == nil {
			return invalid("a transformation without url, scriptFormat or targetFormat")
		}
	}
	return nil
}
