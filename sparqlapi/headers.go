package sparqlapi

import (
	"net/http"
	"slices"
	"strings"
)

// assetsPath is where the pages' scripts and style sheets are; no archived byte is below it.
const assetsPath = "/assets/"

// secure sets the security headers of every answer. Handlers of archived bytes and the pages of ui set policies of
// their own.
//
// Archived scripts have the origin of the pages, whose policy (script-src 'self') would let them run if somebody found
// a way to name one in a page. So what a browser says it requests as code (Sec-Fetch-Dest, W3C Fetch Metadata) is
// answered from assetsPath only.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if slices.Contains(code, r.Header.Get("Sec-Fetch-Dest")) && !strings.HasPrefix(r.URL.Path, assetsPath) {
			http.Error(w, "The archive serves no scripts and style sheets here.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// code are the destinations of requests whose answers a browser runs or applies to a page.
var code = []string{"audioworklet", "embed", "frame", "iframe", "manifest", "object", "paintworklet", "script", "serviceworker",
	"sharedworker", "style", "worker", "xslt"}

// exposed are the response headers that scripts of other sites may read.
const exposed = "Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Link, Location, Memento-Datetime, " +
	"Odarchive-Left-Out, Odarchive-Warning, RateLimit, RateLimit-Policy, Retry-After, Vary, X-Replica-Lag, X-Request-Id"

// crossOrigin lets scripts of any site read, because everything here is public. No credentials of the browser are sent:
// a script that sends the token in Authorization must have it already. With it, a script may write by SPARQL and to the
// graph store, as query editors do; a preflight request for any other write gets no permission.
func crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", exposed)
		asked := r.Header.Get("Access-Control-Request-Method")
		if r.Method != http.MethodOptions || asked == "" {
			next.ServeHTTP(w, r)
			return
		}
		methods := "GET, HEAD, POST, OPTIONS"
		switch {
		case isGraphStore(r.URL.Path):
			methods = "GET, HEAD, PUT, POST, DELETE, OPTIONS"
		case !isReading(r.URL.Path, asked):
			methods = ""
		}
		if methods != "" {
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers",
				"Accept, Accept-Datetime, Authorization, Content-Type, If-Match, If-None-Match, If-Modified-Since, Mcp-Method, Mcp-Name, "+
					"Mcp-Protocol-Version, Range")
			h.Set("Access-Control-Max-Age", "86400")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func isGraphStore(path string) bool {
	return path == "/rdf-graph-store" || strings.HasPrefix(path, "/rdf-graph-store/")
}

// isReading reports whether requests with a method only read: GET and HEAD on every path, POST on postReads.
func isReading(path, method string) bool {
	if method != http.MethodPost {
		return method == http.MethodGet || method == http.MethodHead
	}
	return slices.Contains(postReads, path)
}
