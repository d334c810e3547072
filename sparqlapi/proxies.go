package sparqlapi

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the peers that are trusted to say on whose behalf they ask. The zero value trusts nobody.
type Proxies struct {
	Networks []netip.Prefix
	Unix     bool // whoever can connect to a unix socket
}

// trust reports whether the peer with an address may speak for others.
func (p Proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// maxHops bounds how many proxies of a request are looked at.
const maxHops = 32

type proxiedKey struct{}

// behind sets the address of a request that came through trusted proxies to the address that the outermost of them saw:
// the last one in X-Forwarded-For, or without that header in Forwarded (RFC 7239), that is not a trusted proxy. Other
// requests keep theirs, because anyone may send these headers.
func behind(proxies func() Proxies) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if proxies == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			trusted := proxies()
			peer, err := netip.ParseAddr(clientAddress(r))
			peer = peer.Unmap().WithZone("")
			local := err != nil && (r.RemoteAddr == "@" || r.RemoteAddr == "") // of a unix socket
			if !(local && trusted.Unix || err == nil && trusted.trust(peer)) {
				next.ServeHTTP(w, r)
				return
			}
			r2 := r.WithContext(context.WithValue(r.Context(), proxiedKey{}, true))
			if from := trusted.origin(r.Header, peer); from.IsValid() {
				r2.RemoteAddr = netip.AddrPortFrom(from, 0).String()
			}
			next.ServeHTTP(w, r2)
		})
	}
}

// origin returns the address from which the outermost trusted proxy was asked, or peer if the nearest one does not say.
func (p Proxies) origin(h http.Header, peer netip.Addr) netip.Addr {
	hops := forwarded(h)
	for i := len(hops) - 1; i >= 0 && i >= len(hops)-maxHops; i-- {
		a, ok := hopAddress(hops[i])
		if !ok {
			break
		}
		if peer = a; !p.trust(a) {
			break
		}
	}
	return peer
}

// proxied reports whether a trusted proxy has sent a request.
func proxied(r *http.Request) bool { return r.Context().Value(proxiedKey{}) != nil }

// forwarded returns the addresses that proxies noted, the nearest last.
func forwarded(h http.Header) []string {
	if lines := h.Values("X-Forwarded-For"); len(lines) > 0 {
		return strings.Split(strings.Join(lines, ","), ",")
	}
	var hops []string
	for _, element := range splitQuoted(strings.Join(h.Values("Forwarded"), ","), ',') {
		hop := "" // an element that does not say counts as unknown
		for _, pair := range splitQuoted(element, ';') {
			if name, value, ok := strings.Cut(pair, "="); ok && strings.EqualFold(strings.TrimSpace(name), "for") {
				hop = unquote(strings.TrimSpace(value))
			}
		}
		hops = append(hops, hop)
	}
	return hops
}

// splitQuoted splits at a separator outside of quoted strings (RFC 9110 §5.6.4).
func splitQuoted(s string, separator byte) (parts []string) {
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == separator && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// unquote returns what a quoted string means, or s if it is none.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' && i+1 < len(s)-1 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hopAddress parses an address with or without a port: "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80".
func hopAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	if bare, ok := strings.CutPrefix(s, "["); ok {
		bare, ok = strings.CutSuffix(bare, "]")
		if !ok {
			return netip.Addr{}, false
		}
		s = bare
	}
	a, err := netip.ParseAddr(s)
	return a.Unmap().WithZone(""), err == nil
}
