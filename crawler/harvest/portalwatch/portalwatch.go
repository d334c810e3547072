// Package portalwatch harvests Portal Watch: a SPARQL endpoint with the catalogs of many portals, one named graph per
// weekly snapshot (https://data.wu.ac.at/portalwatch/ld/YYWW).
//
// It reads the latest snapshot portal by portal and, within a portal, datasets in the order of their IRIs, in batches
// (sparql.Walk). The last dataset is the mark to continue from, so that pages neither depend on an OFFSET into a
// changing answer nor exceed what Virtuoso returns in full. Everything that the snapshot says of a dataset is kept,
// including the quality that Portal Watch measured (dqv:), and what Portal Watch records of a portal (odpw: software,
// country, activity). Distributions are read as in package dcat, which accepts irregular ones.
//
// Its own queries are templates of a knakk/sparql Bank, and knakk/sparql parses the answers into knakk/rdf terms.
// Requests go through the harvest's Doer: that library's client is process-wide and has no limits.
package portalwatch

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	harvestsparql "odarchive/crawler/harvest/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"

	"github.com/knakk/rdf"
	"github.com/knakk/sparql"
)

//go:embed queries.rq
var queries []byte

const (
	snapshotPrefix = "https://data.wu.ac.at/portalwatch/ld/"
	odpw           = "http://data.wu.ac.at/ns/odpw#"
)

// Source is one Portal Watch endpoint.
type Source struct {
	Endpoint string
	HTTP     harvest.Doer
	Portal   string // IRI of the only portal to harvest; "" means all
}

var _ harvest.Harvester = Source{}

// Harvest implements harvest.Harvester. Marks are "snapshot portal last-dataset".
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.Endpoint); err != nil || u.Host == "" {
		return fmt.Errorf("portalwatch: %q is not the address of a SPARQL endpoint", s.Endpoint)
	}
	c := client{
		endpoint: harvestsparql.Endpoint{URL: s.Endpoint, HTTP: s.HTTP, Read: readAnswer},
		bank:     sparql.LoadBank(bytes.NewReader(queries)),
	}
	if err := c.harvest(ctx, s.Portal, parseMark(from), out); err != nil {
		return fmt.Errorf("portalwatch: %w", err)
	}
	return nil
}

func (c client) harvest(ctx context.Context, only string, at position, out harvest.Sink) error {
	if at.snapshot == "" {
		var err error
		if at.snapshot, err = c.newestSnapshot(ctx); err != nil {
			return err
		}
	}
	portals, err := c.portals(ctx, at.snapshot)
	if err != nil {
		return err
	}
	if only != "" && !slices.Contains(portals, only) {
		return fmt.Errorf("the snapshot %s has no portal %s", at.snapshot, only)
	}
	measured, err := c.ask(ctx, "measured", map[string]string{"Graph": at.snapshot})
	if err != nil {
		return err
	}
	c.measured = len(measured) > 0
	watched, err := c.ask(ctx, "watched", nil)
	if err != nil {
		return err
	}
	c.watched = map[string][]term.Quad{}
	for _, row := range watched {
		iri := row["portal"].Value()
		c.watched[iri] = append(c.watched[iri], term.Quad{S: term.IRI(iri), P: row["p"], O: row["o"]})
	}
	for _, iri := range portals {
		if iri < at.portal || only != "" && iri != only {
			continue
		}
		after := ""
		if iri == at.portal {
			after = at.dataset
		}
		if err := c.portal(ctx, position{at.snapshot, iri, after}, out); err != nil {
			return fmt.Errorf("portal %s: %w", iri, err)
		}
	}
	return nil
}

// position is a position in a harvest.
type position struct{ snapshot, portal, dataset string }

func parseMark(token string) position {
	f := append(strings.Fields(token), "", "", "")
	return position{f[0], f[1], f[2]}
}

func (p position) String() string { return p.snapshot + " " + p.portal + " " + p.dataset }

// portal harvests one portal from a dataset on.
func (c client) portal(ctx context.Context, at position, out harvest.Sink) error {
	p, err := c.describe(ctx, at)
	if err != nil {
		return err
	}
	err = out.Portal(p, true)
	if errors.Is(err, harvest.ErrTaken) {
		out.Skip(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	pattern := "<" + at.portal + "> <" + dcat.DatasetProp + "> ?thing"
	mark := func(last string) string { return position{at.snapshot, at.portal, last}.String() }
	return harvestsparql.Datasets(ctx, c.endpoint, at.snapshot, pattern, at.portal, at.dataset, mark, &measuring{Sink: out, ctx: ctx, client: c, snapshot: at.snapshot})
}

// describe returns a portal as its snapshot and Portal Watch describe it.
func (c client) describe(ctx context.Context, at position) (harvest.Portal, error) {
	p := harvest.Portal{IRI: at.portal}
	quads, err := harvestsparql.About(ctx, c.endpoint, at.snapshot, at.portal)
	if err != nil {
		return p, err
	}
	quads = append(quads, c.watched[at.portal]...)
	for _, q := range quads {
		switch {
		case q.S != term.IRI(at.portal):
		case q.P == term.IRI(dcterms.Title) && p.Title == "":
			p.Title = q.O.Value()
		case q.P == term.IRI(odpw+"software") && p.Software == "":
			p.Software = strings.TrimPrefix(q.O.Value(), odpw)
		}
	}
	seen := map[term.Quad]bool{}
	for _, q := range quads {
		if !seen[q] && !(q.P == term.IRI(dcterms.Title) && q.O == term.String(p.Title)) {
			p.Statements = append(p.Statements, q)
		}
		seen[q] = true
	}
	return p, nil
}

// measuring is a Sink that adds measurements to datasets. It holds datasets until the next mark.
type measuring struct {
	harvest.Sink
	ctx      context.Context // of the harvest
	client   client
	snapshot string
	held     []harvest.Dataset
}

const (
	measuredAtOnce = 50   // datasets per query, each with about 80 rows
	fewRows        = 9000 // fewer rows than this are complete: Virtuoso truncates at 10,000
)

func (m *measuring) Dataset(d harvest.Dataset) error {
	m.held = append(m.held, d)
	return nil
}

func (m *measuring) Mark(token string) error {
	for len(m.held) > 0 {
		n, err := m.measure(min(len(m.held), measuredAtOnce))
		if err != nil {
			return err
		}
		for _, d := range m.held[:n] {
			d.Distributions = append(d.Distributions, otherAddresses(d)...)
			if err := m.Sink.Dataset(d); err != nil {
				return err
			}
		}
		m.held = m.held[n:]
	}
	return m.Sink.Mark(token)
}

// measure adds measurements to the first datasets held, n or fewer, so that they fit in one answer. It returns their
// number.
func (m *measuring) measure(n int) (int, error) {
	var asked []string
	at := map[term.Key]*harvest.Dataset{}
	for i := range m.held[:n] {
		if d := &m.held[i]; harvestsparql.IsIRI(d.IRI) {
			asked = append(asked, "<"+d.IRI+">")
			at[term.IRI(d.IRI)] = d
		}
	}
	if !m.client.measured || len(asked) == 0 {
		return n, nil
	}
	rows, err := m.client.ask(m.ctx, "measurements", map[string]string{"Graph": m.snapshot, "Datasets": strings.Join(asked, " ")})
	if err != nil {
		return 0, err
	}
	if len(rows) >= fewRows && n > 1 {
		return m.measure(n / 2)
	}
	for _, row := range rows {
		if d := at[row["d"]]; d != nil {
			d.Statements = append(d.Statements, term.Quad{S: row["m"], P: row["p"], O: row["o"]})
		}
	}
	return n, nil
}

// otherAddresses returns further addresses of distributions. Portals use access and download URLs differently, so all
// are listed.
func otherAddresses(d harvest.Dataset) []harvest.Distribution {
	listed := map[string]bool{}
	for _, dist := range d.Distributions {
		listed[dist.URL] = true
	}
	titles := map[term.Key]string{}
	for _, q := range d.Statements {
		if q.P == term.IRI(dcterms.Title) {
			titles[q.S] = q.O.Value()
		}
	}
	var more []harvest.Distribution
	for _, q := range d.Statements {
		switch q.P.Value() {
		case dcat.AccessURL, dcat.DownloadURL, dcterms.NS + "accessURL":
		default:
			continue
		}
		address := strings.TrimSpace(q.O.Value())
		if q.S == term.IRI(d.IRI) || q.O.Kind() == term.KindBlank || address == "" || listed[address] {
			continue
		}
		listed[address] = true
		more = append(more, harvest.Distribution{URL: address, Title: titles[q.S]})
	}
	return more
}

// newestSnapshot returns the latest weekly graph or, if there is none, the last graph with a catalog.
func (c client) newestSnapshot(ctx context.Context) (string, error) {
	rows, err := c.ask(ctx, "graphs", nil)
	if err != nil {
		return "", err
	}
	newest, week := "", -1
	for _, row := range rows {
		graph := row["graph"].Value()
		n := -1
		if yyww, ok := strings.CutPrefix(graph, snapshotPrefix); ok {
			n, _ = strconv.Atoi(yyww) // 0 if malformed: before every week
		}
		if n > week || (n == week && graph > newest) {
			newest, week = graph, n
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s has no graph with a dcat:Catalog", c.endpoint.URL)
	}
	return newest, nil
}

// portals returns the portals of a snapshot in the order of their IRIs.
func (c client) portals(ctx context.Context, snapshot string) ([]string, error) {
	rows, err := c.ask(ctx, "portals", map[string]string{"Graph": snapshot})
	if err != nil {
		return nil, err
	}
	var portals []string
	for _, row := range rows {
		// Catalogs without a valid IRI cannot be queried.
		if p := row["portal"]; p.Kind() == term.KindIRI && harvestsparql.IsIRI(p.Value()) {
			portals = append(portals, p.Value())
		}
	}
	slices.Sort(portals)
	return slices.Compact(portals), nil
}

// client sends queries to the endpoint.
type client struct {
	endpoint harvestsparql.Endpoint
	bank     sparql.Bank
	measured bool                   // measurements refer to datasets
	watched  map[string][]term.Quad // Portal Watch's statements, by portal
}

// ask sends a query of the bank.
func (c client) ask(ctx context.Context, name string, fields map[string]string) ([]harvestsparql.Row, error) {
	for _, f := range []string{"Graph", "Portal"} {
		if iri, ok := fields[f]; ok && !harvestsparql.IsIRI(iri) {
			return nil, fmt.Errorf("%q is not an IRI that a query can contain", iri)
		}
	}
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
