package rdfio

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// canonicalJSON appends v in canonical JSON (RFC 8785).
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
		names := slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
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

// appendES6Number appends a number as ECMAScript's Number.prototype.toString writes it (RFC 8785 §3.2.2.3).
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
	if i := slices.Index(b[start:], 'e'); i >= 0 { // ECMAScript writes e-7 for e-07
		if n := start + i + 2; n < len(b)-1 && b[n] == '0' {
			b = slices.Delete(b, n, n+1)
		}
	}
	return b
}

// appendJSONString appends s as a JSON string.
func appendJSONString(b []byte, s string) []byte { return appendQuoted(b, s, true) }
