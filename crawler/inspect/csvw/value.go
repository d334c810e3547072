package csvw

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"
)

// value is a cell's value: its canonical text in RDF, and what it compares as.
type value struct {
	lexical string
	num     *big.Rat // numbers; dates as seconds
	special float64  // NaN and infinities
}

func (v value) less(o value) bool {
	switch {
	case v.num != nil && o.num != nil:
		return v.num.Cmp(o.num) < 0
	case v.num == nil && o.num == nil:
		return v.special < o.special
	case v.num == nil:
		return v.special < 0
	}
	return o.special > 0
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
	bad := fmt.Errorf("%q is no %s", s, d.Base)
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
	case "duration":
		if d.re != nil && !d.re.MatchString(s) || !validDuration(d.Base, s) {
			return value{}, bad
		}
		return value{lexical: s, num: new(big.Rat)}, nil
	case "part":
		if d.re != nil && !d.re.MatchString(s) || !validPart(d.Base, s) {
			return value{}, bad
		}
		return value{lexical: s}, nil
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

func validDuration(base, s string) bool {
	re := `^-?P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$`
	switch base {
	case "dayTimeDuration":
		re = `^-?P(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$`
	case "yearMonthDuration":
		re = `^-?P(?:\d+Y)?(?:\d+M)?$`
	}
	ok, _ := regexp.MatchString(re, s)
	return ok && !strings.HasSuffix(s, "P") && !strings.HasSuffix(s, "T")
}

func validPart(base, s string) bool {
	const zone = `(?:Z|[+-]\d{2}:\d{2})?$`
	re := map[string]string{"gDay": `^---\d{2}`, "gMonth": `^--\d{2}`, "gMonthDay": `^--\d{2}-\d{2}`, "gYear": `^-?\d{4,}`, "gYearMonth": `^-?\d{4,}-\d{2}`}[base]
	ok, _ := regexp.MatchString(re+zone, s)
	return ok
}
