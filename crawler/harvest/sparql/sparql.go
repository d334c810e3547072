// Package sparql harvests SPARQL endpoints: their DCAT catalogs, the addresses that a query selects, or all statements
// of a graph.
//
// By default, it probes an endpoint for catalogs with datasets and for datasets outside any catalog, in the default
// graph and in each named graph with datasets that the default graph lacks. A query (Selection.Query) selects the
// addresses ?url, with optional ?dataset, ?title, ?datasetTitle, ?format, ?mediaType and ?portal. Of graphs
// (Selection.Sets), all statements are kept.
//
// Walk pages through endpoints that limit answers. Package portalwatch uses it too.
package sparql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	harvestdcat "odarchive/crawler/harvest/dcat"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Source is one endpoint.
type Source struct {
	Endpoint
	Portal string   // IRI of the portal: of the only catalog to harvest, or of the endpoint as a whole
	Query  string   // selects ?url
	Graphs []string // IRIs of graphs to keep as a whole; "default" is the default graph
}

var (
	_ harvest.Harvester = Source{}
	_ harvest.Selective = Source{}
)

// Select implements harvest.Selective. It supports a query or graphs.
func (s Source) Select(part harvest.Selection) (harvest.Harvester, error) {
	s.Query, s.Graphs = part.Query, part.Sets
	part.Query, part.Sets = "", nil
	if !part.IsZero() {
		return nil, fmt.Errorf("a SPARQL endpoint cannot be narrowed by %s", part)
	}
	if s.Query != "" && len(s.Graphs) > 0 {
		return nil, errors.New("a SPARQL endpoint is harvested by a query or by graphs, not both")
	}
	for _, graph := range s.Graphs {
		if graph != "default" && !IsIRI(graph) {
			return nil, fmt.Errorf("the name of the graph %q is not an IRI", graph)
		}
	}
	return s, nil
}

// Harvest implements harvest.Harvester.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	var err error
	switch {
	case s.Query != "":
		err = s.selected(ctx, from, out)
	case len(s.Graphs) > 0:
		err = s.all(ctx, from, out)
	default:
		err = s.catalogs(ctx, from, out)
	}
	if err != nil {
		return fmt.Errorf("sparql: %w", err)
	}
	return nil
}

// place is a catalog, or the datasets of a graph that are in no catalog.
type place struct {
	graph    string
	catalog  string // IRI; "" for the datasets outside catalogs
	catalogs bool   // the graph has catalogs
}

func (p place) pattern() string {
	switch {
	case p.catalog != "":
		return "<" + p.catalog + "> <" + vocab.DCATDatasetProp + "> ?thing"
	case p.catalogs:
		return outside("?thing")
	}
	return "?thing a <" + vocab.DCATDataset + ">"
}

// outside returns a pattern for datasets that no catalog with an IRI lists.
func outside(dataset string) string {
	return dataset + " a <" + vocab.DCATDataset + "> FILTER NOT EXISTS { ?list <" + vocab.DCATDatasetProp + "> " + dataset +
		" . ?list a <" +
		vocab.DCATCatalog + "> . FILTER isIRI(?list) }"
}

// catalogs harvests the catalogs found by probing. Marks are "graph catalog last-dataset", with "-" for an empty graph
// or catalog.
func (s Source) catalogs(ctx context.Context, from string, out harvest.Sink) error {
	places, err := s.probe(ctx, out)
	if err != nil {
		return err
	}
	at := append(strings.Fields(from), "", "", "")
	begun := from == ""
	var partly error
	for _, p := range places {
		after := ""
		if !begun {
			if orNone(p.graph) != at[0] || orNone(p.catalog) != at[1] {
				continue
			}
			begun, after = true, at[2]
		}
		portal, err := s.describe(ctx, p)
		if err != nil {
			return err
		}
		err = out.Portal(portal, true)
		if errors.Is(err, harvest.ErrTaken) {
			out.Skip(err.Error())
			continue
		}
		if err != nil {
			return err
		}
		mark := func(last string) string { return orNone(p.graph) + " " + orNone(p.catalog) + " " + last }
		if err := Datasets(ctx, s.Endpoint, p.graph, p.pattern(), portal, after, mark, out); errors.Is(err, ErrPartly) {
			partly = err
		} else if err != nil {
			return err
		}
	}
	if !begun {
		return s.catalogs(ctx, "", out) // the place of the mark no longer exists
	}
	return Partly(partly, out)
}

// ErrPartly is wrapped by the error for datasets that were kept in part, because the endpoint cuts off what it says of
// them. The rest of the harvest goes on.
var ErrPartly = errors.New("not everything could be read")

// Partly ends a harvest in which something was kept in part: it fails, and the next one begins anew. If err is nil, it
// does nothing.
func Partly(err error, out harvest.Sink) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, out.Mark(""))
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// followed returns the properties whose objects belong to the description of a dataset.
func followed() []string {
	return []string{vocab.DCATDistributionProp, vocab.DCTPublisher, vocab.DCTCreator, vocab.DCATContactPoint, vocab.DCTNS + "format",
		vocab.DCTSpatial,
		vocab.DCTTemporal, vocab.DQVHasQualityMeasurement,
		vocab.DCTAccrualPeriodicity, vocab.DCTRights}
}

// Datasets hands over the datasets that a pattern binds to ?thing, with a mark after each batch. The error wraps
// ErrPartly if all came, but some in part.
//
// If the endpoint fails at what is asked about the portal, the error wraps ErrPartly, too: the portal is no longer read
// whole, so that nothing of it is withdrawn, and others can be read.
func Datasets(ctx context.Context, e Endpoint, graph, pattern string, p harvest.Portal, after string, mark func(last string) string,
	out harvest.Sink) error {
	portal := p.IRI
	var partly error
	w := &Walk{Endpoint: e, Graph: graph, Is: pattern, Follow: followed(), Skip: func(why string) {
		partly = fmt.Errorf("%w: %s", ErrPartly, why)
		out.Skip(why)
	}}
	err := w.Each(ctx, after, func(things []string, quads []term.Quad, last string) error {
		for _, thing := range things { // whatever their class, and even if nothing else is said of them
			quads = append(quads, term.Quad{S: term.IRI(portal), P: term.IRI(vocab.DCATDatasetProp), O: term.IRI(thing)})
		}
		came := map[string]bool{}
		for _, d := range harvestdcat.Read(quads, portal, portal).Datasets {
			if _, wanted := slices.BinarySearch(things, d.IRI); !wanted {
				continue // only part of another description
			}
			came[d.IRI] = true
			if err := out.Dataset(d); err != nil {
				return err
			}
		}
		for _, thing := range things { // a portal ceases to list what it no longer names, not what it does not describe
			switch {
			case came[thing]:
			case !IsIRI(thing):
				out.Skip(fmt.Sprintf("%q is no IRI that can be asked for", thing))
			default:
				if err := out.Unknown(thing, fmt.Sprintf("dataset %s is listed, but no description of it came", thing)); err != nil {
					return err
				}
			}
		}
		return out.Mark(mark(last))
	})
	if err != nil && tooMuch(err) && ctx.Err() == nil {
		out.Skip(fmt.Sprintf("portal %s: %v", portal, err))
		return errors.Join(fmt.Errorf("%w: portal %s: %w", ErrPartly, portal, err), out.Portal(p, false))
	}
	if err == nil {
		err = partly
	}
	return err
}

// maxProbed is the number of graphs that are searched for datasets.
const maxProbed = 500

// probe finds the places that have datasets.
func (s Source) probe(ctx context.Context, out harvest.Sink) ([]place, error) {
	if s.Portal != "" && IsIRI(s.Portal) {
		found, err := s.any(ctx, "<"+s.Portal+"> <"+vocab.DCATDatasetProp+"> ?d")
		if err != nil {
			return nil, err
		}
		if found {
			return []place{{catalog: s.Portal}}, nil
		}
	}
	found, err := s.in(ctx, "")
	if err != nil {
		return nil, err
	}
	// At many endpoints the default graph is the union of all graphs. Then no other is harvested.
	missing := "GRAPH ?g { ?d <" + vocab.DCATDistributionProp + "> ?x }"
	if len(found) > 0 {
		missing += " FILTER NOT EXISTS { ?d <" + vocab.DCATDistributionProp + "> ?y }"
	}
	answer, err := s.Endpoint.Select(ctx, fmt.Sprintf("SELECT DISTINCT ?g WHERE { %s } ORDER BY ?g LIMIT %d", missing, maxProbed))
	switch {
	case err != nil && len(found) > 0:
		out.Skip("it is not known whether other graphs have more datasets: " + err.Error())
		return found, nil
	case err != nil:
		return nil, err
	}
	if answer.Cut || len(answer.Rows) == maxProbed {
		out.Skip(fmt.Sprintf("%s has more graphs with datasets than the %d that are read; specify others (--set)", s.URL, len(answer.Rows)))
	}
	for _, row := range answer.Rows {
		if g := row["g"]; g.Kind() == term.KindIRI && IsIRI(g.Value()) {
			more, err := s.in(ctx, g.Value())
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no DCAT datasets; specify a query (--query) or a graph (--set)", s.URL)
	}
	return found, nil
}

// in returns the places in one graph.
func (s Source) in(ctx context.Context, graph string) ([]place, error) {
	w := Walk{Endpoint: s.Endpoint, Graph: graph, Is: "?thing <" + vocab.DCATDatasetProp + "> ?d . ?thing a <" + vocab.DCATCatalog + ">"}
	catalogs, err := w.Things(ctx)
	if err != nil {
		return nil, err
	}
	var found []place
	for _, c := range catalogs {
		if IsIRI(c) {
			found = append(found, place{graph: graph, catalog: c, catalogs: true})
		}
	}
	rest := place{graph: graph, catalogs: len(found) > 0}
	pattern := "?d a <" + vocab.DCATDataset + ">"
	if rest.catalogs {
		pattern = outside("?d")
	}
	some, err := s.any(ctx, w.in(pattern))
	if err != nil || !some {
		return found, err
	}
	return append(found, rest), nil
}

func (s Source) any(ctx context.Context, pattern string) (bool, error) {
	answer, err := s.Endpoint.Select(ctx, "SELECT ?d WHERE { "+pattern+" } LIMIT 1")
	return len(answer.Rows) > 0, err
}

// describe returns the portal at a place.
func (s Source) describe(ctx context.Context, p place) (harvest.Portal, error) {
	portal := harvest.Portal{IRI: s.Portal}
	switch {
	case portal.IRI != "":
	case p.catalog != "":
		portal.IRI = p.catalog
	case p.graph != "":
		portal.IRI = p.graph
	default:
		portal.IRI = s.URL
	}
	if p.catalog == "" {
		return portal, nil
	}
	quads, err := About(ctx, s.Endpoint, p.graph, p.catalog)
	portal.Title = title(quads)
	portal.Statements = renamed(quads, p.catalog, portal.IRI)
	return portal, err
}

// About returns the statements about a catalog, without its lists.
func About(ctx context.Context, e Endpoint, graph, catalog string) ([]term.Quad, error) {
	w := Walk{Endpoint: e, Graph: graph, Follow: []string{vocab.DCTPublisher, vocab.DQVHasQualityMeasurement}}
	answer, err := e.Select(ctx,
		fmt.Sprintf("SELECT ?s ?p ?o ?p2 ?o2 ?p3 ?o3 WHERE { VALUES ?s { <%s> } %s FILTER (?p NOT IN (<%s>, <%s>)) } LIMIT %d", catalog,
			w.in(w.paths()), vocab.DCATDatasetProp, vocab.DCATRecord, rowLimit))
	return statements(answer.Rows), err
}

func title(quads []term.Quad) string {
	for _, q := range quads {
		if q.P == term.IRI(vocab.DCTTitle) || q.P == term.IRI(vocab.FOAFName) {
			return q.O.Value()
		}
	}
	return ""
}

func renamed(quads []term.Quad, from, to string) []term.Quad {
	for i := range quads {
		if quads[i].S == term.IRI(from) {
			quads[i].S = term.IRI(to)
		}
	}
	return quads
}
