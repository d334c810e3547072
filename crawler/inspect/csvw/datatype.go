package csvw

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"odarchive/triplestore/xsdval/uax35"
)

// Datatype is a datatype description (Metadata Vocabulary 5.11.2).
type Datatype struct {
	ID   string // its own IRI, "" for the base's
	Base string // name of a built-in datatype

	numbers             uax35.NumberFormat
	dates               *uax35.DateFormat // nil for XSD's own
	trueWord, falseWord string
	re                  *regexp.Regexp

	length, minLength, maxLength  int // -1 = none
	minInc, maxInc, minExc, maxEx *value
}

// builtin reports whether the CSVW context defines a datatype name.
func builtin(s string) bool { return datatypeIRI(s) != "" }

// datatypeIRI returns the IRI of a built-in datatype in RDF, "" if there is none.
func datatypeIRI(name string) string {
	const xsd = "http://www.w3.org/2001/XMLSchema#"
	switch name {
	case "number":
		return xsd + "double"
	case "binary":
		return xsd + "base64Binary"
	case "datetime":
		return xsd + "dateTime"
	case "any":
		return xsd + "anyAtomicType"
	case "xml":
		return "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"
	case "html":
		return "http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML"
	case "json":
		return "http://www.w3.org/ns/csvw#JSON"
	case "anyAtomicType", "anyURI", "base64Binary", "boolean", "byte", "date", "dateTime", "dateTimeStamp", "dayTimeDuration", "decimal", "double", "duration", "float",
		"gDay", "gMonth", "gMonthDay", "gYear", "gYearMonth", "hexBinary", "int", "integer", "language", "long", "Name", "negativeInteger", "NMTOKEN",
		"nonNegativeInteger", "nonPositiveInteger", "normalizedString", "positiveInteger", "QName", "short", "string", "time", "token", "unsignedByte",
		"unsignedInt", "unsignedLong", "unsignedShort", "yearMonthDuration":
		return xsd + name
	}
	return ""
}

// family returns how values of a datatype are parsed.
func family(base string) string {
	switch base {
	case "number", "decimal", "double", "float", "byte", "int", "integer", "long", "negativeInteger", "nonNegativeInteger", "nonPositiveInteger", "positiveInteger",
		"short", "unsignedByte", "unsignedInt", "unsignedLong", "unsignedShort":
		return "number"
	case "date", "dateTime", "datetime", "dateTimeStamp", "time":
		return "date"
	case "duration", "dayTimeDuration", "yearMonthDuration":
		return "duration"
	case "boolean":
		return "boolean"
	case "binary", "base64Binary", "hexBinary":
		return "binary"
	case "gDay", "gMonth", "gMonthDay", "gYear", "gYearMonth":
		return "part"
	}
	return "string"
}

// keepsSpace reports whether white space in values is significant.
func keepsSpace(base string) bool {
	switch base {
	case "string", "json", "xml", "html", "any", "anyAtomicType":
		return true
	}
	return false
}

func (d *Datatype) iri() string {
	if d.ID != "" {
		return d.ID
	}
	return datatypeIRI(d.Base)
}

// datatype parses a datatype, a name or an object.
func (p *parser) datatype(v any) (*Datatype, error) {
	d := &Datatype{Base: "string", length: -1, minLength: -1, maxLength: -1}
	o := object{}
	switch x := v.(type) {
	case string:
		if !builtin(x) {
			p.warn("datatype %q is not built in", x)
			return d, nil
		}
		d.Base = x
	case object:
		o = x
	default:
		p.warn("datatype is %v", v)
		return nil, nil
	}
	switch b := o["base"].(type) {
	case nil:
	case string:
		if builtin(b) {
			d.Base = b
		} else {
			p.warn("datatype base %q is not built in", b)
		}
	default:
		p.warn("datatype base is %v", b)
	}
	if id, ok := o["@id"].(string); ok {
		d.ID = resolve(p.base, id)
		if strings.HasPrefix(id, "_:") || strings.HasPrefix(d.ID, "http://www.w3.org/2001/XMLSchema#") || strings.HasPrefix(d.ID, "http://www.w3.org/ns/csvw#") {
			return nil, invalid("datatype @id %s", id)
		}
	}
	for k := range o {
		switch k {
		case "@id", "@type", "base", "format", "length", "minLength", "maxLength", "minimum", "maximum", "minInclusive", "maxInclusive", "minExclusive", "maxExclusive":
		default:
			if _, ok := expand(k); !ok {
				p.warn("datatype: unknown property %s", k)
			}
		}
	}
	p.format(d, o["format"])
	for key, to := range map[string]*int{"length": &d.length, "minLength": &d.minLength, "maxLength": &d.maxLength} {
		if v, ok := o[key]; ok {
			n, isNumber := v.(json.Number)
			i, err := n.Int64()
			if !isNumber || err != nil || i < 0 {
				p.warn("datatype %s is %v", key, v)
				continue
			}
			if f := family(d.Base); f != "string" && f != "binary" {
				return nil, invalid("%s on a %s", key, d.Base)
			}
			*to = int(min(i, math.MaxInt32))
		}
	}
	if d.length >= 0 && (d.minLength > d.length || d.maxLength >= 0 && d.maxLength < d.length) || d.maxLength >= 0 && d.minLength > d.maxLength {
		return nil, invalid("contradicting lengths")
	}
	return d, p.extremes(d, o)
}

// extremes parses the minimum and maximum values.
func (p *parser) extremes(d *Datatype, o object) error {
	plain := &Datatype{Base: d.Base, length: -1, minLength: -1, maxLength: -1}
	for _, e := range []struct {
		key string
		to  **value
	}{{"minimum", &d.minInc}, {"maximum", &d.maxInc}, {"minInclusive", &d.minInc}, {"maxInclusive", &d.maxInc}, {"minExclusive", &d.minExc}, {"maxExclusive", &d.maxEx}} {
		v, ok := o[e.key]
		if !ok {
			continue
		}
		if f := family(d.Base); f != "number" && f != "date" && f != "duration" {
			return invalid("%s on a %s", e.key, d.Base)
		}
		got, err := plain.parse(fmt.Sprint(v))
		if err != nil {
			if got, err = d.parse(fmt.Sprint(v)); err != nil {
				p.warn("datatype %s is %v", e.key, v)
				continue
			}
		}
		*e.to = &got
	}
	switch {
	case d.minInc != nil && d.minExc != nil, d.maxInc != nil && d.maxEx != nil:
		return invalid("inclusive and exclusive limits together")
	case d.minInc != nil && d.maxInc != nil && d.maxInc.less(*d.minInc), d.minExc != nil && d.maxEx != nil && d.maxEx.less(*d.minExc),
		d.minInc != nil && d.maxEx != nil && !d.minInc.less(*d.maxEx), d.minExc != nil && d.maxInc != nil && !d.minExc.less(*d.maxInc):
		return invalid("contradicting limits")
	}
	return nil
}

// format parses the format property, whose meaning depends on the family.
func (p *parser) format(d *Datatype, v any) {
	if v == nil {
		return
	}
	s, isString := v.(string)
	switch family(d.Base) {
	case "number":
		if o, ok := v.(object); ok {
			for k, x := range o {
				t, ok := x.(string)
				if !ok {
					p.warn("format %s is %v", k, x)
					continue
				}
				switch k {
				case "decimalChar":
					d.numbers.Decimal = t
				case "groupChar":
					d.numbers.Group = t
				case "pattern":
					if d.numbers.Pattern, ok = uax35.ParseNumberPattern(t); !ok {
						p.warn("format pattern %q", t)
					}
				}
			}
			return
		}
		pattern, ok := uax35.ParseNumberPattern(s)
		if !ok {
			p.warn("format %v of numbers", v)
			return
		}
		d.numbers.Pattern = pattern
	case "boolean":
		t, f, ok := strings.Cut(s, "|")
		if !isString || !ok || t == "" || f == "" || strings.Contains(f, "|") {
			p.warn("format %v of booleans", v)
			return
		}
		d.trueWord, d.falseWord = t, f
	case "date":
		format, ok := uax35.ParseDateFormat(d.kind(), s)
		if !ok {
			p.warn("format %v of dates", v)
			return
		}
		d.dates = &format
	default:
		if !isString || len(s) > 2000 {
			p.warn("format %v is not a regular expression", v)
			return
		}
		re, err := regexp.Compile("^(?:" + s + ")$")
		if err != nil {
			p.warn("format %q is not a regular expression that can be used", s)
			return
		}
		d.re = re
	}
}
