// Lets a write continue after its client has closed the connection.
//
// net/http cancels a request's context when the client closes its side of the connection. It cannot distinguish a
// client that has left from one that only has nothing more to send (`nc -N`). A query without a reader should stop. A
// write whose body has arrived should not: LastingClient returns a context for it that ends with the server. While a
// body is still arriving, reading it fails when the client leaves, with either context.

package answer

import (
	"context"
	"net/http"
)

type key struct{}

// LastingServer marks the context from which all requests of a server derive (http.Server.BaseContext).
func LastingServer(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, ctx) }

// LastingClient returns a context with the values of a request's context, which ends with the server's context and has
// its cause. The caller must call release.
func LastingClient(request context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	server, ok := request.Value(key{}).(context.Context)
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(server, func() { cancel(context.Cause(server)) })
	return ctx, func() { stop(); cancel(nil) }
}

// LastingHandler runs next with the context that Client returns.
func LastingHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, release := LastingClient(r.Context())
		defer release()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
