package software

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// place is what rules look at of an address.
type place struct {
	path   string // in lower case, without percent-escapes
	text   string // path and query, likewise
	params []pair
}

type pair struct{ name, value string }

// Limits of an address.
const (
	maxAddress = 4 << 10 // bytes that rules look at
	maxParams  = 40
)

// placeOf reads an absolute address. space is used for the parameters.
func placeOf(address string, space []pair) place {
	rest := address
	if at := strings.Index(rest, "://"); at >= 0 {
		rest = rest[at+3:]
		slash := strings.IndexAny(rest, "/?#")
		if slash < 0 {
			return place{path: "/", text: "/"}
		}
		rest = rest[slash:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	if len(rest) > maxAddress {
		rest = rest[:maxAddress]
	}
	path, query, has := strings.Cut(rest, "?")
	a := place{path: plain(path), params: space[:0]}
	if a.path == "" {
		a.path = "/"
	}
	if !has || query == "" {
		a.text = a.path
		return a
	}
	a.text = a.path + "?" + plain(query)
	for part := range strings.FieldsFuncSeq(query, separates) {
		if len(a.params) == maxParams {
			break
		}
		name, value, _ := strings.Cut(part, "=")
		a.params = append(a.params, pair{plain(name), plain(value)})
	}
	return a
}

func separates(r rune) bool { return r == '&' || r == ';' }

// plain returns a part of an address in lower case and without percent-escapes.
func plain(s string) string {
	if strings.IndexByte(s, '%') >= 0 {
		if u, err := url.PathUnescape(s); err == nil && utf8.ValidString(u) {
			s = u
		}
	}
	return strings.ToLower(s)
}

// Canonical returns an address without session ids, sort orders and the like, as far as rules of every site know them.
func (h *Helper) canonical(address string, a *place, of *ruleset) string {
	if at := strings.IndexByte(address, ';'); at >= 0 {
		address = withoutPathSession(address)
	}
	if len(a.params) == 0 {
		return address
	}
	strip := false
	for _, p := range a.params {
		strip = strip || h.always.strips(p) || of != nil && of.strips(p)
	}
	if !strip {
		return address
	}
	address, fragment, hasFragment := strings.Cut(address, "#")
	path, query, _ := strings.Cut(address, "?")
	var kept strings.Builder
	rest := query
	for rest != "" {
		end := strings.IndexAny(rest, "&;")
		part, next, sep := rest, "", ""
		if end >= 0 {
			part, sep, next = rest[:end], rest[end:end+1], rest[end+1:]
		}
		name, value, _ := strings.Cut(part, "=")
		p := pair{plain(name), plain(value)}
		if part != "" && !h.always.strips(p) && (of == nil || !of.strips(p)) {
			kept.WriteString(part)
			kept.WriteString(sep)
		}
		rest = next
	}
	if left := strings.TrimRight(kept.String(), "&;"); left != "" {
		path += "?" + left
	}
	if hasFragment {
		path += "#" + fragment
	}
	return path
}

// strips reports whether a parameter does not change what is shown.
func (set *ruleset) strips(p pair) bool {
	if set.stripped[p.name] {
		return true
	}
	for i := range set.strip {
		if set.strip[i].matches(p.name, p.value) {
			return true
		}
	}
	return false
}

// withoutPathSession removes ";jsessionid=…" from a path.
func withoutPathSession(address string) string {
	const sign = ";jsessionid="
	at := -1
	for i := 0; i+len(sign) <= len(address); i++ {
		if address[i] == ';' && strings.EqualFold(address[i:i+len(sign)], sign) {
			at = i
			break
		}
	}
	if at < 0 {
		return address
	}
	end := strings.IndexAny(address[at:], "?#/")
	if end < 0 {
		return address[:at]
	}
	return address[:at] + address[at+end:]
}
