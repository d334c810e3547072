// Package problem turns errors into HTTP answers: a status and an RFC 9457 document (application/problem+json).
//
// A handler passes its error to Write, and nothing else in the project chooses the status of a failure. An *Error (New,
// Wrap) carries its own answer. Every other error is looked up in a Table: first in the program's (Use), then in this
// package's. An error in neither is answered with status 500 and without its text, which may name files and hosts of
// the server; the text is logged.
//
// The package imports no other package of the project. The program passes their sentinels in a Table.
package problem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// ContentType is the media type of every answer of this package (RFC 9457 §3).
const ContentType = "application/problem+json"

// Error is a failure with its answer to the client.
type Error struct {
	Status     int            // HTTP status
	Type       string         // URI reference that identifies the kind of problem, "" for about:blank
	Title      string         // the kind of problem, always in the same words; "" for the status text
	Detail     string         // this occurrence, in one sentence
	Fields     map[string]any // extension members, for programs: line, col, url ... (RFC 9457 §3.2)
	RetryAfter time.Duration  // if > 0, sent as Retry-After, rounded up to seconds
	Cause      error          // the underlying error; logged, never sent
}

// New returns an error that is answered with the given status, title and detail.
func New(status int, title, detail string) error {
	return &Error{Status: status, Title: title, Detail: detail}
}

// Newf is New with a formatted detail.
func Newf(status int, title, format string, args ...any) error {
	return &Error{Status: status, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// Wrap returns an error whose detail is err's text. Use it for errors whose text is meant for the client, such as
// syntax errors and bad parameters. Wrap of nil is nil.
func Wrap(status int, title string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Status: status, Title: title, Detail: err.Error(), Cause: err}
}

// With is Wrap with extension members for programs, given as alternating names and values.
func With(status int, title string, err error, namesAndValues ...any) error {
	if err == nil {
		return nil
	}
	fields := make(map[string]any, len(namesAndValues)/2)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		fields[fmt.Sprint(namesAndValues[i])] = namesAndValues[i+1]
	}
	return &Error{Status: status, Title: title, Detail: err.Error(), Cause: err, Fields: fields}
}

// Error returns the title and the detail.
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.title()
	}
	return e.title() + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) title() string {
	return cmp.Or(e.Title, http.StatusText(e.Status))
}

// MarshalJSON writes the RFC 9457 members, then the extension members, which cannot replace them.
func (e *Error) MarshalJSON() ([]byte, error) {
	doc := maps.Clone(e.Fields)
	if doc == nil {
		doc = make(map[string]any, 4)
	}
	doc["type"], doc["title"], doc["status"] = cmp.Or(e.Type, "about:blank"), e.title(), e.Status
	delete(doc, "detail")
	if e.Detail != "" {
		doc["detail"] = e.Detail
	}
	return json.Marshal(doc)
}

// Write answers r with err, or does nothing if err is nil. After a handler has sent its status, it must not call Write,
// but panic with http.ErrAbortHandler, so that the client sees a broken answer and not a short one.
//
// Clients that have closed their side of the connection may still read, and net/http would answer 200 for a handler
// that writes nothing. So they are answered, too: with status 499 if the closing ended the work.
func Write(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	o := optionsFrom(r.Context())
	e := o.Table.Find(err)
	switch {
	case errors.Is(context.Cause(r.Context()), ErrStopping) && errors.Is(err, context.Canceled):
		e = standard.Find(ErrStopping)
	case e.Status == StatusClientClosed || gone(r) && e.Status >= http.StatusInternalServerError:
		o.Log.DebugContext(r.Context(), "client closed the connection", "path", r.URL.Path, "err", err)
		Send(w, r, standard.Find(context.Canceled))
		return
	}
	if e.Status >= http.StatusInternalServerError {
		o.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "status", e.Status, "err",
			cmp.Or(e.Cause, err))
	}
	e.header(w.Header()) // a page has them, too
	if o.Page != nil && o.Page(w, r, e) {
		return
	}
	Send(w, r, e)
}

// Send writes the document of e, without a Table, and logs nothing. The document has the id of the request, if the
// answer has one (X-Request-Id), as "request".
func Send(w http.ResponseWriter, r *http.Request, e *Error) {
	if id := w.Header().Get("X-Request-Id"); id != "" && e.Fields["request"] == nil {
		named := *e
		named.Fields = maps.Clone(e.Fields)
		if named.Fields == nil {
			named.Fields = make(map[string]any, 1)
		}
		named.Fields["request"] = id
		e = &named
	}
	body, err := json.Marshal(e)
	if err != nil { // a field that JSON cannot encode is a bug of the caller; the client gets an answer without the fields
		body, _ = json.Marshal(&Error{Status: e.Status, Title: e.Title, Detail: e.Detail})
	}
	body = append(body, '\n')
	h := w.Header()
	for _, stale := range []string{"Content-Encoding", "Content-Range", "Content-Disposition", "ETag", "Last-Modified",
		"Memento-Datetime"} {
		h.Del(stale)
	}
	h.Set("Content-Type", ContentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	e.header(h)
	w.WriteHeader(e.Status)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client has left
	}
}

// usualWait is the Retry-After of refusals for a while that name no time.
const usualWait = 5 * time.Second

// header sets what an answer has beside its document. Each answer of status 429 or 503 says when to try again.
func (e *Error) header(h http.Header) {
	wait := e.RetryAfter
	if wait <= 0 && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable) {
		wait = usualWait
	}
	if wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	if e.Status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer realm="odarchive"`)
	}
}

// Handler adapts a handler that returns an error.
func Handler(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			Write(w, r, err)
		}
	}
}

var discard = slog.New(slog.DiscardHandler)
