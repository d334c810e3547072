package uax35

import (
	"math/big"
	"regexp"
	"strings"
)

// NumberPattern is a number pattern such as "#,##0.00".
type NumberPattern struct {
	prefix, suffix               string // signs, "%" or "‰"
	primary, secondary, fraction int    // sizes of groups, 0 if digits are not grouped
	minInt, maxInt               int    // digits before the point; maxInt applies only with an exponent
	minFrac, maxFrac             int    // digits after the point
	exponent                     int    // minimum digits of the exponent, 0 if there is none
}

// patternShape splits a pattern into prefix, integer part, fraction, sign of the exponent, exponent and suffix.
var patternShape = regexp.MustCompile(`^([+\-%‰]*)([#0,]*)(?:\.([#0,]*))?(?:E([+\-]?)([#0]+))?([+\-%‰]*)$`)

// ParseNumberPattern parses a pattern of the kind that CSVW asks for (Metadata Vocabulary 6.4.2).
func ParseNumberPattern(s string) (*NumberPattern, bool) {
	m := patternShape.FindStringSubmatch(s)
	if m == nil || len(s) > 100 || m[2] == "" && m[3] == "" {
		return nil, false
	}
	whole, frac := m[2], m[3]
	p := &NumberPattern{prefix: m[1], suffix: m[6]}
	groups := strings.Split(whole, ",")
	if n := len(groups); n > 1 {
		p.primary = len(groups[n-1])
		p.secondary = p.primary
		if n > 2 {
			p.secondary = len(groups[n-2])
		}
		if p.primary == 0 || p.secondary == 0 {
			return nil, false
		}
	}
	digits := strings.ReplaceAll(whole, ",", "")
	if strings.Contains(digits, "0#") {
		return nil, false
	}
	p.minInt, p.maxInt = strings.Count(digits, "0"), len(digits)
	if parts := strings.Split(frac, ","); len(parts) > 1 {
		p.fraction = len(parts[0])
		if p.fraction == 0 {
			return nil, false
		}
	}
	digits = strings.ReplaceAll(frac, ",", "")
	if strings.Contains(digits, "#0") {
		return nil, false
	}
	p.minFrac, p.maxFrac = strings.Count(digits, "0"), len(digits)
	p.exponent = strings.Count(m[5], "0")
	if m[5] != "" && p.exponent == 0 {
		p.exponent = 1
	}
	return p, true
}

// NumberFormat says how numbers are written.
type NumberFormat struct {
	Pattern *NumberPattern // nil accepts any grouping and any number of digits
	Decimal string         // between integer part and fraction; default "."
	Group   string         // between groups of digits; default ","
}

// number is a number split into parts.
type number struct {
	sign, whole, frac, exponent string
	dotted                      bool  // has a decimal character
	scale                       int64 // 100 for percent, 1000 for per mille, else 1
}

// exponentShape is what an exponent looks like, without the E.
var exponentShape = regexp.MustCompile(`^[+-]?\d{1,4}$`)

// XSD returns a number that is written in the format as XSD writes it: "1.234,5 %" may become "12.345". The result is
// the lexical form of an xsd:decimal, or of an xsd:double if s has an exponent. ok is false if s does not match.
func (f NumberFormat) XSD(s string) (lexical string, ok bool) {
	if f.Decimal == "" {
		f.Decimal = "."
	}
	if f.Group == "" {
		f.Group = ","
	}
	n, ok := f.split(s)
	if !ok {
		return "", false
	}
	if f.Pattern != nil {
		if !f.Pattern.matches(n, f.Group) || n.dotted && n.frac == "" {
			return "", false
		}
	} else if strings.Contains(n.whole+n.frac, f.Group+f.Group) || strings.HasPrefix(n.whole, f.Group) || strings.HasSuffix(n.whole, f.Group) {
		return "", false
	}
	n.whole, n.frac = strings.ReplaceAll(n.whole, f.Group, ""), strings.ReplaceAll(n.frac, f.Group, "")
	if n.whole == "" && n.frac == "" || strings.Trim(n.whole+n.frac, "0123456789") != "" {
		return "", false
	}
	lexical = n.sign + n.whole
	if n.frac != "" {
		if n.whole == "" {
			lexical += "0"
		}
		lexical += "." + n.frac
	}
	if n.exponent != "" {
		lexical += "e" + n.exponent
	}
	if n.scale == 1 {
		return lexical, true
	}
	x, ok := new(big.Rat).SetString(lexical)
	if !ok {
		return "", false
	}
	x.Quo(x, big.NewRat(n.scale, 1))
	digits, _ := x.FloatPrec()
	return x.FloatString(digits), true
}

// split splits a number at its signs, its exponent and its decimal character.
func (f NumberFormat) split(s string) (n number, ok bool) {
	if len(s) > 1000 {
		return n, false
	}
	body := s
	leadingSign := func() {
		if strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+") {
			n.sign, body = body[:1], body[1:]
		}
	}
	leadingSign()
	n.scale = 1
	for _, mark := range []struct {
		text  string
		scale int64
	}{{"%", 100}, {"‰", 1000}} {
		if t, ok := strings.CutSuffix(body, mark.text); ok {
			body, n.scale = t, mark.scale
		} else if t, ok := strings.CutPrefix(body, mark.text); ok {
			body, n.scale = t, mark.scale
		}
	}
	if n.scale != 1 && n.sign == "" {
		leadingSign()
	}
	if strings.HasSuffix(body, "-") || strings.HasSuffix(body, "+") {
		if n.sign != "" {
			return n, false
		}
		n.sign, body = body[len(body)-1:], body[:len(body)-1]
	}
	if i := strings.IndexAny(body, "eE"); i >= 0 {
		body, n.exponent = body[:i], body[i+1:]
		if !exponentShape.MatchString(n.exponent) {
			return n, false
		}
	}
	n.whole, n.frac, n.dotted = strings.Cut(body, f.Decimal)
	return n, true
}

// matches reports whether the parts of a number match the pattern.
func (p *NumberPattern) matches(n number, group string) bool {
	marks := p.prefix + p.suffix
	switch {
	case strings.Contains(marks, "%") != (n.scale == 100), strings.Contains(marks, "‰") != (n.scale == 1000):
		return false
	case (n.exponent != "") != (p.exponent > 0), len(strings.TrimLeft(n.exponent, "+-")) < p.exponent:
		return false
	case n.dotted != (n.frac != ""):
		return false
	}
	return p.matchesInteger(strings.Split(n.whole, group)) && p.matchesFraction(strings.Split(n.frac, group))
}

// matchesInteger reports whether the groups of digits before the point match the pattern.
func (p *NumberPattern) matchesInteger(groups []string) bool {
	n := 0
	for i, g := range groups {
		n += len(g)
		switch {
		case len(groups) == 1:
			if p.primary > 0 && len(g) > p.primary {
				return false // should have been grouped
			}
		case p.primary == 0:
			return false
		case i == len(groups)-1:
			if len(g) != p.primary {
				return false
			}
		case i == 0:
			if len(g) == 0 || len(g) > p.secondary {
				return false
			}
		case len(g) != p.secondary:
			return false
		}
	}
	return n >= p.minInt && (p.exponent == 0 || n <= max(p.maxInt, 1))
}

// matchesFraction reports whether the groups of digits after the point match the pattern.
func (p *NumberPattern) matchesFraction(groups []string) bool {
	n := 0
	for i, g := range groups {
		n += len(g)
		switch {
		case len(groups) == 1:
			if p.fraction > 0 && len(g) > p.fraction {
				return false
			}
		case p.fraction == 0:
			return false
		case i < len(groups)-1 && len(g) != p.fraction, i == len(groups)-1 && (len(g) == 0 || len(g) > p.fraction):
			return false
		}
	}
	return n >= p.minFrac && n <= p.maxFrac
}
