package expr

import "strings"

// toIRI is IRI(): an IRI as it is, a plain string resolved against the base (§17.4.2.8).
func toIRI(v Value, base string) Value {
	switch v.kind {
	case IRI:
		return v
	case Str:
		if strings.ContainsAny(v.s, "<>\"{}|^`\\\x00\n\r\t ") {
			return errValue
		}
		if r, ok := resolve(base, v.s); ok {
			return NewIRI(r)
		}
	}
	return errValue
}

// reference is an IRI reference in its five parts (RFC 3986 appendix B).
type reference struct {
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

func split(s string) (r reference) {
	s, r.fragment, r.hasFragment = strings.Cut(s, "#")
	s, r.query, r.hasQuery = strings.Cut(s, "?")
	if i := strings.IndexAny(s, ":/"); i > 0 && s[i] == ':' {
		r.scheme, s = s[:i], s[i+1:]
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		r.hasAuthority = true
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			r.authority, s = rest[:i], rest[i:]
		} else {
			r.authority, s = rest, ""
		}
	}
	r.path = s
	return r
}

func (r reference) String() string {
	var b strings.Builder
	if r.scheme != "" {
		b.WriteString(r.scheme + ":")
	}
	if r.hasAuthority {
		b.WriteString("//" + r.authority)
	}
	b.WriteString(r.path)
	if r.hasQuery {
		b.WriteString("?" + r.query)
	}
	if r.hasFragment {
		b.WriteString("#" + r.fragment)
	}
	return b.String()
}

// resolve is RFC 3986 §5.2; ok is false for a relative reference without a base.
func resolve(base, ref string) (string, bool) {
	r := split(ref)
	if r.scheme != "" {
		return ref, true
	}
	b := split(base)
	if b.scheme == "" {
		return "", false
	}
	r.scheme = b.scheme
	if r.hasAuthority {
		r.path = removeDots(r.path)
		return r.String(), true
	}
	r.authority, r.hasAuthority = b.authority, b.hasAuthority
	switch {
	case r.path == "":
		r.path = b.path
		if !r.hasQuery {
			r.query, r.hasQuery = b.query, b.hasQuery
		}
	case r.path[0] == '/':
		r.path = removeDots(r.path)
	case b.hasAuthority && b.path == "":
		r.path = removeDots("/" + r.path)
	default:
		r.path = removeDots(b.path[:strings.LastIndexByte(b.path, '/')+1] + r.path)
	}
	return r.String(), true
}

func removeDots(path string) string {
	var out []string
	segments := strings.Split(path, "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 1 || len(out) == 1 && out[0] != "" {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return strings.Join(out, "/")
}
