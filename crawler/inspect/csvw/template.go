package csvw

import (
	"fmt"
	"strings"
)

// expandTemplate expands a URI template (RFC 6570) with variables that are strings or lists of strings.
func expandTemplate(t string, vars func(name string) ([]string, bool)) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(t, '{')
		if i < 0 {
			break
		}
		j := strings.IndexByte(t[i:], '}')
		if j < 0 {
			break
		}
		b.WriteString(t[:i])
		b.WriteString(expression(t[i+1:i+j], vars))
		t = t[i+j+1:]
	}
	b.WriteString(t)
	return b.String()
}

func expression(e string, vars func(string) ([]string, bool)) string {
	first, sep, named, reserved, empty := "", ",", false, false, ""
	if e == "" {
		return ""
	}
	op := e[0]
	switch op {
	case '+':
		reserved = true
	case '#':
		first, reserved = "#", true
	case '.':
		first, sep = ".", "."
	case '/':
		first, sep = "/", "/"
	case ';':
		first, sep, named = ";", ";", true
	case '?':
		first, sep, named, empty = "?", "&", true, "="
	case '&':
		first, sep, named, empty = "&", "&", true, "="
	default:
		op = 0
	}
	if op != 0 {
		e = e[1:]
	}
	var parts []string
	for spec := range strings.SplitSeq(e, ",") {
		name, explode := strings.CutSuffix(spec, "*")
		name, prefix, _ := strings.Cut(name, ":")
		values, ok := vars(name)
		if !ok {
			continue
		}
		n := 0
		if prefix != "" {
			fmt.Sscan(prefix, &n)
		}
		for i, v := range values {
			if n > 0 && len([]rune(v)) > n {
				v = string([]rune(v)[:n])
			}
			values[i] = escape(v, reserved)
		}
		if len(values) == 0 {
			continue
		}
		label := func(v string) string {
			if !named {
				return v
			}
			if v == "" {
				return name + empty
			}
			return name + "=" + v
		}
		if explode {
			for _, v := range values {
				parts = append(parts, label(v))
			}
		} else {
			parts = append(parts, label(strings.Join(values, ",")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return first + strings.Join(parts, sep)
}

// escape percent-encodes characters that are not allowed, and reserved ones unless reserved is set.
func escape(s string, reserved bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0,
			reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0:
			b.WriteByte(c)
		case reserved && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
