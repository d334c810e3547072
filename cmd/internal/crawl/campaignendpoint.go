package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/harvest/sparql"
	"odarchive/triplestore"
)

// errNoEndpoint means that a service does not answer SPARQL queries although a document calls it an endpoint.
var errNoEndpoint = errors.New("does not answer SPARQL queries")

// readEndpoint stores all graphs of a SPARQL endpoint as content graphs. quads is the number of quads read, changed the
// number of quads that the archive gained or lost.
func (c *Crawl) readEndpoint(ctx context.Context, t campaign.Task) (result string, quads, changed int, err error) {
	now, err := c.Campaigns.Get(ctx, t.Campaign)
	if err != nil {
		return "", 0, 0, err
	}
	if !now.Document.Graphs {
		return "not read: the campaign keeps no graphs", 0, 0, nil
	}
	r := endpointReader{c: c, task: t, endpoint: sparql.Endpoint{URL: t.Address, HTTP: c.scopedClient(t.Campaign)},
		vocabularies: now.Document.Vocabularies}
	if err := r.all(ctx); err != nil {
		return "", 0, r.changed, err
	}
	return fmt.Sprintf("%d statements in %d graphs", r.quads, len(r.kept)), r.quads, r.changed, nil
}

// endpointReader reads one endpoint.
type endpointReader struct {
	c            *Crawl
	task         campaign.Task
	endpoint     sparql.Endpoint
	vocabularies bool // see campaign.Document

	kept    []string // addresses of the graphs that were stored
	quads   int      // read
	changed int      // gained or lost by the archive
}

// all stores all graphs of the endpoint, and drops graphs that an earlier task has stored and the endpoint no longer
// has.
func (r *endpointReader) all(ctx context.Context) error {
	if _, err := r.endpoint.Select(ctx, "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"); err != nil {
		return fmt.Errorf("%s %w: %w", r.task.Address, errNoEndpoint, err)
	}
	if err := r.graph(ctx, ""); err != nil {
		return err
	}
	names, err := sparql.NamedGraphs(ctx, r.endpoint)
	if err != nil {
		return err
	}
	hasDefault := r.quads > 0 // the default graph may be the union of the named ones
	for _, name := range names {
		adds := true
		if hasDefault {
			if adds, err = sparql.Adds(ctx, r.endpoint, name); err != nil {
				return err
			}
		}
		if adds {
			if err := r.graph(ctx, name); err != nil {
				return err
			}
		}
	}
	return r.c.store.Triples.Update(ctx, func(txn *triplestore.Txn) error {
		n, err := r.c.Graphs.DropOthers(txn, r.task.Address, r.kept)
		r.changed += n
		return err
	})
}

// graph stores one graph, "" for the default graph, and adds its links to the campaign.
func (r *endpointReader) graph(ctx context.Context, name string) error {
	at := graphOf(r.task.Address, name)
	leave := func() {} // lets another large graph be read
	defer func() { leave() }()
	all, err := sparql.Whole(ctx, r.endpoint, name, graphs.MaxQuads, func() error {
		done, err := r.c.Graphs.EnterLarge(ctx)
		if err == nil {
			leave = done
		}
		return err
	})
	var content *graphs.Content
	switch {
	case errors.Is(err, sparql.ErrTooLarge):
		content = graphs.Omit(at, err.Error())
	case err != nil:
		return err
	default:
		found, _ := links.Of(at, all, links.Options{Vocabularies: r.vocabularies})
		if err := r.c.Campaigns.AddLinks(ctx, r.task, found); err != nil {
			return err
		}
		if content, err = r.c.Graphs.Prepare(ctx, at, all); err != nil {
			return err
		}
	}
	content.Source = r.task.Address
	r.quads += len(all)
	r.kept = append(r.kept, at)
	n := 0
	err = r.c.store.Triples.Update(ctx, func(txn *triplestore.Txn) (err error) {
		n, err = r.c.Graphs.Put(txn, content, "", "")
		return err
	})
	r.changed += n
	return err
}

// graphOf returns the address of a graph of an endpoint in the form of the Graph Store Protocol.
func graphOf(endpoint, graph string) string {
	separator := "?"
	if strings.Contains(endpoint, "?") {
		separator = "&"
	}
	if graph == "" {
		return endpoint + separator + "default"
	}
	return endpoint + separator + "graph=" + url.QueryEscape(graph)
}
