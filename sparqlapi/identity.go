package sparqlapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"odarchive/sparqlapi/access"
	"odarchive/sparqlapi/fair"
)

// maxHops bounds how many proxies of a request are looked at.
const maxHops = 32

// behind sets the address of a request that came through trusted proxies to the address that the outermost of them saw:
// the last one in X-Forwarded-For, or in Forwarded (RFC 7239), that is not a trusted proxy. Other requests keep theirs,
// because anyone may send these headers.
func behind(proxies []netip.Prefix) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if len(proxies) == 0 {
			return next
		}
		trusted := func(a netip.Addr) bool {
			return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from, err := netip.ParseAddr(clientAddress(r))
			if err != nil || !trusted(from.Unmap().WithZone("")) {
				next.ServeHTTP(w, r)
				return
			}
			hops := forwarded(r.Header)
			for i := len(hops) - 1; i >= 0 && i >= len(hops)-maxHops; i-- {
				a, ok := hopAddress(hops[i])
				if !ok {
					break
				}
				if from = a; !trusted(a) {
					break
				}
			}
			r2 := *r
			r2.RemoteAddr = netip.AddrPortFrom(from, 0).String()
			next.ServeHTTP(w, &r2)
		})
	}
}

// forwarded returns the addresses that proxies noted, the nearest last.
func forwarded(h http.Header) []string {
	if lines := h.Values("X-Forwarded-For"); len(lines) > 0 {
		return strings.Split(strings.Join(lines, ","), ",")
	}
	var hops []string
	for _, element := range strings.Split(strings.Join(h.Values("Forwarded"), ","), ",") {
		for _, pair := range strings.Split(element, ";") {
			if name, value, ok := strings.Cut(pair, "="); ok && strings.EqualFold(strings.TrimSpace(name), "for") {
				hops = append(hops, strings.Trim(strings.TrimSpace(value), `"`))
			}
		}
	}
	return hops
}

// hopAddress parses an address with or without a port: "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80".
func hopAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone(""), err == nil
}

// identify finds out who sends each request, and names the client for package fair: the holder of a token, or a network as
// limit counts them.
func identify(guard *Guard) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			client := clientAddress(r)
			caller := guard.caller(r)
			if caller.Known() {
				client = "token " + caller.Name
			} else if network, ok := clientNetwork(r); ok {
				client = network.String()
			}
			note(r.Context(), caller.Name)
			ctx := access.With(r.Context(), caller) // a wrong token counts once
			next.ServeHTTP(w, r.WithContext(fair.WithClient(ctx, client)))
		})
	}
}
