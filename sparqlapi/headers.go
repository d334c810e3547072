package sparqlapi

import (
	"net/http"
	"slices"
)

// secure sets what holds for every answer. A handler of archived bytes replaces the policy by its own, stricter one
// (sandbox); pages of ui replace it by theirs.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// exposed are the answer headers a script of another site may read.
const exposed = "Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Link, Location, Memento-Datetime, Odarchive-Left-Out, Retry-After, Vary, X-Request-Id"

// crossOrigin lets scripts of any site read, without credentials: everything here is public. Writing from another
// site's page is not offered, so a preflight for it is answered without leave.
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
		if readable(r.URL.Path, asked) {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
			h.Set("Access-Control-Allow-Headers", "Accept, Accept-Datetime, Content-Type, If-None-Match, If-Modified-Since, Range")
			h.Set("Access-Control-Max-Age", "86400")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// readable tells whether a method only reads: GET and HEAD everywhere, POST where a question may be long.
func readable(path, method string) bool {
	if method != http.MethodPost {
		return method == http.MethodGet || method == http.MethodHead
	}
	return slices.Contains(postReads, path)
}
