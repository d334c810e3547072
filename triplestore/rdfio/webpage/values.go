package webpage

import (
	"regexp"

	"odarchive/triplestore/term"
)

const (
	rdfNS    = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	xsdNS    = "http://www.w3.org/2001/XMLSchema#"
	rdfType  = term.Key("<" + rdfNS + "type")
	rdfFirst = term.Key("<" + rdfNS + "first")
	rdfRest  = term.Key("<" + rdfNS + "rest")
	rdfNil   = term.Key("<" + rdfNS + "nil")
)

// temporal lists the datatypes a <time> element can have, by the form of its value (HTML+RDFa 1.1 §3.1, Microdata to RDF §6.2).
var temporal = []struct {
	datatype string
	form     *regexp.Regexp
}{
	{"duration", regexp.MustCompile(`^-?P(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$`)},
	{"dateTime", regexp.MustCompile(`^-?\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$`)},
	{"date", regexp.MustCompile(`^-?\d{4,}-\d\d-\d\d(Z|[+-]\d\d:?\d\d)?$`)},
	{"time", regexp.MustCompile(`^\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$`)},
	{"gYearMonth", regexp.MustCompile(`^-?\d{4,}-\d\d$`)},
	{"gYear", regexp.MustCompile(`^-?\d{4,}$`)},
}

// timeValue gives a date or time its datatype; what is none stays text.
func (d *document) timeValue(s, lang string) term.Key {
	for _, t := range temporal {
		if t.form.MatchString(s) && s != "P" && s[len(s)-1] != 'T' {
			return d.key(term.Typed(s, xsdNS+t.datatype))
		}
	}
	return d.literal(s, lang)
}

var (
	integerForm = regexp.MustCompile(`^-?\d+$`)
	doubleForm  = regexp.MustCompile(`^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
)

// numberValue gives the value of <data> and <meter> its datatype where it is a number.
func (d *document) numberValue(s, lang string) term.Key {
	switch {
	case integerForm.MatchString(s):
		return d.key(term.Typed(s, xsdNS+"integer"))
	case doubleForm.MatchString(s):
		return d.key(term.Typed(s, xsdNS+"double"))
	}
	return d.literal(s, lang)
}
