package faces

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"odarchive/triplestore/sparql"
)

// slowQuery is how long a query runs before it is logged.
const slowQuery = 5 * time.Second

// maxDocument is the most bytes that LOAD reads of one document.
const maxDocument = 1 << 30

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
