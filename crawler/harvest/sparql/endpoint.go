package sparql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// Row is a solution. Unbound variables are absent.
type Row map[string]term.Key

// Answer is the answer to a SELECT query.
type Answer struct {
	Rows []Row
	// Cut reports that there may be more rows: the endpoint says so, or their number looks like a limit.
	Cut bool
}

// Endpoint is a SPARQL endpoint.
type Endpoint struct {
	URL  string
	HTTP harvest.Doer
	Read func(body []byte) ([]Row, error) // parses results; nil means SPARQL 1.1 Query Results in JSON or XML
}

const maxAnswer = 96 << 20

// errLate is wrapped by the error for an answer that the endpoint ended before it had found everything. Rows may be
// missing anywhere in it, so that it is the end of nothing, and nothing follows from what is not in it.
var errLate = errors.New("ended its answer before it was complete (its time limit for queries)")

// Select sends a SELECT query, twice if the answer is not complete. The error is one sentence.
func (e Endpoint) Select(ctx context.Context, query string) (answer Answer, err error) {
	for range 2 {
		if answer, err = e.once(ctx, query); !errors.Is(err, errLate) {
			break
		}
	}
	return answer, err
}

func (e Endpoint) once(ctx context.Context, query string) (Answer, error) {
	if u, err := url.Parse(e.URL); err != nil || u.Host == "" {
		return Answer{}, fmt.Errorf("%q is not the address of a SPARQL endpoint", e.URL)
	}
	const accepted = "application/sparql-results+json, application/json;q=0.5, application/sparql-results+xml;q=0.4"
	answer, err := harvest.Ask(ctx, e.HTTP, harvest.Request{URL: e.URL, Method: http.MethodPost, Type: "application/x-www-form-urlencoded",
		Body: url.Values{"query": {query}}.Encode(), Accept: accepted, Max: maxAnswer, Tries: 3})
	var status *harvest.StatusError
	if errors.As(err, &status) &&
		(status.Status == http.StatusMethodNotAllowed || status.Status == http.StatusUnsupportedMediaType ||
			status.Status == http.StatusNotImplemented) {
		// the endpoint does not accept POST
		separator := "?"
		if strings.Contains(e.URL, "?") {
			separator = "&"
		}
		answer, err = harvest.Ask(ctx, e.HTTP,
			harvest.Request{URL: e.URL + separator + url.Values{"query": {query}}.Encode(), Accept: accepted, Max: maxAnswer, Tries: 3})
	}
	if err != nil {
		return Answer{}, withoutQuery(err)
	}
	if harvest.LooksLikeHTML(answer.Body) {
		return Answer{}, fmt.Errorf("%s answered with a web page, expected SPARQL results", e.URL)
	}
	read := e.Read
	if read == nil {
		read = readResults
	}
	rows, err := read(answer.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("%s did not answer with SPARQL results: %w", e.URL, err)
	}
	// Virtuoso sets these if a query timed out (anytime queries), and if it truncated the answer (ResultSetMaxRows).
	if answer.Header.Get("X-Sql-State") != "" {
		return Answer{}, fmt.Errorf("%s %w", e.URL, errLate)
	}
	return Answer{Rows: rows, Cut: answer.Header.Get("X-Sparql-Maxrows") != "" || roundNumber(len(rows))}, nil
}

// withoutQuery removes the query from the address in a status error.
func withoutQuery(err error) error {
	var status *harvest.StatusError
	if errors.As(err, &status) {
		address, _, _ := strings.Cut(status.URL, "?query=")
		return &harvest.StatusError{URL: address, Status: status.Status, Body: status.Body}
	}
	return err
}

// roundNumber reports whether a number of rows looks like a limit.
func roundNumber(n int) bool { return n > 0 && n%1000 == 0 }

// readResults reads results in JSON, or in XML, which some endpoints send whatever they are asked for.
func readResults(body []byte) ([]Row, error) {
	format := results.JSON
	if bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), []byte("<")) {
		format = results.XML
	}
	r, err := results.NewReader(bytes.NewReader(body), format, results.Limits{})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for values, err := range r.All() {
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
	return rows, nil
}

// tooMuch reports whether a smaller query may succeed.
func tooMuch(err error) bool {
	var status *harvest.StatusError
	return errors.As(err, &status) && status.Status >= 500 || errors.Is(err, harvest.ErrTooLong) || errors.Is(err, errLate) ||
		errors.Is(err, context.DeadlineExceeded)
}

// IsIRI reports whether s may be between < and > in a query.
func IsIRI(s string) bool { return iri.Check(s) == nil && !strings.ContainsAny(s, "\n\r") }

// quote returns s as a string literal.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}
