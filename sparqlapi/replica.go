package sparqlapi

import (
	"net/http"
	"slices"
	"strings"

	"odarchive/sparqlapi/problem"
)

// onReplicas are the routes that a replica answers although their methods are those of changes: they change nothing, or
// find out themselves what a request would change.
var onReplicas = []string{"/backup", "/check", "/sign-in", "/sign-out"}

// refused answers requests that change something on a replica.
func (o Options) refused(next http.Handler) http.Handler {
	if o.Refuse == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v1")
		if isReading(path, r.Method) || r.Method == http.MethodOptions || slices.Contains(onReplicas, path) ||
			strings.HasPrefix(path, "/commands/") {
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // or net/http would read the body before it answers
		}
		problem.Handler(func(http.ResponseWriter, *http.Request) error { return o.Refuse(r) }).ServeHTTP(w, r)
	})
}
