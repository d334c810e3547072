package rdfio

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf16"
)

// canonicalJSON writes v as RFC 8785 (JSON Canonicalization Scheme) does.
func canonicalJSON(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendJSONString(b, v), nil
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return b, err
		}
		return appendES6Number(b, f), nil
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = canonicalJSON(b, item); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSONString(b, name), ':')
			var err error
			if b, err = canonicalJSON(b, v[name]); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
	return b, errors.New("not a JSON value")
}

// appendES6Number writes a number as ECMAScript's Number.prototype.toString does (RFC 8785 §3.2.2.3).
func appendES6Number(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0')
	}
	format := byte('f')
	if abs := max(f, -f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if i := slices.Index(b[start:], 'e'); i >= 0 { // e-07 is e-7
		if n := start + i + 2; n < len(b)-1 && b[n] == '0' {
			b = slices.Delete(b, n, n+1)
		}
	}
	return b
}

// appendJSONString writes a string between quotes with the escapes that JSON needs.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			const digits = "0123456789abcdef"
			b = append(append(b, `\u00`...), digits[c>>4], digits[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
