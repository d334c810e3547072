package address

import (
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// URL is a parsed absolute URL. Path and Query are escaped as they go to the server.
type URL struct {
	Scheme string // http, https or ftp
	User   string // "user" or "user:password", escaped; "" for none
	Host   string // lower-case ASCII name, dotted IPv4, or IPv6 in brackets
	Port   string // "" for the scheme's default
	Path   string // begins with '/'
	Query  string // without '?'
}

var defaultPort = map[string]string{"http": "80", "https": "443", "ftp": "21"}

// Parse parses an absolute http, https or ftp URL as the WHATWG URL standard says. The error wraps ErrBad.
func Parse(raw string) (URL, error) { return parse(raw, nil) }

// Resolve parses a reference, such as the value of a Location header, relative to the URL of the document that contains
// it.
func (u URL) Resolve(ref string) (URL, error) { return parse(ref, &u) }

func parse(raw string, base *URL) (URL, error) {
	if len(raw) > MaxURL {
		return URL{}, bad(raw, "longer than "+strconv.Itoa(MaxURL)+" bytes")
	}
	s := strings.Trim(raw,
		"\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	if s = strings.ToValidUTF8(s, "\uFFFD"); strings.ContainsAny(s, "\t\n\r") {
		s = withoutBreaks.Replace(s)
	}
	s, _, _ = strings.Cut(s, "#")
	if s == "" && base == nil {
		return URL{}, bad(raw, "empty")
	}

	scheme, rest, ok := cutScheme(s)
	switch {
	case !ok && base == nil:
		return URL{}, bad(raw, "no scheme")
	case ok && defaultPort[scheme] == "":
		return URL{}, bad(raw, "the scheme "+strconv.Quote(scheme)+" is not http, https or ftp")
	case !ok:
		scheme, rest = base.Scheme, s
	}
	// A special URL's query begins at the first '?'; before it a backslash is a slash.
	before, query, _ := strings.Cut(rest, "?")
	before = strings.ReplaceAll(before, `\`, "/")
	if base != nil && (!ok || scheme == base.Scheme && !strings.HasPrefix(before, "/")) && !strings.HasPrefix(before, "//") {
		return base.relative(before, query, strings.Contains(rest, "?")), nil
	}

	authority := strings.TrimLeft(before, "/")
	path := "/"
	if i := strings.IndexByte(authority, '/'); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	u := URL{Scheme: scheme, Path: cleanPath(path), Query: encode(query, querySet)}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		u.User, authority = encodeUser(authority[:i]), authority[i+1:]
	}
	host, port, what := splitPort(authority)
	if what != "" {
		return URL{}, bad(raw, what)
	}
	if port != defaultPort[scheme] {
		u.Port = port
	}
	if u.Host, what = parseHost(host); what != "" {
		return URL{}, bad(raw, what)
	}
	return u, nil
}

var withoutBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

func cutScheme(s string) (scheme, rest string, ok bool) {
	i := strings.IndexByte(s, ':')
	if i <= 0 {
		return "", "", false
	}
	for k := 0; k < i; k++ {
		c := s[k] | 0x20
		if !(c >= 'a' && c <= 'z') && (k == 0 || !(s[k] >= '0' && s[k] <= '9' || strings.IndexByte("+-.", s[k]) >= 0)) {
			return "", "", false
		}
	}
	return strings.ToLower(s[:i]), s[i+1:], true
}

// relative resolves a reference to the same host: an absolute path, a relative path, or a query alone.
func (u URL) relative(path, query string, hasQuery bool) URL {
	out := u
	switch {
	case strings.HasPrefix(path, "/"):
		out.Path = cleanPath(path)
	case path != "":
		out.Path = cleanPath(u.Path[:strings.LastIndexByte(u.Path, '/')+1] + path)
	case !hasQuery:
		return out
	}
	out.Query = encode(query, querySet)
	return out
}

// cleanPath removes dot segments, percent-encoded ones too, and encodes the characters that a path may not contain.
func cleanPath(p string) string {
	if isCleanPath(p) {
		return p
	}
	return cleanSegments(p)
}

// isCleanPath reports whether a path is what cleanSegments makes of it, as nearly all paths are: it begins with a
// slash, no segment begins with a dot or has an escape of one, and no character needs to be encoded.
func isCleanPath(p string) bool {
	if p == "" || p[0] != '/' {
		return false
	}
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte(pathSet, c) >= 0:
			return false
		case c == '/' && i+1 < len(p) && p[i+1] == '.', c == '%' && strings.HasPrefix(p[i+1:], "2"):
			return false
		}
	}
	return true
}

func cleanSegments(p string) string {
	segments := strings.Split(strings.TrimPrefix(p, "/"), "/")
	out := make([]string, 0, len(segments))
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "%2e", "."), "%2E", ".")) {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, encode(s, pathSet))
		}
	}
	return "/" + strings.Join(out, "/")
}

// The printable ASCII characters in the path and query percent-encode sets of the standard.
const (
	pathSet  = "\"#<>?`{}^"
	querySet = "\"#<>'"
)

// encode percent-encodes controls, spaces, non-ASCII bytes and the characters in set. Existing escapes stay.
func encode(s, set string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] > ' ' && s[i] < 0x7f && strings.IndexByte(set, s[i]) < 0
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(set, c) >= 0 {
			writeEscape(&b, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func encodeUser(s string) string {
	user, pass, has := strings.Cut(s, ":")
	const set = "\"#<>?`{}/:;=@[\\]^|"
	if !has || pass == "" {
		return encode(user, set)
	}
	return encode(user, set) + ":" + encode(pass, set)
}

func (u URL) isIP() bool {
	if u.Host[0] == '[' {
		return true
	}
	_, err := netip.ParseAddr(u.Host)
	return err == nil
}

// Group returns the host, followed by the port if it is not the scheme's default.
func (u URL) Group() string {
	if u.Port == "" {
		return u.Host
	}
	return u.Host + ":" + u.Port
}

// Address returns the host, without brackets, and the port to connect to.
func (u URL) Address() (host, port string) {
	port = u.Port
	if port == "" {
		port = defaultPort[u.Scheme]
	}
	return strings.Trim(u.Host, "[]"), port
}

// Authority returns scheme, host and port, to which the rules of one robots.txt apply (RFC 9309 §2.3).
func (u URL) Authority() string { return u.Scheme + "://" + u.Group() }

// String returns the URL as it goes over the wire, without a fragment.
func (u URL) String() string {
	user := u.User
	if user != "" {
		user += "@"
	}
	return u.Scheme + "://" + user + u.Group() + u.PathAndQuery()
}

// PathAndQuery returns the request target, which rules of robots.txt are matched against.
func (u URL) PathAndQuery() string {
	if u.Query == "" {
		return u.Path
	}
	return u.Path + "?" + u.Query
}

// FileName returns the last part of the path, decoded; for a URL without one, the host. The name may contain any
// character but a slash.
func (u URL) FileName() string {
	if name := path.Base(unescape(u.Path)); name != "/" && name != "." {
		return name
	}
	host, _ := u.Address()
	return host
}

// Standard returns the URL in a form that net/http sends as String writes it. There is one exception: in a path that
// begins with two slashes, net/http escapes what RFC 3986 does not allow, such as a '%' that begins no escape.
func (u URL) Standard() *url.URL {
	std := &url.URL{Scheme: u.Scheme, Host: u.Group(), RawQuery: u.Query, RawPath: u.Path}
	path, err := url.PathUnescape(u.Path)
	if err != nil {
		path = u.Path
	}
	if std.Path = path; std.EscapedPath() != u.Path && !strings.HasPrefix(u.Path, "//") {
		std.Opaque = u.Path // net/url would escape more characters
	}
	return std
}
