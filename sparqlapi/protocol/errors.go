package protocol

import (
	"errors"
	"net/http"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/sparql"
)

// outcomes maps the engine's errors to statuses. Their messages are written for the person who asked.
var outcomes = []struct {
	err    error
	status int
	title  string
}{
	{kv.ErrUnacknowledged, http.StatusServiceUnavailable, "The backup does not have it"}, // also if the time limit ended the wait
	{sparql.ErrTimeout, http.StatusServiceUnavailable, "The query took too long"},
	{sparql.ErrMemory, http.StatusUnprocessableEntity, "The query needs too much memory"},
	{sparql.ErrTemp, http.StatusServiceUnavailable, "No room for temporary files"},
	{sparql.ErrRows, http.StatusUnprocessableEntity, "The result is too large"},
	{sparql.ErrQueryTooLarge, http.StatusUnprocessableEntity, "The query is too large"},
	{sparql.ErrTooLarge, http.StatusUnprocessableEntity, "Too large"},
	{sparql.ErrForbidden, http.StatusForbidden, "Not allowed"},
	{sparql.ErrIncomplete, http.StatusBadGateway, "The answer may be incomplete"},
	{sparql.ErrRemote, http.StatusBadGateway, "Another server failed"},
	{sparql.ErrNoEndpoint, http.StatusBadRequest, "The query cannot be answered"},
	{sparql.ErrDocument, http.StatusUnprocessableEntity, "The document cannot be queried"},
	{sparql.ErrNoDocument, http.StatusNotFound, "Not in the archive"},
	{sparql.ErrArguments, http.StatusBadRequest, "Wrong arguments"},
	{sparql.ErrUnknownFunction, http.StatusBadRequest, "Unknown function"},
	{sparql.ErrGraphExists, http.StatusConflict, "The graph exists already"},
	{sparql.ErrNoGraph, http.StatusConflict, "There is no such graph"},
	{sparql.ErrUsing, http.StatusBadRequest, "The dataset is given twice"},
}

// retryLater is when a query may be tried again that this machine, or another endpoint, was too busy for.
const retryLater = 30 * time.Second

// ProblemOf returns an error of the engine as a problem with a status and a title. It returns other errors as they
// are.
func ProblemOf(err error) error {
	var s *sparql.SyntaxError
	if errors.As(err, &s) {
		fields := []any{"line", s.Line, "column", s.Col, "found", s.Found}
		if s.Expected != "" {
			fields = append(fields, "expected", s.Expected)
		}
		if s.Hint != "" {
			fields = append(fields, "hint", s.Hint)
		}
		return problem.With(http.StatusBadRequest, "Syntax error", err, fields...)
	}
	for _, o := range outcomes {
		if !errors.Is(err, o.err) {
			continue
		}
		p := &problem.Error{Status: o.status, Title: o.title, Detail: err.Error(), Cause: err}
		if o.status == http.StatusServiceUnavailable {
			p.RetryAfter = retryLater
		}
		if o.err == sparql.ErrTimeout {
			p.Fields = map[string]any{"timedOut": true} // tells a long query from a busy server, which has the same status
		}
		return p
	}
	return err
}
