package csvw

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/xsdval"
	"odarchive/triplestore/xsdval/uax35"
)

// value is a cell's value: its text in RDF, and what it compares as.
type value struct {
	lexical string
	xsd     xsdval.Value // zero for texts and booleans
}

// less reports whether v is known to be less than o.
func (v value) less(o value) bool {
	c, ok := xsdval.Compare(v.xsd, o.xsd)
	return ok && c < 0
}

// read parses one value and checks it against the constraints.
func (d *Datatype) read(s string) (value, error) {
	v, err := d.parse(s)
	if err != nil {
		return v, err
	}
	if f := family(d.Base); f == "string" || f == "binary" {
		n := utf8.RuneCountInString(s)
		switch d.Base {
		case "hexBinary":
			n /= 2
		case "base64Binary", "binary":
			n = len(strings.TrimRight(s, "=")) * 3 / 4
		}
		if d.length >= 0 && n != d.length || d.minLength >= 0 && n < d.minLength || d.maxLength >= 0 && n > d.maxLength {
			return v, fmt.Errorf("%q has %d characters", s, n)
		}
	}
	if d.minInc != nil && v.less(*d.minInc) || d.maxInc != nil && d.maxInc.less(v) || d.minExc != nil && !d.minExc.less(v) || d.maxEx != nil && !v.less(*d.maxEx) {
		return v, fmt.Errorf("%q is out of range", s)
	}
	return v, nil
}

func (d *Datatype) parse(s string) (value, error) {
	bad := fmt.Errorf("%q is not a valid %s", s, d.Base)
	switch family(d.Base) {
	case "number":
		return d.number(s)
	case "boolean":
		t, f := d.trueWord, d.falseWord
		if t == "" {
			switch s {
			case "true", "1":
				return value{lexical: "true"}, nil
			case "false", "0":
				return value{lexical: "false"}, nil
			}
			return value{}, bad
		}
		switch s {
		case t:
			return value{lexical: "true"}, nil
		case f:
			return value{lexical: "false"}, nil
		}
		return value{}, bad
	case "date":
		return d.date(s)
	case "duration", "part":
		if d.re != nil && !d.re.MatchString(s) {
			return value{}, bad
		}
		v, ok := xsdval.Parse(s, datatypeIRI(d.Base))
		if !ok {
			return value{}, bad
		}
		return value{s, v}, nil
	}
	if d.re != nil && !d.re.MatchString(s) {
		return value{}, bad
	}
	ok := true
	switch d.Base {
	case "hexBinary":
		ok, _ = regexp.MatchString(`^(?:[0-9a-fA-F]{2})*$`, s)
	case "base64Binary", "binary":
		ok, _ = regexp.MatchString(`^[A-Za-z0-9+/\s]*={0,2}$`, s)
	case "language":
		ok, _ = regexp.MatchString(`^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$`, s)
	}
	if !ok {
		return value{}, bad
	}
	return value{lexical: s}, nil
}

// number parses a number in the datatype's format.
func (d *Datatype) number(s string) (value, error) {
	lexical, ok := s, true
	if s != "NaN" && s != "INF" && s != "-INF" {
		lexical, ok = d.numbers.XSD(s)
	}
	v, parsed := xsdval.Parse(lexical, datatypeIRI(d.Base))
	switch {
	case !ok && d.numbers.Pattern != nil:
		return value{}, fmt.Errorf("%q does not match the format of the %s", s, d.Base)
	case !ok, !parsed, v.Kind == xsdval.Integer && strings.Contains(s, cmp.Or(d.numbers.Decimal, ".")):
		return value{}, fmt.Errorf("%q is not a valid %s", s, d.Base)
	}
	return value{lexical, v}, nil
}

// date parses a date, a time or both in the datatype's format.
func (d *Datatype) date(s string) (value, error) {
	format := uax35.XSDFormat(d.kind())
	if d.dates != nil {
		format = *d.dates
	}
	lexical, ok := format.XSD(s)
	v, parsed := xsdval.Parse(lexical, datatypeIRI(d.Base))
	if !ok || !parsed {
		return value{}, fmt.Errorf("%q is not a valid %s", s, d.Base)
	}
	return value{lexical, v}, nil
}

// kind returns the kind of a datatype's values, xsdval.None for texts.
func (d *Datatype) kind() xsdval.Kind { return xsdval.KindOf(datatypeIRI(d.Base)) }
