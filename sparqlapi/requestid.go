package sparqlapi

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
)

type requestIDKey struct{}

// requestID returns the X-Request-Id of a request that a trusted proxy sent, if it is a short plain word, and a new id
// otherwise. Others may not choose: they could take the id of somebody else's request.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if !proxied(r) || id == "" || len(id) > 64 ||
		strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") != "" {
		id = rand.Text()
	}
	return id
}

// LogHandler returns a handler that adds the id of the request to the lines that are logged on its behalf.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		line = line.Clone()
		line.AddAttrs(slog.String("id", id))
	}
	return h.Handler.Handle(ctx, line)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
