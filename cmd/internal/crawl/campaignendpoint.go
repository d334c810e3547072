package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/campaign"
	"odarchive/crawler/graphs"
	"odarchive/crawler/harvest/sparql"
	"odarchive/crawler/links"
	"odarchive/triplestore"
)

// errNoEndpoint means that an address was called a SPARQL endpoint and is none.
var errNoEndpoint = errors.New("does not answer SPARQL queries")

// readEndpoint makes content graphs of all graphs of a SPARQL endpoint.
func (c *Crawl) readEndpoint(ctx context.Context, t campaign.Task) (result string, quads, changed int, err error) {
	e := sparql.Endpoint{URL: t.Address, HTTP: c.scopedClient(t.Campaign)}
	now, err := c.Campaigns.Get(ctx, t.Campaign)
	if err != nil {
		return "", 0, 0, err
	}
	if !now.Document.Graphs {
		return "not read: the campaign keeps no graphs", 0, 0, nil
	}
	if _, err := e.Select(ctx, "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"); err != nil {
		return "", 0, 0, fmt.Errorf("%s %w: %w", t.Address, errNoEndpoint, err)
	}
	var kept []string
	read := func(graph string) error {
		at := graphOf(t.Address, graph)
		leave := func() {}
		defer func() { leave() }()
		all, err := sparql.Whole(ctx, e, graph, graphs.MaxQuads, func() (err error) {
			leave, err = c.Graphs.EnterLarge(ctx)
			if err != nil {
				leave = func() {}
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
			found, _ := links.Of(at, all, links.Options{Vocabularies: now.Document.Vocabularies})
			if err := c.Campaigns.AddLinks(ctx, t, found); err != nil {
				return err
			}
			if content, err = c.Graphs.Prepare(ctx, at, all); err != nil {
				return err
			}
		}
		content.Source = t.Address
		quads += len(all)
		kept = append(kept, at)
		n := 0
		err = c.store.Triples.Update(ctx, func(txn *triplestore.Txn) (err error) {
			n, err = c.Graphs.Put(txn, content, "", "")
			return err
		})
		changed += n
		return err
	}
	if err := read(""); err != nil {
		return "", 0, changed, err
	}
	inDefault := quads
	names, err := sparql.NamedGraphs(ctx, e)
	if err != nil {
		return "", 0, changed, err
	}
	for _, name := range names {
		if inDefault > 0 {
			adds, err := sparql.Adds(ctx, e, name)
			if err != nil {
				return "", 0, changed, err
			}
			if !adds {
				continue
			}
		}
		if err := read(name); err != nil {
			return "", 0, changed, err
		}
	}
	err = c.store.Triples.Update(ctx, func(txn *triplestore.Txn) error {
		n, err := c.Graphs.DropOthers(txn, t.Address, kept)
		changed += n
		return err
	})
	return fmt.Sprintf("%d statements in %d graphs", quads, len(kept)), quads, changed, err
}

// graphOf returns the address of one graph of an endpoint, as the Graph Store Protocol writes it.
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
