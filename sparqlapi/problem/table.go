package problem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// StatusClientClosed answers a client that closed its side of the connection before its request was dealt with.
const StatusClientClosed = 499

// Rule says how an error, or any error that wraps it, is answered.
type Rule struct {
	Err        error
	Status     int
	Title      string
	Tell       bool          // the error's text is meant for the client and becomes the detail
	Advice     string        // what to do about it, a sentence behind the detail
	RetryAfter time.Duration // > 0: sent as Retry-After
}

// Table is searched from the top; the first rule whose Err is in the chain of an error wins.
type Table []Rule

// ErrStopping is the cause with which a server ends the contexts of requests that outlast its grace.
var ErrStopping = errors.New("the server is being stopped")

// standard holds what needs no package of the project.
var standard = Table{
	{Err: ErrStopping, Status: http.StatusServiceUnavailable, Title: "The server is being stopped", RetryAfter: 10 * time.Second},
	{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Title: "The time limit for this request has passed"},
	{Err: context.Canceled, Status: StatusClientClosed, Title: "The client went away"},
	{Err: http.ErrNotMultipart, Status: http.StatusUnsupportedMediaType, Title: "Not a multipart form", Tell: true},
	{Err: errors.ErrUnsupported, Status: http.StatusNotImplemented, Title: "Not supported", Tell: true},
}

// Find gives the answer for err: the *Error in its chain, else the first rule, else 500.
func (t Table) Find(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return &Error{Status: http.StatusRequestEntityTooLarge, Title: "The request is too large", Cause: err,
			Detail: "at most " + strconv.FormatInt(long.Limit, 10) + " bytes are accepted here", Fields: map[string]any{"limit": long.Limit}}
	}
	for _, table := range []Table{t, standard} {
		for _, rule := range table {
			if !errors.Is(err, rule.Err) {
				continue
			}
			e := &Error{Status: rule.Status, Title: rule.Title, RetryAfter: rule.RetryAfter, Cause: err}
			if rule.Tell {
				e.Detail = err.Error()
			}
			if rule.Tell && rule.Advice != "" {
				e.Detail += ". "
			}
			e.Detail += rule.Advice
			return e
		}
	}
	return &Error{Status: http.StatusInternalServerError, Title: "The server could not do this", Cause: err,
		Detail: "The failure is in the server's log."}
}

// Options of Use.
type Options struct {
	Table Table        // the program's own errors, searched before the standard ones
	Log   *slog.Logger // where 5xx failures are told once; nil for nowhere
	// Page, where set, may answer with a page for people instead of the JSON document, and says whether it did.
	Page func(w http.ResponseWriter, r *http.Request, e *Error) bool
}

// Use makes the middleware that tells Write how this program answers. Without it Write knows the standard errors only.
func Use(o Options) func(http.Handler) http.Handler {
	s := &settings{table: o.Table, log: o.Log, page: o.Page}
	if s.log == nil {
		s.log = discard
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, s)))
		})
	}
}

type key struct{}

type settings struct {
	table Table
	log   *slog.Logger
	page  func(http.ResponseWriter, *http.Request, *Error) bool
}

func from(ctx context.Context) *settings {
	if s, ok := ctx.Value(key{}).(*settings); ok {
		return s
	}
	return &settings{log: discard}
}

// gone tells whether the client has closed the connection; a deadline or the end of the server's own is not that.
func gone(r *http.Request) bool {
	cause := context.Cause(r.Context())
	return errors.Is(r.Context().Err(), context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, ErrStopping)
}
