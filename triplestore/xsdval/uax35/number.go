package csvw

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
)

// numberPattern is a number format pattern of UAX 35 as far as CSVW asks for it (Metadata Vocabulary 6.4.2).
type numberPattern struct {
	prefix, suffix               string
	primary, secondary, fraction int // sizes of groups, 0 = none
	minInt, maxInt               int // maxInt counts only where there is an exponent
	minFrac, maxFrac             int
	exponent                     int // least digits of the exponent, 0 = no exponent
}

// patternShape takes a pattern apart: sign or percent before, whole part, fraction, exponent, sign or percent behind.
func patternShape() *regexp.Regexp {
	return regexp.MustCompile(`^([+\-%‰]*)([#0,]*)(?:\.([#0,]*))?(?:E([+\-]?)([#0]+))?([+\-%‰]*)$`)
}

func parsePattern(s string) (numberPattern, bool) {
	var p numberPattern
	m := patternShape().FindStringSubmatch(s)
	if m == nil || len(s) > 100 || m[2] == "" && m[3] == "" {
		return p, false
	}
	whole, frac := m[2], m[3]
	p.prefix, p.suffix = m[1], m[6]
	groups := strings.Split(whole, ",")
	if n := len(groups); n > 1 {
		p.primary = len(groups[n-1])
		p.secondary = p.primary
		if n > 2 {
			p.secondary = len(groups[n-2])
		}
		if p.primary == 0 || p.secondary == 0 {
			return p, false
		}
	}
	digits := strings.ReplaceAll(whole, ",", "")
	if strings.Contains(digits, "0#") {
		return p, false
	}
	p.minInt, p.maxInt = strings.Count(digits, "0"), len(digits)
	if parts := strings.Split(frac, ","); len(parts) > 1 {
		p.fraction = len(parts[0])
		if p.fraction == 0 {
			return p, false
		}
	}
	digits = strings.ReplaceAll(frac, ",", "")
	if strings.Contains(digits, "#0") {
		return p, false
	}
	p.minFrac, p.maxFrac = strings.Count(digits, "0"), len(digits)
	p.exponent = strings.Count(m[5], "0")
	if m[5] != "" && p.exponent == 0 {
		p.exponent = 1
	}
	return p, true
}

func validNumberPattern(s string) bool {
	_, ok := parsePattern(s)
	return ok
}

// number reads a number in the datatype's format.
func (d *Datatype) number(s string) (value, error) {
	bad := fmt.Errorf("%q is no %s", s, d.Base)
	point, group := d.decimalChar, d.groups
	if point == "" {
		point = "."
	}
	if group == "" {
		group = ","
	}
	switch s {
	case "NaN", "INF", "-INF":
		if d.Base != "double" && d.Base != "float" && d.Base != "number" {
			return value{}, bad
		}
		return value{lexical: s, special: map[string]float64{"NaN": math.NaN(), "INF": math.Inf(1), "-INF": math.Inf(-1)}[s]}, nil
	}
	if len(s) > 1000 {
		return value{}, bad
	}
	body := s
	sign := ""
	if strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+") {
		sign, body = body[:1], body[1:]
	}
	scale := int64(1)
	for _, mark := range []struct {
		text string
		by   int64
	}{{"%", 100}, {"‰", 1000}} {
		if t, ok := strings.CutSuffix(body, mark.text); ok {
			body, scale = t, mark.by
		} else if t, ok := strings.CutPrefix(body, mark.text); ok {
			body, scale = t, mark.by
		}
	}
	if scale != 1 && sign == "" && (strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+")) {
		sign, body = body[:1], body[1:]
	}
	if strings.HasSuffix(body, "-") || strings.HasSuffix(body, "+") {
		if sign != "" {
			return value{}, bad
		}
		sign, body = body[len(body)-1:], body[:len(body)-1]
	}
	exponent := ""
	if i := strings.IndexAny(body, "eE"); i >= 0 {
		body, exponent = body[:i], body[i+1:]
		if d.Base == "decimal" || isInteger(d.Base) {
			return value{}, bad
		}
		if ok, _ := regexp.MatchString(`^[+-]?\d{1,4}$`, exponent); !ok {
			return value{}, bad
		}
	}
	whole, frac, dotted := strings.Cut(body, point)
	if dotted && isInteger(d.Base) {
		return value{}, bad
	}
	if d.pattern != "" {
		p, _ := parsePattern(d.pattern)
		if !p.matches(sign, whole, frac, exponent, group, dotted, scale) {
			return value{}, fmt.Errorf("%q does not look like %s", s, d.pattern)
		}
	} else if strings.Contains(body, group+group) || strings.HasPrefix(whole, group) && whole != "" || strings.HasSuffix(whole, group) {
		return value{}, bad
	}
	whole, frac = strings.ReplaceAll(whole, group, ""), strings.ReplaceAll(frac, group, "")
	if whole == "" && frac == "" || dotted && frac == "" && d.pattern != "" {
		return value{}, bad
	}
	for _, c := range whole + frac {
		if c < '0' || c > '9' {
			return value{}, bad
		}
	}
	lexical := sign + whole
	if frac != "" {
		if whole == "" {
			lexical += "0"
		}
		lexical += "." + frac
	}
	text := lexical
	if exponent != "" {
		text += "e" + exponent
		lexical += "e" + exponent
	}
	num, ok := new(big.Rat).SetString(text)
	if !ok {
		return value{}, bad
	}
	if scale != 1 {
		num.Quo(num, big.NewRat(scale, 1))
		lexical = decimalText(num)
	}
	if !inRange(d.Base, num) {
		return value{}, bad
	}
	return value{lexical: lexical, num: num}, nil
}

// decimalText writes a number that has a finite decimal expansion.
func decimalText(n *big.Rat) string {
	digits, _ := n.FloatPrec()
	return n.FloatString(digits)
}

func isInteger(base string) bool {
	switch base {
	case "byte", "int", "integer", "long", "negativeInteger", "nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "short", "unsignedByte", "unsignedInt",
		"unsignedLong", "unsignedShort":
		return true
	}
	return false
}

func inRange(base string, n *big.Rat) bool {
	between := func(lo, hi string) bool {
		l, _ := new(big.Rat).SetString(lo)
		h, _ := new(big.Rat).SetString(hi)
		return n.Cmp(l) >= 0 && n.Cmp(h) <= 0
	}
	switch base {
	case "byte":
		return between("-128", "127")
	case "short":
		return between("-32768", "32767")
	case "int":
		return between("-2147483648", "2147483647")
	case "long":
		return between("-9223372036854775808", "9223372036854775807")
	case "unsignedByte":
		return between("0", "255")
	case "unsignedShort":
		return between("0", "65535")
	case "unsignedInt":
		return between("0", "4294967295")
	case "unsignedLong":
		return between("0", "18446744073709551615")
	case "positiveInteger":
		return n.Sign() > 0
	case "nonNegativeInteger":
		return n.Sign() >= 0
	case "negativeInteger":
		return n.Sign() < 0
	case "nonPositiveInteger":
		return n.Sign() <= 0
	}
	return true
}

// matches tells whether the parts of a number look like the pattern.
func (p numberPattern) matches(sign, whole, frac, exponent, group string, dotted bool, scale int64) bool {
	marks := p.prefix + p.suffix
	switch {
	case strings.Contains(marks, "%") != (scale == 100), strings.Contains(marks, "‰") != (scale == 1000):
		return false
	case (exponent != "") != (p.exponent > 0):
		return false
	}
	if exponent != "" && len(strings.TrimLeft(exponent, "+-")) < p.exponent {
		return false
	}
	// The whole part.
	groups := []string{whole}
	if group != "" {
		groups = strings.Split(whole, group)
	}
	n := 0
	for i, g := range groups {
		n += len(g)
		switch {
		case len(groups) == 1:
			if p.primary > 0 && len(g) > p.primary {
				return false // digits that should have been grouped
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
	if n < p.minInt || p.exponent > 0 && n > max(p.maxInt, 1) {
		return false
	}
	// The fraction.
	if dotted != (frac != "") {
		return false
	}
	parts := []string{frac}
	if group != "" {
		parts = strings.Split(frac, group)
	}
	n = 0
	for i, g := range parts {
		n += len(g)
		switch {
		case len(parts) == 1:
			if p.fraction > 0 && len(g) > p.fraction {
				return false
			}
		case p.fraction == 0:
			return false
		case i < len(parts)-1 && len(g) != p.fraction, i == len(parts)-1 && (len(g) == 0 || len(g) > p.fraction):
			return false
		}
	}
	return n >= p.minFrac && n <= p.maxFrac
}
