package rdfio

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// value returns the literal of a value object (JSON-LD 1.1 API §8.3), or "" if it is not valid.
func (d *jsonldDecoder) value(m map[string]any) term.Key {
	datatype, ok := m["@type"].(string)
	if !ok && m["@type"] != nil && d.err == nil {
		d.err = errors.New("invalid typed value: @type is not one IRI")
	}
	if datatype == "@json" {
		b, err := canonicalJSON(nil, m["@value"])
		if err != nil {
			return ""
		}
		return term.Typed(string(b), rdfNS+"JSON")
	}
	if err := iri.CheckChars(datatype); err != nil && d.err == nil {
		d.err = fmt.Errorf("the datatype <%s>: %w", datatype, err)
	}
	if datatype != "" && !iri.IsAbsolute(datatype) {
		return ""
	}
	switch v := m["@value"].(type) {
	case bool:
		return term.Typed(strconv.FormatBool(v), cmp.Or(datatype, xsdNS+"boolean"))
	case json.Number:
		return number(string(v), datatype)
	case string:
		lang, has := m["@language"].(string)
		if !has || lang == "" {
			return term.Typed(v, cmp.Or(datatype, term.XSDString))
		}
		if terminals.LangTag(lang) != len(lang) {
			return ""
		}
		return term.Lang(v, lang)
	}
	return ""
}

// number returns the literal of a JSON number: an xsd:integer if it has no fraction and is below 10^21, otherwise an
// xsd:double. A datatype in the document replaces either. Integers keep all their digits.
func number(s, datatype string) term.Key {
	if lex, ok := wholeNumber(s); ok && datatype != xsdNS+"double" && datatype != xsdNS+"float" {
		return term.Typed(lex, cmp.Or(datatype, xsdNS+"integer"))
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return term.Typed(strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "+Inf", "INF", 1), cmp.Or(datatype, xsdNS+"double"))
	}
	return term.Typed(canonicalDouble(f), cmp.Or(datatype, xsdNS+"double"))
}

// wholeNumber writes a JSON number in plain digits. It returns false if the number has a fraction or is too large.
func wholeNumber(s string) (string, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= 1e21 {
		return "", false
	}
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			return "0", true
		}
		return s, true
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}

// canonicalDouble returns the canonical form of an xsd:double, like 1.5E0.
func canonicalDouble(f float64) string {
	s := strconv.FormatFloat(f, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	exponent = strings.TrimLeft(exponent, "+-0")
	return mantissa + "E" + sign + cmp.Or(exponent, "0")
}
