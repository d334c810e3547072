package sparqlapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
)

// below lets handlers work as if the archive's base had no path, wherever a proxy puts them. root is the path of the
// base without the final '/', as in "/archive".
//
// Some proxies remove the path and some do not, and requests of this machine come without one. So a path below root is
// served as what follows, and any other path as it is. A path that means something only with root in front of it, since
// root is a route's name, too, keeps it. In answers, the observer's recorder puts root in front of Location and Link.
func below(root string, routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if root == "" {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw := r.URL.EscapedPath()
			rest, found := strings.CutPrefix(raw, root)
			if !found || !strings.HasPrefix(rest, "/") || routed(routes, r.Method, raw) && !routed(routes, r.Method, rest) {
				next.ServeHTTP(w, r)
				return
			}
			u := *r.URL
			decoded, err := url.PathUnescape(rest)
			if err != nil { // net/http has parsed the path, so that this cannot be
				decoded = rest
			}
			u.Path, u.RawPath = decoded, rest
			r2 := *r
			r2.URL, r2.RequestURI = &u, u.RequestURI()
			next.ServeHTTP(w, &r2)
		})
	}
}

func routed(routes chi.Routes, method, path string) bool {
	return routes.Match(chi.NewRouteContext(), method, path)
}

// place puts root in front of the addresses in Location and Link that are paths of this server, as handlers write them.
func place(h http.Header, root string) {
	if root == "" {
		return
	}
	if l := h.Get("Location"); isPath(l) {
		h.Set("Location", root+l)
	}
	for i, l := range h["Link"] {
		if rest, ok := strings.CutPrefix(l, "<"); ok && isPath(rest) {
			h["Link"][i] = "<" + root + rest
		}
	}
}

// isPath reports whether an address is a path. What begins with "//" names a host.
func isPath(address string) bool {
	return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
}
