package sparql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// Row binds variables; what is unbound is absent.
type Row map[string]term.Key

// Answer of an endpoint.
type Answer struct {
	Rows []Row
	// Cut says that there may be more: the endpoint says so, or the number of rows is one that limits have.
	Cut bool
}

// Endpoint is a SPARQL endpoint.
type Endpoint struct {
	URL  string
	HTTP harvest.Doer
	Read func(body []byte) ([]Row, error) // reads results in JSON; nil: as SPARQL 1.1 Query Results JSON has them
}

const maxAnswer = 96 << 20

// Select asks a SELECT query. The error is one sentence that says what came instead of results.
func (e Endpoint) Select(ctx context.Context, query string) (Answer, error) {
	if u, err := url.Parse(e.URL); err != nil || u.Host == "" {
		return Answer{}, fmt.Errorf("%q is no address of a SPARQL endpoint", e.URL)
	}
	const accepted = "application/sparql-results+json, application/json;q=0.5"
	answer, err := harvest.Ask(ctx, e.HTTP, harvest.Request{URL: e.URL, Method: http.MethodPost, Type: "application/x-www-form-urlencoded",
		Body: url.Values{"query": {query}}.Encode(), Accept: accepted, Max: maxAnswer, Tries: 3})
	var status *harvest.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusMethodNotAllowed || status.Status == http.StatusUnsupportedMediaType || status.Status == http.StatusNotImplemented) {
		// an endpoint that takes no POST
		separator := "?"
		if strings.Contains(e.URL, "?") {
			separator = "&"
		}
		answer, err = harvest.Ask(ctx, e.HTTP, harvest.Request{URL: e.URL + separator + url.Values{"query": {query}}.Encode(), Accept: accepted, Max: maxAnswer, Tries: 3})
	}
	if err != nil {
		return Answer{}, withoutQuery(err)
	}
	if harvest.LooksLikeHTML(answer.Body) {
		return Answer{}, fmt.Errorf("%s answered with a web page, expected SPARQL results", e.URL)
	}
	read := e.Read
	if read == nil {
		read = readJSON
	}
	rows, err := read(answer.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("%s answered with no SPARQL results in JSON: %w", e.URL, err)
	}
	h := answer.Header
	// Virtuoso says so when it has cut an answer (ResultSetMaxRows) or given up in the middle (anytime queries).
	cut := h.Get("X-Sparql-Maxrows") != "" || h.Get("X-Sql-State") != "" || roundNumber(len(rows))
	return Answer{Rows: rows, Cut: cut}, nil
}

// withoutQuery keeps a status error to its status: the address may hold the whole query.
func withoutQuery(err error) error {
	var status *harvest.StatusError
	if errors.As(err, &status) {
		address, _, _ := strings.Cut(status.URL, "?query=")
		return &harvest.StatusError{URL: address, Status: status.Status, Body: status.Body}
	}
	return err
}

// roundNumber tells a number of rows that smells of a limit: a thousand, ten thousand, …
func roundNumber(n int) bool { return n > 0 && n%1000 == 0 }

func readJSON(body []byte) ([]Row, error) {
	r, err := results.NewReader(bytes.NewReader(body), results.JSON, results.Limits{})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for {
		values, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := Row{}
		for i, name := range r.Vars() {
			if i < len(values) && values[i] != "" {
				row[name] = values[i]
			}
		}
		rows = append(rows, row)
	}
}

// tooMuch tells an error that a smaller question may not meet.
func tooMuch(err error) bool {
	var status *harvest.StatusError
	return errors.As(err, &status) && status.Status >= 500 || errors.Is(err, harvest.ErrTooLong) || errors.Is(err, context.DeadlineExceeded)
}

// IsIRI tells what can stand between < and > in a query.
func IsIRI(s string) bool { return iri.Check(s) == nil && !strings.ContainsAny(s, "\n\r") }

// quote makes a string literal of a query.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}
