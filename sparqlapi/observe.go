package sparqlapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// Event is an answered request, for metrics.
type Event struct {
	Route  string // the pattern that matched, not the address; "" if none did
	Method string
	Status int
	Took   time.Duration
	Bytes  int64
}

// observe assigns an id to each request. After the answer it writes a line of access log and reports an event.
func observe(log *slog.Logger, report func(Event), root string, closed bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			id := requestID(r)
			w.Header().Set("X-Request-Id", id)
			rec := &recorder{ResponseWriter: w, root: root, private: closed}
			who := new(sender)
			outside := r.Context() // without the id, which the line has itself
			r = r.WithContext(context.WithValue(context.WithValue(outside, senderKey{}, who), requestIDKey{}, id))
			defer func() {
				if rec.status == 0 {
					place(w.Header(), root)
				}
				status := rec.status
				if status == 0 {
					status = problem.StatusClientClosed
				}
				e := Event{Route: route(r), Method: r.Method, Status: status, Took: time.Since(start), Bytes: rec.bytes}
				if report != nil {
					report(e)
				}
				log.LogAttrs(outside, accessLevel(r, status), "request", slog.String("id", id), slog.String("method", r.Method),
					slog.String("path", operate.Redact(r.URL.Path)), slog.String("query", operate.Redact(r.URL.RawQuery)),
					slog.Int("status", status),
					slog.Int64("bytes", e.Bytes), slog.Duration("took", e.Took), slog.String("from", clientAddress(r)),
					slog.String("token", who.name), slog.String("agent", r.UserAgent()))
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

// sender is the name of the token of a request, which observe logs and identify finds out.
type sender struct{ name string }

type senderKey struct{}

// note notes the name of the token that a request was sent with.
func note(ctx context.Context, name string) {
	if who, ok := ctx.Value(senderKey{}).(*sender); ok {
		who.name = name
	}
}

// route returns the pattern that matched. chi sets it while routing, so it is known only after the answer.
func route(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil {
		return c.RoutePattern()
	}
	return ""
}

// accessLevel returns a low level for probes and assets, to keep them out of an ordinary log.
func accessLevel(r *http.Request, status int) slog.Level {
	if (isProbe(r) || strings.HasPrefix(r.URL.Path, "/replicate")) && status < 500 {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// isProbe reports whether a request is one of those that machines make all the time.
func isProbe(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics" || strings.HasPrefix(r.URL.Path, "/assets/")
}

// recoverPanics answers status 500 if a handler panics. It passes http.ErrAbortHandler on: with it, a handler whose
// stream failed makes net/http cut the connection.
func recoverPanics(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if v == http.ErrAbortHandler {
					panic(v)
				}
				log.ErrorContext(r.Context(), "panic in a handler", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
				if rec, ok := w.(*recorder); ok && rec.status != 0 {
					panic(http.ErrAbortHandler)
				}
				problem.Send(w, r,
					&problem.Error{Status: http.StatusInternalServerError, Title: problem.InternalTitle, Detail: problem.InternalDetail})
			}()
			next.ServeHTTP(w, r)
		})
	}
}
