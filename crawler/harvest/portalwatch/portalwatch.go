// Package portalwatch harvests Portal Watch: a SPARQL endpoint with the catalogs of many portals, one named graph per
// weekly snapshot (https://data.wu.ac.at/portalwatch/ld/YYWW), and a registry of the portals (…/portalwatch/ld).
//
// In a week, a portal is what has datasets (dcat:dataset), whether it has a type or not: Portal Watch states types,
// titles, software and countries in the registry alone. Weeks, the registry and catalogs that portals publish
// themselves may write a slash at the end of a portal's name or not; it is one portal (nameOf). Each portal is
// harvested from the latest week that has datasets of it, so that one whose fetch failed keeps what it listed before.
// Datasets of the newest week that nothing lists belong to the registry.
//
// Weeks are read from the newest on, portals in the order of their IRIs, and datasets likewise, in batches
// (sparql.Walk). The last dataset is the mark to continue from, so that pages neither depend on an OFFSET into a
// changing answer nor exceed what Virtuoso returns in full. Everything that a week says of a dataset is kept, including
// the quality that Portal Watch measured (dqv:), except which week measured it: that is no change of the dataset.
// Distributions are read as in package dcat, which accepts irregular ones.
//
// Its own queries are templates of a knakk/sparql Bank, and knakk/sparql parses the answers into knakk/rdf terms.
// Requests go through the harvest's Doer: that library's client is process-wide and has no limits.
package portalwatch

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	harvestsparql "odarchive/crawler/harvest/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/knakk/rdf"
	"github.com/knakk/sparql"
)

//go:embed queries.rq
var queries []byte

const (
	registry = "https://data.wu.ac.at/portalwatch/ld"
	odpw     = "http://data.wu.ac.at/ns/odpw#"
)

// Source is one Portal Watch endpoint.
type Source struct {
	Endpoint string
	HTTP     harvest.Doer
	Portal   string // IRI of the only portal to harvest; "" means all
}

var _ harvest.Harvester = Source{}

// Harvest implements harvest.Harvester. Marks are "week portal last-dataset newest-week".
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.Endpoint); err != nil || u.Host == "" {
		return fmt.Errorf("portalwatch: %q is not the address of a SPARQL endpoint", s.Endpoint)
	}
	c := client{
		endpoint: harvestsparql.Endpoint{URL: s.Endpoint, HTTP: s.HTTP, Read: readAnswer},
		bank:     sparql.LoadBank(bytes.NewReader(queries)),
		only:     s.Portal,
		out:      described{out},
	}
	if err := c.harvest(ctx, parseMark(from)); err != nil {
		return fmt.Errorf("portalwatch: %w", err)
	}
	return nil
}

// client harvests the endpoint.
type client struct {
	endpoint harvestsparql.Endpoint
	bank     sparql.Bank
	only     string // the only portal to harvest, or ""
	out      harvest.Sink
	watched  map[string][]term.Quad // what the registry says, by nameOf of a portal
}

func (c *client) harvest(ctx context.Context, at position) error {
	weeks, err := c.weeks(ctx)
	if err != nil {
		return err
	}
	first := slices.Index(weeks, at.newest)
	if first < 0 || !slices.Contains(weeks, at.week) {
		at, first = position{newest: weeks[0]}, 0
	}
	if c.watched, err = c.readRegistry(ctx, weeks); err != nil {
		return err
	}
	var partly error
	begun, seen := at.week == "", map[string]bool{}
	for _, week := range weeks[first:] {
		portals, err := c.portals(ctx, week, week == at.newest)
		if err != nil {
			return err
		}
		for _, portal := range slices.Sorted(maps.Keys(portals)) {
			if seen[portal] || c.only != "" && portal != nameOf(c.only) {
				continue
			}
			seen[portal] = true
			here := position{week: week, portal: portal, newest: at.newest}
			if !begun {
				if week != at.week || portal < at.portal {
					continue // harvested before the interruption
				}
				if begun = true; portal == at.portal {
					here.dataset = at.dataset
				}
			}
			if err := c.portal(ctx, here, portals[portal]); errors.Is(err, harvestsparql.ErrPartly) {
				partly = err
			} else if err != nil {
				return fmt.Errorf("portal %s: %w", portal, err)
			}
		}
		if begun = begun || week == at.week; c.only != "" && len(seen) > 0 {
			return harvestsparql.Partly(partly, c.out)
		}
	}
	switch {
	case c.only == "":
		return harvestsparql.Partly(partly, c.out)
	case c.watched[nameOf(c.only)] != nil:
		return fmt.Errorf("the registry has the portal %s, but no week has datasets of it (weeks %s to %s)",
			c.only, weeks[len(weeks)-1], weeks[0])
	}
	return fmt.Errorf("no week has a portal %s (weeks %s to %s)", c.only, weeks[len(weeks)-1], weeks[0])
}

// position is a position in a harvest. newest is the latest week when the harvest began.
type position struct{ week, portal, dataset, newest string }

func parseMark(token string) position {
	f := append(strings.Fields(token), "", "", "", "")
	return position{f[0], f[1], f[2], cmp.Or(f[3], f[0])}
}

func (p position) String() string {
	return strings.Join([]string{p.week, p.portal, p.dataset, p.newest}, " ")
}

// portals returns the portals with datasets in a week, each with the names that the week gives it, and, of the newest
// week, the registry if there are datasets that no portal has.
func (c *client) portals(ctx context.Context, week string, newest bool) (map[string][]string, error) {
	names, err := c.walk(week, "?thing <"+vocab.DCATDatasetProp+"> ?dataset").Things(ctx)
	if err != nil {
		return nil, err
	}
	portals := map[string][]string{}
	for _, name := range names {
		if harvestsparql.IsIRI(name) {
			portals[nameOf(name)] = append(portals[nameOf(name)], name)
		} else {
			c.out.Skip(fmt.Sprintf("the portal's name %q is no IRI that can be asked for", name))
		}
	}
	if !newest {
		return portals, nil
	}
	some, err := c.ask(ctx, "unlisted", map[string]string{"Graph": week, "Unlisted": unlisted})
	if err != nil && ctx.Err() == nil {
		c.out.Skip("it is not known whether there are datasets that no portal lists: " + err.Error())
		err = nil
	}
	if len(some) > 0 {
		portals[registry] = []string{registry}
	}
	return portals, err
}

// unlisted is a pattern for the datasets that no portal with an IRI has.
const unlisted = "?thing a <" + vocab.DCATDataset + "> FILTER NOT EXISTS { ?list <" + vocab.DCATDatasetProp +
	"> ?thing . FILTER isIRI(?list) }"

func (c *client) walk(graph, is string) *harvestsparql.Walk {
	return &harvestsparql.Walk{Endpoint: c.endpoint, Graph: graph, Is: is, Skip: c.out.Skip}
}

// readRegistry returns what the registry says of the portals.
func (c *client) readRegistry(ctx context.Context, weeks []string) (map[string][]term.Quad, error) {
	graphs, watched := []string{registry}, map[string][]term.Quad{}
	for _, week := range weeks {
		if _, graph := weekOf(week); graph != "" && !slices.Contains(graphs, graph) {
			graphs = append(graphs, graph)
		}
	}
	for _, graph := range graphs {
		w := c.walk(graph, "?thing a <"+vocab.DCATCatalog+">")
		err := w.Each(ctx, "", func(_ []string, quads []term.Quad, _ string) error {
			for _, q := range quads {
				if q.S.Kind() == term.KindIRI && q.O.Kind() != term.KindBlank {
					name := nameOf(q.S.Value())
					watched[name] = append(watched[name], q)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return watched, nil
}

// portal harvests one portal, which has the given names in the week, from a dataset on.
func (c *client) portal(ctx context.Context, at position, names []string) error {
	p, err := c.describe(ctx, at, names)
	if err != nil {
		return err
	}
	err = c.out.Portal(p, true)
	if errors.Is(err, harvest.ErrTaken) {
		c.out.Skip(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	var lists []string
	for _, name := range names {
		lists = append(lists, "{ <"+name+"> <"+vocab.DCATDatasetProp+"> ?thing }")
	}
	pattern := strings.Join(lists, " UNION ")
	if at.portal == registry {
		pattern = unlisted
	}
	mark := func(last string) string {
		at.dataset = last
		return at.String()
	}
	return harvestsparql.Datasets(ctx, c.endpoint, at.week, pattern, p, at.dataset, mark, c.out)
}

// describe returns a portal as its week and the registry describe it.
func (c *client) describe(ctx context.Context, at position, names []string) (harvest.Portal, error) {
	p := harvest.Portal{IRI: at.portal}
	self := term.IRI(at.portal)
	var quads []term.Quad
	for _, name := range names {
		said, err := harvestsparql.About(ctx, c.endpoint, at.week, name)
		if err != nil {
			return p, err
		}
		for _, q := range said {
			if q.S == term.IRI(name) {
				q.S = self
			}
			quads = append(quads, q)
		}
	}
	for _, q := range c.watched[at.portal] {
		q.S = self
		quads = append(quads, q)
	}
	for _, q := range quads {
		switch {
		case q.S != self:
		case q.P == term.IRI(vocab.DCTTitle) && p.Title == "":
			p.Title = q.O.Value()
		case q.P == term.IRI(odpw+"software") && p.Software == "":
			p.Software = strings.TrimPrefix(q.O.Value(), odpw)
		}
	}
	if at.portal == registry {
		p.Title = cmp.Or(p.Title, "Portal Watch: datasets that no portal lists")
	}
	seen := map[term.Quad]bool{}
	for _, q := range quads {
		if !seen[q] && !(q.P == term.IRI(vocab.DCTTitle) && q.O == term.String(p.Title)) {
			p.Statements = append(p.Statements, q)
		}
		seen[q] = true
	}
	return p, nil
}

// ask sends a query of the bank.
func (c *client) ask(ctx context.Context, name string, fields map[string]string) ([]harvestsparql.Row, error) {
	query, err := c.bank.Prepare(name, fields)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", name, err)
	}
	answer, err := c.endpoint.Select(ctx, query)
	return answer.Rows, err
}

// readAnswer parses results with knakk/sparql.
func readAnswer(body []byte) (rows []harvestsparql.Row, err error) {
	defer func() {
		if p := recover(); p != nil { // knakk/rdf's constructors panic on some terms
			rows, err = nil, fmt.Errorf("terms that cannot be read: %v", p)
		}
	}()
	parsed, err := sparql.ParseJSON(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, solution := range parsed.Solutions() {
		row := harvestsparql.Row{}
		for name, value := range solution {
			if k := key(value); k != "" {
				row[name] = k
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// key returns a term as its Key, "" for nil.
func key(t rdf.Term) term.Key {
	if t == nil {
		return ""
	}
	return term.Of(t)
}
