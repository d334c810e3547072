package faces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Explain runs a query to its end and writes its plan with estimated and actual rows and times.
func (a *Faces) Explain(ctx context.Context, text string, w io.Writer) error {
	options := queryOptions()
	options.Explain = true
	return a.Query(ctx, text, options, func(r *sparql.Results) error {
		err := readAll(r)
		_, writeErr := io.WriteString(w, r.Explain()+"\n")
		return errors.Join(err, writeErr)
	})
}

// readAll reads a result to its end.
func readAll(r *sparql.Results) error {
	for {
		var err error
		if r.Kind == sparql.Triples {
			_, err = r.Triple()
		} else {
			_, err = r.Next()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Update applies a SPARQL update to the store, atomically.
func (a *Faces) Update(ctx context.Context, text string) (sparql.Updated, error) {
	return a.Engine.Update(ctx, updatable(a.store.Triples), text, sparql.UpdateOptions{})
}

// updatable makes a store a sparql.Store that can also drop whole graphs.
func updatable(s *triplestore.Store) sparql.Store {
	return struct {
		sparql.Store
		bulk
	}{sparql.StoreOf(s.View, s.Update), s}
}

type bulk interface {
	DropGraph(ctx context.Context, g term.Key) error
	Clear(ctx context.Context) error
}

// QueryEndpoint asks another SPARQL endpoint and writes its answer.
func QueryEndpoint(ctx context.Context, endpoint, text string, format QueryFormat, w io.Writer) error {
	body := strings.NewReader(url.Values{"query": {text}}.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, body)
	if err != nil {
		return fmt.Errorf("--endpoint %q: expected an address such as https://example.org/sparql: %w", endpoint, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/sparql-results+json, application/sparql-results+xml;q=0.9, application/n-triples;q=0.8, text/turtle;q=0.7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK {
		detail, err := io.ReadAll(io.LimitReader(resp.Body, 500))
		return errors.Join(fmt.Errorf("endpoint %s answered %s: %s", endpoint, resp.Status, detail), err)
	}
	if f, ok := results.ByName(kind); ok {
		return copyRows(resp.Body, f, results.NewWriter(w, format.Rows, results.Options{Prefixes: vocab.Prefixes(), Width: 100}))
	}
	if s, ok := rdfio.ByMediaType(kind); ok {
		return copyGraph(resp.Body, s, rdfio.NewWriter(w, format.Graph, vocab.Prefixes()))
	}
	return fmt.Errorf("endpoint %s answered with %q, expected SPARQL results or RDF", endpoint, kind)
}

func copyRows(body io.Reader, f results.Format, w *results.Writer) error {
	r, err := results.NewReader(body, f, results.Limits{})
	if err != nil {
		return err
	}
	if v, ok := r.Boolean(); ok {
		return w.Boolean(v)
	}
	return writeRows(r.Vars(), r.Next, w)
}

func copyGraph(body io.Reader, s rdfio.Syntax, w *rdfio.Writer) error {
	for q, err := range rdfio.NewReader(body, s, rdfio.Options{}).All() {
		if err == nil {
			err = w.Write(q)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}
