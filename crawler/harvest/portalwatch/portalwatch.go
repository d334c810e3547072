// Package portalwatch harvests Portal Watch: a SPARQL endpoint that holds the catalogs of many portals, one named graph
// for each weekly snapshot (https://data.wu.ac.at/portalwatch/ld/YYWW).
//
// It reads the newest snapshot portal by portal and, within a portal, datasets in the order of their IRIs, some at a time
// (sparql.Walk): the last dataset is the mark to go on from, so no page depends on an OFFSET over a changing answer, and no
// page is larger than what Virtuoso serves whole. All that the snapshot says of a dataset is kept, what Portal Watch
// measured of its quality (dqv:) too, and of a portal what Portal Watch knows (odpw: software, country, activity). Distributions
// are read as package dcat does: an irregular one is not lost.
//
// Queries of its own are templates of a knakk/sparql Bank, answers are read by knakk/sparql into knakk/rdf terms. Requests
// are sent through the harvest's own Doer: that library's client is the process-wide one and knows no limits.
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
	Portal   string // harvest only this portal
}

var _ harvest.Harvester = Source{}

// Harvest implements harvest.Harvester. Marks are "snapshot portal last-dataset".
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.Endpoint); err != nil || u.Host == "" {
		return fmt.Errorf("portalwatch: %q is no address of a SPARQL endpoint", s.Endpoint)
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

// position in a harvest.
type position struct{ snapshot, portal, dataset string }

func parseMark(token string) position {
	f := append(strings.Fields(token), "", "", "")
	return position{f[0], f[1], f[2]}
}

func (p position) String() string { return p.snapshot + " " + p.portal + " " + p.dataset }

// portal hands over one portal, from a dataset on.
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

// describe the portal by its snapshot and by what Portal Watch knows of it.
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

// measuring adds measurements that point to a dataset instead of being pointed to. It gathers what comes before a mark.
type measuring struct {
	harvest.Sink
	ctx      context.Context // of the harvest
	client   client
	snapshot string
	held     []harvest.Dataset
}

const (
	measuredAtOnce = 50   // datasets in one question, with some 80 rows each
	fewRows        = 9000 // of an answer that is whole: Virtuoso cuts at 10,000
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

// measure the first n that are held, or fewer where their measurements would not all go into one answer.
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

// otherAddresses of distributions that have several: Portal Watch gathered them from portals that mean different things by
// an access and a download URL, so all are listed.
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

// newestSnapshot is the weekly graph with the greatest number; where there is none, the last of all graphs with a catalog.
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
			n, _ = strconv.Atoi(yyww) // 0 where it is no number: older than every week
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

// portals of a snapshot in the order of their IRIs.
func (c client) portals(ctx context.Context, snapshot string) ([]string, error) {
	rows, err := c.ask(ctx, "portals", map[string]string{"Graph": snapshot})
	if err != nil {
		return nil, err
	}
	var portals []string
	for _, row := range rows {
		// A catalog without a name, or with one that holds what no IRI may, cannot be asked for.
		if p := row["portal"]; p.Kind() == term.KindIRI && harvestsparql.IsIRI(p.Value()) {
			portals = append(portals, p.Value())
		}
	}
	slices.Sort(portals)
	return slices.Compact(portals), nil
}

// client asks the endpoint.
type client struct {
	endpoint harvestsparql.Endpoint
	bank     sparql.Bank
	measured bool                   // there are measurements that point to datasets
	watched  map[string][]term.Quad // what Portal Watch knows, by portal
}

// ask fills a query of the bank.
func (c client) ask(ctx context.Context, name string, fields map[string]string) ([]harvestsparql.Row, error) {
	for _, f := range []string{"Graph", "Portal"} {
		if iri, ok := fields[f]; ok && !harvestsparql.IsIRI(iri) {
			return nil, fmt.Errorf("%q is no IRI that can be asked for", iri)
		}
	}
	query, err := c.bank.Prepare(name, fields)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", name, err)
	}
	answer, err := c.endpoint.Select(ctx, query)
	return answer.Rows, err
}

// readAnswer reads results with knakk/sparql.
func readAnswer(body []byte) (rows []harvestsparql.Row, err error) {
	defer func() {
		if p := recover(); p != nil { // a stranger's bytes reach knakk/rdf's constructors here
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

// key is the term as the store knows it.
func key(t rdf.Term) term.Key {
	if t == nil {
		return ""
	}
	return term.Of(t)
}
