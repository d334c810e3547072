package sparqlapi

import (
	"net/http"
	"slices"
)

// secure sets the security headers of every answer. Handlers of archived bytes and the pages of ui set policies of
// their own.
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

// exposed are the response headers that scripts of other sites may read.
const exposed = "Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Link, Location, Memento-Datetime, Odarchive-Left-Out, Retry-After, Vary, X-Request-Id"

// crossOrigin lets scripts of any site read, without credentials, because everything here is public. A preflight
// request for writing gets no permission.
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
		if isReading(r.URL.Path, asked) {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
			h.Set("Access-Control-Allow-Headers", "Accept, Accept-Datetime, Content-Type, If-None-Match, If-Modified-Since, Range")
			h.Set("Access-Control-Max-Age", "86400")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// isReading reports whether requests with a method only read: GET and HEAD on every path, POST on postReads.
func isReading(path, method string) bool {
	if method != http.MethodPost {
		return method == http.MethodGet || method == http.MethodHead
	}
	return slices.Contains(postReads, path)
}
