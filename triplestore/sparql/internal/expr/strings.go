package expr

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// maxString bounds a computed string in bytes. A longer one is an error of the expression. Work on such a string takes
// milliseconds, after which a query notices that it was cancelled.
const maxString = 1 << 20

// stringFunctions are those of §17.4.3.
var stringFunctions = map[string]function{
	"STRLEN": fn1(func(v Value) Value {
		if !v.isString() {
			return errValue
		}
		return NewInt(int64(utf8.RuneCountInString(v.s)))
	}),
	"SUBSTR":    fnN(2, 3, substr),
	"UCASE":     fn1(mapString(upper)),
	"LCASE":     fn1(mapString(lower)),
	"STRSTARTS": compatible(func(a, b Value) Value { return NewBool(strings.HasPrefix(a.s, b.s)) }),
	"STRENDS":   compatible(func(a, b Value) Value { return NewBool(strings.HasSuffix(a.s, b.s)) }),
	"CONTAINS":  compatible(func(a, b Value) Value { return NewBool(strings.Contains(a.s, b.s)) }),
	"STRBEFORE": compatible(func(a, b Value) Value {
		before, _, found := strings.Cut(a.s, b.s)
		if !found {
			return newString("")
		}
		return a.with(before)
	}),
	"STRAFTER": compatible(func(a, b Value) Value {
		_, after, found := strings.Cut(a.s, b.s)
		if !found {
			return newString("")
		}
		return a.with(after)
	}),
	"ENCODE_FOR_URI": fn1(func(v Value) Value {
		if !v.isString() {
			return errValue
		}
		return newString(encodeForURI(v.s))
	}),
	"CONCAT": fnN(0, math.MaxInt32, concat),
	"LANGMATCHES": fn2(func(a, b Value) Value {
		if a.kind != Str || b.kind != Str {
			return errValue
		}
		return NewBool(langMatches(a.s, b.s))
	}),
	"STRLANGDIR": fnN(3, 3, strLangDir),
	"LANGDIR": fn1(func(v Value) Value {
		if !v.isLiteral() {
			return errValue
		}
		return newString(v.Key().Dir())
	}),
	"HASLANG":    is(func(v Value) bool { return v.kind == Lang }),
	"HASLANGDIR": is(func(v Value) bool { return v.kind == Lang && v.Key().Dir() != "" }),
}

func mapString(f func(string) string) func(Value) Value {
	return func(v Value) Value {
		if !v.isString() {
			return errValue
		}
		return v.with(f(v.s))
	}
}

// upper maps whole words by the tables of Unicode (fn:upper-case): ß becomes SS.
func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// lower is the opposite of upper. A final Σ becomes ς.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

// compatible returns a function of two strings with compatible arguments (§17.4.3.1.2): the second is plain, or both
// have the same language.
func compatible(f func(a, b Value) Value) function {
	return fn2(func(a, b Value) Value {
		if !a.isString() || !b.isString() || b.kind == Lang && (a.kind != Lang || a.t != b.t) {
			return errValue
		}
		return f(a, b)
	})
}

// substr implements SUBSTR (XPath fn:substring). It counts characters from 1 and rounds its arguments.
func substr(a []Value) Value {
	if !a[0].isString() || !a[1].isNumeric() {
		return errValue
	}
	from := round(a[1].x)
	to := math.Inf(1)
	if len(a) == 3 {
		if !a[2].isNumeric() {
			return errValue
		}
		to = from + round(a[2].x)
	}
	s := a[0].s
	start, end, pos := len(s), len(s), 1.0
	for i := range s {
		if pos >= from && start == len(s) {
			start = i
		}
		if !(pos < to) { // to may be NaN
			end = i
			break
		}
		pos++
	}
	return a[0].with(s[min(start, end):end])
}

func round(x xsdval.Value) float64 {
	r, _ := xsdval.Round(x)
	return r.Float64()
}

// concat implements CONCAT (§17.4.3.12). The result has a language if all arguments share it.
func concat(args []Value) Value {
	n := 0
	for _, a := range args {
		if !a.isString() {
			return errValue
		}
		n += len(a.s)
	}
	if n > maxString {
		return errValue
	}
	var b strings.Builder
	b.Grow(n)
	same := len(args) > 0
	for _, a := range args {
		b.WriteString(a.s)
		same = same && a.kind == Lang && a.t == args[0].t
	}
	if same {
		return newLang(b.String(), args[0].t)
	}
	return newString(b.String())
}

func encodeForURI(s string) string {
	var b []byte
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			b = append(b, c)
		default:
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(b)
}

// langMatches reports whether a language tag matches a range, by basic filtering (RFC 4647 §3.3.1).
func langMatches(tag, rng string) bool {
	if rng == "*" {
		return tag != ""
	}
	if len(tag) < len(rng) || !strings.EqualFold(tag[:len(rng)], rng) {
		return false
	}
	return len(tag) == len(rng) || tag[len(rng)] == '-'
}

func strLangDir(a []Value) Value {
	if a[0].kind != Str || a[1].kind != Str || a[2].kind != Str || a[1].s == "" || a[2].s != "ltr" && a[2].s != "rtl" {
		return errValue
	}
	return FromKey(term.Lang(a[0].s, a[1].s+"--"+a[2].s))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
