// Package problem turns errors into HTTP answers: a status and an RFC 9457 document (application/problem+json).
//
// There is one way out for a failed request: a handler hands its error to Write, and nothing else in the project
// chooses a status for a failure. An error that knows its own answer is an *Error (New, Wrap); every other error is
// looked up in a Table, first the one the program brought along (Use), then the one of this package. What no table
// knows is 500: its text may name files and hosts of the server, so it goes to the log and not to the client.
//
// The package does not know the project's other packages: the program passes their sentinels in a Table.
package problem

import (
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

// ContentType of every answer of this package (RFC 9457 §3).
const ContentType = "application/problem+json"

// Error is a failure that knows how it is told to a client.
type Error struct {
	Status     int            // HTTP status
	Type       string         // URI reference that names the kind of problem, "" for about:blank
	Title      string         // the kind of problem, the same words each time; "" for the status text
	Detail     string         // this occurrence, one sentence for a person
	Fields     map[string]any // extension members, for programs: line, col, url ... (RFC 9457 §3.2)
	RetryAfter time.Duration  // > 0: sent as Retry-After, rounded up to seconds
	Cause      error          // what happened inside; logged, never sent
}

// New makes an error that is answered with status, title and detail as they are.
func New(status int, title, detail string) error {
	return &Error{Status: status, Title: title, Detail: detail}
}

// Newf is New with a formatted detail.
func Newf(status int, title, format string, args ...any) error {
	return &Error{Status: status, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// Wrap makes an error that tells err's text to the client as its detail. Use it for errors whose text was written
// for the person who asked (a syntax error, a bad parameter). Wrap of nil is nil.
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

// Error is the title and the detail.
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.title()
	}
	return e.title() + ": " + e.Detail
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) title() string {
	if e.Title != "" {
		return e.Title
	}
	return http.StatusText(e.Status)
}

// MarshalJSON writes the RFC 9457 members, then the extension members, which cannot replace them.
func (e *Error) MarshalJSON() ([]byte, error) {
	doc := maps.Clone(e.Fields)
	if doc == nil {
		doc = make(map[string]any, 4)
	}
	doc["type"] = "about:blank"
	if e.Type != "" {
		doc["type"] = e.Type
	}
	doc["title"], doc["status"] = e.title(), e.Status
	delete(doc, "detail")
	if e.Detail != "" {
		doc["detail"] = e.Detail
	}
	return json.Marshal(doc)
}

// Write answers r with err. It writes nothing where err is nil. A handler that has already sent its status cannot tell an
// error any more: it should panic with http.ErrAbortHandler instead, so that the client sees a broken answer and not a
// short one.
//
// A client that has closed its side of the connection may still read, and net/http answers 200 for a handler that writes
// nothing: such a client is answered, too, with 499 where its leaving was what ended the work.
func Write(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	s := from(r.Context())
	e := s.table.Find(err)
	switch {
	case errors.Is(context.Cause(r.Context()), ErrStopping) && errors.Is(err, context.Canceled):
		e = standard.Find(ErrStopping)
	case e.Status == StatusClientClosed || gone(r) && e.Status >= http.StatusInternalServerError:
		s.log.DebugContext(r.Context(), "client went away", "path", r.URL.Path, "err", err)
		Send(w, r, standard.Find(context.Canceled))
		return
	}
	if e.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "status", e.Status, "err", cause(e, err))
	}
	if s.page != nil && s.page(w, r, e) {
		return
	}
	Send(w, r, e)
}

// Send writes the document of e itself, without looking anything up or logging.
func Send(w http.ResponseWriter, r *http.Request, e *Error) {
	body, err := json.Marshal(e)
	if err != nil { // a field that JSON cannot hold is a bug of the caller; the answer must still be one
		body, _ = json.Marshal(&Error{Status: e.Status, Title: e.Title, Detail: e.Detail})
	}
	body = append(body, '\n')
	h := w.Header()
	for _, stale := range []string{"Content-Encoding", "Content-Range", "Content-Disposition", "ETag", "Last-Modified", "Memento-Datetime"} {
		h.Del(stale)
	}
	h.Set("Content-Type", ContentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	e.header(h)
	w.WriteHeader(e.Status)
	if r.Method != http.MethodHead {
		w.Write(body) // the client may have gone; there is nobody left to tell
	}
}

func (e *Error) header(h http.Header) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if e.Status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer realm="odarchive"`)
	}
}

func cause(e *Error, err error) error {
	if e.Cause != nil {
		return e.Cause
	}
	return err
}

// Handler adapts a handler that returns its error.
func Handler(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			Write(w, r, err)
		}
	}
}

// Is tells whether err is, or wraps, an *Error of that status.
func Is(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

var discard = slog.New(slog.DiscardHandler)
