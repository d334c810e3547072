package address

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

func splitPort(authority string) (host, port, what string) {
	host = authority
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		host, port = authority[:i], authority[i+1:]
	}
	if port == "" {
		return host, "", ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", "", "the port " + strconv.Quote(port) + " is not a number from 1 to 65535"
	}
	return host, strconv.FormatUint(n, 10), ""
}

// lookup maps names as browsers do (UTS 46): not transitional, and without the STD3 rules, since names with '_' exist.
var lookup = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false),
	idna.BidiRule())

func parseHost(h string) (host, what string) {
	if strings.HasPrefix(h, "[") && strings.HasSuffix(h, "]") {
		a, err := netip.ParseAddr(h[1 : len(h)-1])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", strconv.Quote(h) + " is not an IPv6 address"
		}
		return "[" + a.String() + "]", ""
	}
	h, err := url.PathUnescape(h)
	if err != nil {
		return "", "a broken escape in the host"
	}
	name := h
	if !isPlainName(h) {
		if name, err = lookup.ToASCII(h); err == nil && utf8.ValidString(h) {
			_, err = lookup.ToASCII(strings.ToLower(name)) // the mapped name must be valid too
		}
		if err != nil || !utf8.ValidString(h) {
			return "", "the host " + strconv.Quote(h) + " is not a domain name"
		}
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if name == "" {
		return "", "no host"
	}
	if len(name) > 253 {
		return "", "the host is longer than 253 bytes"
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || len(label) > 63 {
			return "", "the host " + strconv.Quote(name) + " has an empty or too long label"
		}
	}
	if i := strings.IndexFunc(name, forbiddenInHost); i >= 0 {
		return "", "the host contains the character " + strconv.QuoteRune(rune(name[i]))
	}
	if endsInNumber(name) {
		a, ok := parseIPv4(name)
		if !ok {
			return "", "the host " + strconv.Quote(name) + " is not an IPv4 address"
		}
		return a.String(), ""
	}
	return name, ""
}

// isPlainName reports whether a host is what lookup maps to itself: letters a to z, digits, hyphens, underscores and
// dots, without a label in Punycode. Almost all hosts are, and mapping takes most of the time of Parse.
func isPlainName(h string) bool {
	for i := range len(h) {
		c := h[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return !strings.Contains(h, "xn--")
}

func forbiddenInHost(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("#%/:<>?@[\\]^|\"`{}'()*,;=!$&+", r)
}

func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, ok := ipv4Number(last)
	return ok || strings.Trim(last, "0123456789") == ""
}

// parseIPv4 parses what the C library's inet_aton parses: one to four numbers, decimal, octal or hexadecimal.
func parseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, ok := ipv4Number(p)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			v |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		v |= n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func ipv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case len(s) >= 2 && (s[:2] == "0x" || s[:2] == "0X"):
		if s = s[2:]; s == "" {
			return 0, true
		}
		base = 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" || s[0] == '+' || s[0] == '-' || strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
