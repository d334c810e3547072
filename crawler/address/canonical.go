// Package address is how two spellings of a URL meet: a canonical form, a sort-friendly key, and the host group.
//
// A URL from outside is read as browsers read it (WHATWG URL: tabs and newlines dropped, backslashes, missing
// percent-escapes, IDNA, IPv4 in odd notations), for the schemes http, https and ftp only. From the reading come
//
//   - Wire, what is asked of the server: the spelling of the source with nothing changed that a browser would not change;
//   - Canonical, the identity: default port and fragment dropped, percent-escapes normalised (RFC 3986 §6.2.2),
//     query parameters sorted, session ids removed;
//   - Key, the canonical form in SURT order (host labels reversed), so that the URLs of a host and its subdomains sort together;
//   - Host, the group that shares one connection: host and, where it is not the scheme's own, port.
//
// It does no I/O. Two schemes are two resources: http://x/ and https://x/ do not meet. Package warc/cdx wants them to, so
// CDX gives the laxer key that web archives use.
package address

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxURL is the longest URL that is read, in bytes.
const MaxURL = 8 << 10

// ErrBad is wrapped by every error of this package; the message names the URL and what is wrong with it.
var ErrBad = errors.New("not a URL that can be crawled")

// Rules of canonicalisation. The zero value is what the archive uses by default.
type Rules struct {
	// SessionIDs are the names of query and path parameters that are no part of a URL's identity, in lower case; one
	// ending in '*' is a prefix. nil means DefaultSessionIDs; an empty list removes nothing.
	SessionIDs []string
}

// DefaultSessionIDs are those of the servers that put a session into every link.
func DefaultSessionIDs() []string {
	return []string{"jsessionid", "phpsessid", "aspsessionid*", "cfid", "cftoken"}
}

// Canonical form of a URL under the default rules.
func Canonical(raw string) (string, error) { return Rules{}.Canonical(raw) }

// Key of a URL under the default rules: "https://(org,example,data,)/path?query".
func Key(raw string) (string, error) { return Rules{}.Key(raw) }

// Host of a URL, with the port where it is not the scheme's own: the unit of politeness. Schemes share it.
func Host(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return u.Group(), nil
}

// Canonical form of a URL.
func (r Rules) Canonical(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	u = r.Apply(u)
	return u.String(), nil
}

// Key of a URL.
func (r Rules) Key(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return r.KeyOf(u), nil
}

// KeyOf is the key of a URL that has been read already.
func (r Rules) KeyOf(u URL) string {
	u = r.Apply(u)
	return u.Scheme + "://(" + reversed(u) + ")" + u.pathAndQuery()
}

// CDX is the key of capture indexes: no scheme, no "www.", lower case ("org,example,data)/path?query").
func CDX(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	u = Rules{}.Apply(u)
	u.Host = trimWWW(u.Host)
	port := u.Port
	u.Port = ""
	key := strings.TrimSuffix(reversed(u), ",")
	if port != "" {
		key += ":" + port
	}
	rest := strings.ToLower(u.pathAndQuery())
	if len(rest) > 1 && !strings.Contains(rest, "?") {
		rest = strings.TrimSuffix(rest, "/")
	}
	return key + ")" + rest, nil
}

// trimWWW drops "www." and its numbered kin ("www2.").
func trimWWW(host string) string {
	rest, ok := strings.CutPrefix(host, "www")
	if !ok {
		return host
	}
	rest = strings.TrimLeft(rest, "0123456789")
	if cut, ok := strings.CutPrefix(rest, "."); ok && strings.Contains(cut, ".") {
		return cut
	}
	return host
}

// reversed host: "org,example,data," and ":8080" behind it; addresses stay as they are.
func reversed(u URL) string {
	var b strings.Builder
	if u.User != "" {
		b.WriteString(u.User + "@")
	}
	if u.isAddress() {
		b.WriteString(u.Host)
	} else {
		labels := strings.Split(u.Host, ".")
		slices.Reverse(labels)
		for _, l := range labels {
			b.WriteString(l + ",")
		}
	}
	if u.Port != "" {
		b.WriteString(":" + u.Port)
	}
	return b.String()
}

// Apply makes a URL canonical.
func (r Rules) Apply(u URL) URL {
	ids := r.SessionIDs
	if ids == nil {
		ids = DefaultSessionIDs()
	}
	if u.Scheme != "ftp" { // there the user names the directory
		u.User = ""
	}
	u.Path = normaliseEscapes(dropPathSessions(u.Path, ids))
	if u.Query != "" {
		u.Query = canonicalQuery(u.Query, ids)
	}
	return u
}

// canonicalQuery drops session ids and sorts the parameters by their bytes; equal names keep their order of values.
func canonicalQuery(q string, ids []string) string {
	params := strings.Split(normaliseEscapes(q), "&")
	params = slices.DeleteFunc(params, func(p string) bool {
		name, _, _ := strings.Cut(p, "=")
		return p == "" || isSession(name, ids)
	})
	slices.SortStableFunc(params, func(a, b string) int {
		an, _, _ := strings.Cut(a, "=")
		bn, _, _ := strings.Cut(b, "=")
		return strings.Compare(an, bn)
	})
	return strings.Join(params, "&")
}

// dropPathSessions removes ";jsessionid=..." and its like from path segments.
func dropPathSessions(path string, ids []string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		params := strings.Split(s, ";")
		keep := params[:1]
		for _, p := range params[1:] {
			if name, _, _ := strings.Cut(p, "="); !isSession(name, ids) {
				keep = append(keep, p)
			}
		}
		segments[i] = strings.Join(keep, ";")
	}
	return strings.Join(segments, "/")
}

func isSession(name string, ids []string) bool {
	name = strings.ToLower(name)
	for _, id := range ids {
		if prefix, ok := strings.CutSuffix(id, "*"); name == id || ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// normaliseEscapes writes escapes of unreserved characters as the characters and all others in upper case (RFC 3986
// §6.2.2). A lone '%' is escaped.
func normaliseEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		c, ok := escape(s, i)
		switch {
		case !ok:
			b.WriteString("%25")
			continue
		case isUnreserved(c):
			b.WriteByte(c)
		default:
			writeEscape(&b, c)
		}
		i += 2
	}
	return b.String()
}

// escape reads the two hex digits behind the '%' at i.
func escape(s string, i int) (byte, bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
	return byte(v), err == nil
}

func writeEscape(b *strings.Builder, c byte) {
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func bad(raw, what string) error {
	if raw = withoutUser(raw); len(raw) > 200 {
		raw = raw[:200] + "..."
	}
	return fmt.Errorf("%w: %q: %s", ErrBad, raw, what)
}
