package syntax

import "strings"

// resolve makes ref absolute against base (RFC 3986 §5.2), touching no character that it need not: SPARQL asks for
// no normalisation beyond dot segments. An absolute ref, or any ref without a base, is returned as it is.
func resolve(base, ref string) string {
	if base == "" || scheme(ref) > 0 {
		return ref
	}
	s := scheme(base)
	if s == 0 {
		return ref
	}
	head, rest := base[:s+1], base[s+1:] // "http:" and what follows
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	authority, path := "", rest
	if strings.HasPrefix(rest, "//") {
		n := strings.IndexByte(rest[2:], '/')
		if n < 0 {
			n = len(rest) - 2
		}
		authority, path = rest[:n+2], rest[n+2:]
	}
	switch {
	case ref == "":
		if hasQuery {
			return head + authority + path + "?" + query
		}
		return head + authority + path
	case ref[0] == '#':
		if hasQuery {
			path += "?" + query
		}
		return head + authority + path + ref
	case ref[0] == '?':
		return head + authority + path + ref
	case strings.HasPrefix(ref, "//"):
		return head + ref
	}
	tail := ""
	if n := strings.IndexAny(ref, "?#"); n >= 0 {
		ref, tail = ref[:n], ref[n:]
	}
	if ref[0] != '/' {
		if n := strings.LastIndexByte(path, '/'); n >= 0 {
			ref = path[:n+1] + ref
		} else if authority != "" {
			ref = "/" + ref
		}
	}
	return head + authority + removeDots(ref) + tail
}

// scheme is the length of the scheme of an IRI, 0 for a relative reference.
func scheme(iri string) int {
	for i := 0; i < len(iri); i++ {
		switch c := iri[i]; {
		case c == ':':
			return i
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

// removeDots is RFC 3986 §5.2.4.
func removeDots(path string) string {
	if !strings.Contains(path, "./") && !strings.HasSuffix(path, ".") {
		return path
	}
	rooted := strings.HasPrefix(path, "/")
	var out []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	clean := strings.Join(out, "/")
	if rooted {
		clean = "/" + clean
	}
	return clean
}
