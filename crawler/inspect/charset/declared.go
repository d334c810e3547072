package charset

import (
	"bytes"
	"strings"
)

// declaration returns the encoding declared at the beginning of b by an XML declaration, an HTML meta element or a CSS
// rule, "" if there is none.
func declaration(b []byte) string {
	head := b[:min(len(b), 2048)]
	low := bytes.ToLower(head)
	trimmed := bytes.TrimLeft(low, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("<?xml")) {
		if end := bytes.Index(trimmed, []byte("?>")); end > 0 {
			if n := attribute(trimmed[:end], "encoding"); n != "" {
				return canonical(n)
			}
		}
	}
	if bytes.HasPrefix(trimmed, []byte(`@charset "`)) {
		n, _, _ := bytes.Cut(trimmed[len(`@charset "`):], []byte{'"'})
		return canonical(string(n))
	}
	for rest := low; ; {
		i := bytes.Index(rest, []byte("<meta"))
		if i < 0 {
			return ""
		}
		rest = rest[i+5:]
		tag := rest
		if end := bytes.IndexByte(rest, '>'); end >= 0 {
			tag = rest[:end]
		}
		if n := attribute(tag, "charset"); n != "" {
			return canonical(n)
		}
	}
}

// attribute returns the value in name=value in a tag, quoted or not.
func attribute(tag []byte, name string) string {
	i := bytes.Index(tag, []byte(name))
	if i < 0 {
		return ""
	}
	s := strings.TrimLeft(string(tag[i+len(name):]), " \t\r\n")
	if !strings.HasPrefix(s, "=") {
		return ""
	}
	s = strings.TrimLeft(s[1:], " \t\r\n\"'")
	if end := strings.IndexAny(s, "\"' \t\r\n;/>?"); end >= 0 {
		s = s[:end]
	}
	if len(s) > 40 {
		return ""
	}
	return s
}
