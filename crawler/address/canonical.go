// Package address says what a URL is: how it is read, what goes over the wire, and when two spellings name one
// resource.
//
// Parse reads a URL from outside as browsers do (WHATWG URL: tabs and newlines dropped, backslashes, stray percent
// signs, IDNA, IPv4 in odd notations), for the schemes http, https and ftp only. Every way into the archive uses it, so
// whatever one of them accepts, all of them accept. A URL has
//
//   - String, what the server is asked for: the source's spelling, changed only where a browser would change it;
//   - Canonical, its identity: without default port and fragment, percent-escapes normalised (RFC 3986 §6.2.2), query
//     parameters sorted, session ids removed;
//   - Key, the canonical form in SURT order (host labels reversed), so that the URLs of a host and its subdomains sort
//     together;
//   - Group, the host, with the port if it is not the scheme's default: the unit of politeness. Schemes share it.
//
// The package does no I/O. URLs that differ in their scheme are two resources: http://x/ and https://x/ have different
// keys. Capture indexes use the looser CDX key, which ignores the scheme.
package address

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxURL is the length of the longest URL that Parse accepts, in bytes.
const MaxURL = 8 << 10

// ErrBad is wrapped by every error of this package. The message names the URL and what is wrong with it.
var ErrBad = errors.New("not a URL that can be crawled")

// sessionIDs are the names, in lower case, of the query and path parameters by which servers put a session into every
// link. They are no part of a URL's identity. A name that ends in '*' is a prefix.
var sessionIDs = []string{"jsessionid", "phpsessid", "aspsessionid*", "cfid", "cftoken"}

// Key parses a URL and returns its key.
func Key(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return u.Key(), nil
}

// Host parses a URL and returns its group.
func Host(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return u.Group(), nil
}

// HostGroup returns the group of a host whose name is spelled as a person may spell it: "Bücher.example:80". A text
// that is not a host is returned in lower case.
func HostGroup(name string) string {
	group, err := Host("http://" + name + "/")
	if err != nil || strings.ContainsAny(name, "/\\?#@") {
		return strings.ToLower(name)
	}
	return group
}

// CheckTarget returns nil if a text is a URL, or the name of a host ("data.example.org", "localhost:8080"), as people
// name what an order concerns.
func CheckTarget(text string) error {
	link := text
	if !strings.Contains(text, "://") {
		link = "http://" + text + "/"
	}
	if _, err := Parse(link); err != nil || link != text && strings.ContainsAny(text, "/\\?#@ ") {
		return fmt.Errorf("%w: %.300q is neither a URL such as https://example.org/data.csv nor a host such as data.example.org", ErrBad,
			text)
	}
	return nil
}

// CDX parses a URL and returns its key in capture indexes.
func CDX(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return u.CDX(), nil
}

// Canonical returns the canonical form of u. Two URLs name one resource if their canonical forms are equal.
func (u URL) Canonical() URL {
	if u.Scheme != "ftp" { // of ftp, the user names the directory
		u.User = ""
	}
	u.Path = normaliseEscapes(dropPathSessions(u.Path))
	if u.Query != "" {
		u.Query = canonicalQuery(u.Query)
	}
	return u
}

// Key returns the canonical form in SURT order: "https://(org,example,data,)/path?query".
func (u URL) Key() string {
	u = u.Canonical()
	return u.Scheme + "://(" + u.reversedHost() + ")" + u.PathAndQuery()
}

// CDX returns the key of capture indexes: no scheme, no "www.", lower case ("org,example,data)/path?query").
func (u URL) CDX() string {
	u = u.Canonical()
	u.Host = trimWWW(u.Host)
	port := u.Port
	u.Port = ""
	key := strings.TrimSuffix(u.reversedHost(), ",")
	if port != "" {
		key += ":" + port
	}
	rest := strings.ToLower(u.PathAndQuery())
	if len(rest) > 1 && !strings.Contains(rest, "?") {
		rest = strings.TrimSuffix(rest, "/")
	}
	return key + ")" + rest
}

// trimWWW removes "www." and its numbered variants ("www2.").
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

// reversedHost returns "org,example,data," followed by ":8080" if there is a port. IP addresses are not reversed.
func (u URL) reversedHost() string {
	var b strings.Builder
	if u.User != "" {
		b.WriteString(u.User + "@")
	}
	if u.isIP() {
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

// canonicalQuery removes session ids and sorts the parameters by name. Parameters of one name keep their order.
func canonicalQuery(q string) string {
	params := strings.Split(normaliseEscapes(q), "&")
	params = slices.DeleteFunc(params, func(p string) bool { return p == "" || isSession(p) })
	slices.SortStableFunc(params, func(a, b string) int {
		an, _, _ := strings.Cut(a, "=")
		bn, _, _ := strings.Cut(b, "=")
		return strings.Compare(an, bn)
	})
	return strings.Join(params, "&")
}

// dropPathSessions removes parameters such as ";jsessionid=..." from path segments.
func dropPathSessions(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		params := strings.Split(s, ";")
		segments[i] = strings.Join(append(params[:1], slices.DeleteFunc(params[1:], isSession)...), ";")
	}
	return strings.Join(segments, "/")
}

// isSession reports whether a parameter, "name=value", is a session id.
func isSession(param string) bool {
	name, _, _ := strings.Cut(param, "=")
	name = strings.ToLower(name)
	return slices.ContainsFunc(sessionIDs, func(id string) bool {
		prefix, ok := strings.CutSuffix(id, "*")
		return name == id || ok && strings.HasPrefix(name, prefix)
	})
}

// normaliseEscapes decodes escapes of unreserved characters and writes all others in upper case (RFC 3986 §6.2.2). A
// '%' that begins no escape is escaped.
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

// unescape decodes the escapes of s as browsers do: a '%' that begins no escape stays.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' {
			if c, ok := escape(s, i); ok {
				b = append(b, c)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escape returns the byte that the two hexadecimal digits after the '%' at s[i] stand for.
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
