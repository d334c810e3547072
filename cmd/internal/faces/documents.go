package faces

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/records"
	"odarchive/ns"
	"odarchive/triplestore/sparql"
)

// slowQuery is how long a query runs before it is logged.
const slowQuery = 5 * time.Second

// maxDocument is the most bytes that LOAD reads of one document.
const maxDocument = 1 << 30

// versionOf returns the function that opens the version that a graph name of FROM stands for. Its bytes are read as they
// were fetched.
func versionOf(s *store.Store) sparql.Resolve {
	return func(ctx context.Context, iri string) (sparql.Document, bool, error) {
		ref, ok := s.Mint.Parse(iri)
		if !ok || ref.Kind != ns.KindVersion {
			return sparql.Document{}, false, nil
		}
		v, err := s.Archive.Version(ctx, ref.ID)
		if errors.Is(err, records.ErrNotFound) {
			return sparql.Document{}, false, nil
		}
		if err != nil {
			return sparql.Document{}, false, err
		}
		body, err := s.Archive.Open(ctx, ref.ID)
		return sparql.Document{Body: body, Type: v.Type, IRI: v.URL}, err == nil, err
	}
}

// documents returns the function that fetches documents for LOAD.
func documents(client *http.Client) sparql.Fetch {
	return func(ctx context.Context, iri string) (sparql.Document, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, iri, nil)
		if err != nil {
			return sparql.Document{}, err
		}
		r.Header.Set("Accept", "text/turtle, application/n-triples, application/n-quads, application/trig, application/rdf+xml;q=0.9, application/ld+json;q=0.8, */*;q=0.1")
		resp, err := client.Do(r)
		if err != nil {
			return sparql.Document{}, err
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			return sparql.Document{}, fmt.Errorf("the server answered %s", resp.Status)
		}
		return sparql.Document{Body: http.MaxBytesReader(nil, resp.Body, maxDocument), Type: resp.Header.Get("Content-Type"), IRI: resp.Request.URL.String()}, nil
	}
}
