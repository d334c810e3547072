package sparqlapi

import (
	"net/http"

	"odarchive/sparqlapi/operate/access"
)

// identify finds out who sends each request, and names the client for package fair: the holder of a token, or a network
// as limit counts them.
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
			if rec, ok := w.(*recorder); ok && caller.Session {
				rec.private = true // pages name who has signed in
			}
			ctx := access.With(r.Context(), caller) // a wrong token counts once
			next.ServeHTTP(w, r.WithContext(access.WithClient(ctx, client)))
		})
	}
}
