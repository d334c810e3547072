package webpage

import (
	"regexp"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const (
	rdfType  = term.Key("<" + vocab.RDFType)
	rdfFirst = term.Key("<" + vocab.RDFFirst)
	rdfRest  = term.Key("<" + vocab.RDFRest)
	rdfNil   = term.Key("<" + vocab.RDFNil)
)

// temporal lists the datatypes of the values of <time> elements by their form (HTML+RDFa 1.1 §3.1, Microdata to RDF
// §6.2).
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

// timeValue returns the literal of a date or time, or a plain string if s is neither.
func (d *document) timeValue(s, lang string) term.Key {
	for _, t := range temporal {
		if t.form.MatchString(s) && s != "P" && s[len(s)-1] != 'T' {
			return d.key(term.Typed(s, vocab.XSDNS+t.datatype))
		}
	}
	return d.literal(s, lang)
}

var (
	integerForm = regexp.MustCompile(`^-?\d+$`)
	doubleForm  = regexp.MustCompile(`^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
)

// numberValue returns the literal of the value of <data> or <meter>, a plain string if it is not a number.
func (d *document) numberValue(s, lang string) term.Key {
	switch {
	case integerForm.MatchString(s):
		return d.key(term.Typed(s, vocab.XSDInteger))
	case doubleForm.MatchString(s):
		return d.key(term.Typed(s, vocab.XSDDouble))
	}
	return d.literal(s, lang)
}
