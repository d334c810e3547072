package problem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// StatusClientClosed answers clients that closed their side of the connection before the answer was ready.
const StatusClientClosed = 499

// Rule is the answer for an error, and for all errors that wrap it.
type Rule struct {
	Err        error
	Status     int
	Title      string
	Public     bool          // send the error's text to the client, as the detail
	Advice     string        // a sentence after the detail on what to do
	RetryAfter time.Duration // if > 0, sent as Retry-After
}

// Table is a list of rules. The first rule whose Err is in an error's chain applies.
type Table []Rule

// ErrStopping is the cause with which a stopping server cancels requests that take too long to end.
var ErrStopping = errors.New("the server is stopping")

// The answer to errors without a rule.
const (
	InternalTitle  = "Internal server error"
	InternalDetail = "The server's log has the cause."
)

// The answer to errors of a full disk or quota, usually that of temporary files. Their own texts have names of files.
const (
	fullTitle  = "The server's disk is full"
	fullDetail = "There is no room for temporary files."
)

// standard has the rules for errors of the standard library and of this package.
var standard = Table{
	{Err: ErrStopping, Status: http.StatusServiceUnavailable, Title: "The server is stopping", RetryAfter: 10 * time.Second},
	{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Title: "The request exceeded its time limit"},
	{Err: context.Canceled, Status: StatusClientClosed, Title: "The client closed the connection"},
	{Err: http.ErrNotMultipart, Status: http.StatusUnsupportedMediaType, Title: "Not a multipart form", Public: true},
	{Err: errors.ErrUnsupported, Status: http.StatusNotImplemented, Title: "Not supported", Public: true},
	{Err: syscall.ENOSPC, Status: http.StatusInsufficientStorage, Title: fullTitle, Advice: fullDetail},
	{Err: syscall.EDQUOT, Status: http.StatusInsufficientStorage, Title: fullTitle, Advice: fullDetail},
}

// Find returns the answer for err: the *Error in its chain, or that of the first rule, or else status 500.
func (t Table) Find(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{Status: http.StatusRequestEntityTooLarge, Title: "The request is too large", Cause: err,
			Detail: "at most " + strconv.FormatInt(long.Limit, 10) + " bytes are allowed", Fields: map[string]any{"limit": long.Limit}}
	}
	for _, table := range []Table{t, standard} {
		for _, rule := range table {
			if !errors.Is(err, rule.Err) {
				continue
			}
			e := &Error{Status: rule.Status, Title: rule.Title, RetryAfter: rule.RetryAfter, Cause: err}
			if rule.Public {
				e.Detail = err.Error()
				if rule.Advice != "" {
					e.Detail += ". "
				}
			}
			e.Detail += rule.Advice
			return e
		}
	}
	return &Error{Status: http.StatusInternalServerError, Title: InternalTitle, Detail: InternalDetail, Cause: err}
}

// Options of Use.
type Options struct {
	Table Table        // the program's rules, which come before the standard ones
	Log   *slog.Logger // logs each failure with a 5xx status once; nil discards
	// Page, if not nil, may answer with a page instead of the JSON document. It reports whether it did.
	Page func(w http.ResponseWriter, r *http.Request, e *Error) bool
}

// Use returns middleware that sets how Write answers. Without it, Write has the standard rules only.
func Use(o Options) func(http.Handler) http.Handler {
	if o.Log == nil {
		o.Log = discard
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, o)))
		})
	}
}

type key struct{}

func optionsFrom(ctx context.Context) Options {
	if o, ok := ctx.Value(key{}).(Options); ok {
		return o
	}
	return Options{Log: discard}
}

// gone reports whether the client closed the connection. A deadline, and the end of the server, are something else.
func gone(r *http.Request) bool {
	cause := context.Cause(r.Context())
	return errors.Is(r.Context().Err(), context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, ErrStopping)
}
