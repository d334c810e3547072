package expr

import (
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// MaxString bounds a computed string in bytes; a longer one is an error of the expression. Working on one takes some
// milliseconds, between which a query notices that it has been given up.
const MaxString = 1 << 20

// stringFunctions are those of §17.4.3.
func stringFunctions(name string) (function, bool) {
	switch name {
	case "STRLEN":
		return fn1(func(v Value) Value {
			if !v.isString() {
				return errValue
			}
			return NewInt(int64(utf8.RuneCountInString(v.s)))
		}), true
	case "SUBSTR":
		return fnN(2, 3, substr), true
	case "UCASE":
		return fn1(mapString(upper)), true
	case "LCASE":
		return fn1(mapString(lower)), true
	case "STRSTARTS":
		return fn2(compatible(func(a, b Value) Value { return NewBool(strings.HasPrefix(a.s, b.s)) })), true
	case "STRENDS":
		return fn2(compatible(func(a, b Value) Value { return NewBool(strings.HasSuffix(a.s, b.s)) })), true
	case "CONTAINS":
		return fn2(compatible(func(a, b Value) Value { return NewBool(strings.Contains(a.s, b.s)) })), true
	case "STRBEFORE":
		return fn2(compatible(func(a, b Value) Value {
			before, _, found := strings.Cut(a.s, b.s)
			if !found {
				return NewString("")
			}
			return a.with(before)
		})), true
	case "STRAFTER":
		return fn2(compatible(func(a, b Value) Value {
			_, after, found := strings.Cut(a.s, b.s)
			if !found {
				return NewString("")
			}
			return a.with(after)
		})), true
	case "ENCODE_FOR_URI":
		return fn1(func(v Value) Value {
			if !v.isString() {
				return errValue
			}
			return NewString(encodeForURI(v.s))
		}), true
	case "CONCAT":
		return fnN(0, math.MaxInt32, concat), true
	case "LANGMATCHES":
		return fn2(func(a, b Value) Value {
			if a.kind != Str || b.kind != Str {
				return errValue
			}
			return NewBool(langMatches(a.s, b.s))
		}), true
	case "STRLANGDIR":
		return fnN(3, 3, strLangDir), true
	case "LANGDIR":
		return fn1(func(v Value) Value {
			if !v.isLiteral() {
				return errValue
			}
			return NewString(v.Key().Dir())
		}), true
	case "HASLANG":
		return is(func(v Value) bool { return v.kind == Lang }), true
	case "HASLANGDIR":
		return is(func(v Value) bool { return v.kind == Lang && v.Key().Dir() != "" }), true
	}
	return function{}, false
}

func mapString(f func(string) string) func(Value) Value {
	return func(v Value) Value {
		if !v.isString() {
			return errValue
		}
		return v.with(f(v.s))
	}
}

// upper and lower map as Unicode's tables for whole words do (fn:upper-case): ß becomes SS, a final Σ becomes ς.
func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

// compatible wraps a function of two strings in the argument rule of §17.4.3.1.2: the second is plain, or both have
// the same language.
func compatible(f func(a, b Value) Value) func(a, b Value) Value {
	return func(a, b Value) Value {
		if !a.isString() || !b.isString() || b.kind == Lang && (a.kind != Lang || a.t != b.t) {
			return errValue
		}
		return f(a, b)
	}
}

// substr counts characters from 1 and rounds its arguments (XPath fn:substring).
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
	var b strings.Builder
	pos := 1.0
	for i, r := range a[0].s {
		if pos >= from && pos < to {
			_, size := utf8.DecodeRuneInString(a[0].s[i:])
			if r == utf8.RuneError && size == 1 {
				b.WriteByte(a[0].s[i])
			} else {
				b.WriteString(a[0].s[i : i+size])
			}
		}
		pos++
	}
	return a[0].with(b.String())
}

func round(x xsdval.Value) float64 {
	r, _ := xsdval.Round(x)
	return r.Float64()
}

// concat keeps the language where all arguments share it (§17.4.3.12).
func concat(args []Value) Value {
	n := 0
	for _, a := range args {
		if !a.isString() {
			return errValue
		}
		n += len(a.s)
	}
	if n > MaxString {
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
	return NewString(b.String())
}

func encodeForURI(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// langMatches is basic filtering (RFC 4647 §3.3.1).
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
