// Package outlast lets a write outlast its client's connection.
//
// net/http ends the context of a request when the client closes its side of the connection, and cannot tell a client that
// has gone from one that only has nothing more to send (`nc -N`). A question without a listener is not worth answering. A
// write whose body has arrived whole was asked for: Client gives it a context that ends with the server, not with the
// client. While a body is still arriving, reading it fails where the client goes, whatever the context.
package outlast

import (
	"context"
	"net/http"
)

type key struct{}

// Server marks the context that all requests of a server derive from (http.Server.BaseContext).
func Server(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, ctx) }

// Client returns a context with the values of a request's, which ends when the server's ends, for the cause of that. The
// caller must call release.
func Client(request context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	server, ok := request.Value(key{}).(context.Context)
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(server, func() { cancel(context.Cause(server)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Handler runs another handler with the context of Client.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, release := Client(r.Context())
		defer release()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
