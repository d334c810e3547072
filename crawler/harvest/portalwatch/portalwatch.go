// Package portalwatch harvests Portal Watch: a SPARQL endpoint that holds the catalogs of many portals, one named graph
// for each weekly snapshot (https://data.wu.ac.at/portalwatch/ld/YYWW).
//
// It reads the newest snapshot portal by portal and, within a portal, datasets in the order of their IRIs, some at a time:
// the last dataset is the mark to go on from, so no page depends on an OFFSET over a changing answer, and no page is
// larger than what Virtuoso serves whole. All three properties that hold download addresses in the wild are asked for,
// everything else is optional: an irregular distribution is not lost.
//
// Queries are templates of a knakk/sparql Bank, answers are read by knakk/sparql into knakk/rdf terms. Requests are sent
// through the harvest's own Doer: that library's client is the process-wide one and knows no limits.
package portalwatch

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcterms"

	"github.com/knakk/rdf"
	"github.com/knakk/sparql"
)

//go:embed queries.rq
var queries []byte

const (
	snapshotPrefix = "https://data.wu.ac.at/portalwatch/ld/"
	datasetsAPage  = 200
	maxAnswer      = 64 << 20
)

// Source is one Portal Watch endpoint. The zero values of all but Endpoint and HTTP are usable.
type Source struct {
	Endpoint string
	HTTP     harvest.Doer
	Portal   string                     // harvest only this portal
	GraphOf  func(portal string) string // named graph for what a portal says of itself; nil: the snapshot's
}

// Harvest implements harvest.Harvester. Marks are "snapshot portal last-dataset".
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.Endpoint); err != nil || u.Host == "" {
		return fmt.Errorf("portalwatch: %q is no address of a SPARQL endpoint", s.Endpoint)
	}
	c := client{source: s, bank: sparql.LoadBank(bytes.NewReader(queries))}
	mark := parseMark(from)
	if mark.snapshot == "" {
		var err error
		if mark.snapshot, err = c.newestSnapshot(ctx); err != nil {
			return err
		}
	}
	portals, about, err := c.portals(ctx, mark.snapshot)
	if err != nil {
		return err
	}
	for _, portal := range portals {
		if portal < mark.portal || (s.Portal != "" && portal != s.Portal) {
			continue
		}
		after := ""
		if portal == mark.portal {
			after = mark.dataset
		}
		for _, q := range about[portal] {
			if err := out.Quad(q); err != nil {
				return err
			}
		}
		if err := c.harvestPortal(ctx, position{mark.snapshot, portal, after}, titleOf(about[portal]), out); err != nil {
			return fmt.Errorf("portal %s: %w", portal, err)
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

// titleOf the portal among the statements about it.
func titleOf(about []term.Quad) string {
	for _, q := range about {
		if q.P == term.IRI(dcterms.Title) {
			return q.O.Value()
		}
	}
	return ""
}

func (c client) harvestPortal(ctx context.Context, at position, title string, out harvest.Sink) error {
	for {
		datasets, err := c.datasets(ctx, at)
		if err != nil || len(datasets) == 0 {
			return err
		}
		titles, err := c.about(ctx, at, datasets, out)
		if err != nil {
			return err
		}
		if err := c.distributions(ctx, at, title, datasets, titles, out); err != nil {
			return err
		}
		at.dataset = datasets[len(datasets)-1]
		if err := out.Mark(at.String()); err != nil {
			return err
		}
	}
}

// newestSnapshot is the weekly graph with the greatest number; where there is none, the last of all graphs with a catalog.
func (c client) newestSnapshot(ctx context.Context) (string, error) {
	rows, err := c.ask(ctx, "graphs", nil)
	if err != nil {
		return "", err
	}
	newest, week := "", -1
	for _, row := range rows {
		graph := text(row["graph"])
		n := -1
		if yyww, ok := strings.CutPrefix(graph, snapshotPrefix); ok {
			n, _ = strconv.Atoi(yyww) // 0 where it is no number: older than every week
		}
		if n > week || (n == week && graph > newest) {
			newest, week = graph, n
		}
	}
	if newest == "" {
		return "", fmt.Errorf("portalwatch: %s has no graph with a dcat:Catalog", c.source.Endpoint)
	}
	return newest, nil
}

// portals of a snapshot in the order of their IRIs, and what it says about each.
func (c client) portals(ctx context.Context, snapshot string) ([]string, map[string][]term.Quad, error) {
	rows, err := c.ask(ctx, "portals", map[string]string{"Graph": snapshot})
	if err != nil {
		return nil, nil, err
	}
	about := map[string][]term.Quad{}
	for _, row := range rows {
		if row["portal"] == nil || row["portal"].Type() != rdf.TermIRI {
			continue // a catalog without a name cannot be asked for
		}
		portal := text(row["portal"])
		about[portal] = append(about[portal], c.statement(snapshot, portal, portal, row))
	}
	portals := make([]string, 0, len(about))
	for p := range about {
		portals = append(portals, p)
	}
	slices.Sort(portals)
	return portals, about, nil
}

// statement makes a quad of a row with ?property and ?value.
func (c client) statement(snapshot, portal, subject string, row map[string]rdf.Term) term.Quad {
	graph := snapshot
	if c.source.GraphOf != nil {
		graph = c.source.GraphOf(portal)
	}
	return term.Quad{S: term.IRI(subject), P: term.IRI(text(row["property"])), O: key(row["value"]), G: term.IRI(graph)}
}

func (c client) datasets(ctx context.Context, at position) ([]string, error) {
	rows, err := c.ask(ctx, "datasets", map[string]string{
		"Graph": at.snapshot, "Portal": at.portal, "After": escape(at.dataset), "Limit": strconv.Itoa(datasetsAPage)})
	var all []string
	for _, row := range rows {
		if row["dataset"] != nil && row["dataset"].Type() == rdf.TermIRI {
			all = append(all, text(row["dataset"]))
		}
	}
	slices.Sort(all)
	return all, err
}

// about hands over what the snapshot says of the datasets, and returns their titles.
func (c client) about(ctx context.Context, at position, datasets []string, out harvest.Sink) (map[string]string, error) {
	rows, err := c.ask(ctx, "about", map[string]string{"Graph": at.snapshot, "Datasets": values(datasets)})
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for _, row := range rows {
		dataset := text(row["dataset"])
		if text(row["property"]) == dcterms.Title && titles[dataset] == "" {
			titles[dataset] = text(row["value"])
		}
		if err := out.Quad(c.statement(at.snapshot, at.portal, dataset, row)); err != nil {
			return nil, err
		}
	}
	return titles, nil
}

// distributions hands over one seed for each (dataset, URL), however many rows there are about it.
func (c client) distributions(ctx context.Context, at position, portalTitle string, datasets []string, titles map[string]string, out harvest.Sink) error {
	rows, err := c.ask(ctx, "distributions", map[string]string{"Graph": at.snapshot, "Datasets": values(datasets)})
	if err != nil {
		return err
	}
	type listing struct{ dataset, url string }
	seeds := map[listing]*catalog.Seed{}
	var order []listing
	for _, row := range rows {
		l := listing{text(row["dataset"]), strings.TrimSpace(text(row["url"]))}
		seed := seeds[l]
		if seed == nil {
			seed = &catalog.Seed{URL: l.url, Portal: at.portal, PortalTitle: portalTitle, Dataset: l.dataset, DatasetTitle: titles[l.dataset]}
			seeds[l] = seed
			order = append(order, l)
		}
		fill(seed, row)
	}
	slices.SortStableFunc(order, func(a, b listing) int { return strings.Compare(a.dataset, b.dataset) })
	for _, l := range order {
		if err := out.Seed(*seeds[l]); err != nil {
			return err
		}
	}
	return nil
}

// fill takes from a row what the seed does not have yet.
func fill(seed *catalog.Seed, row map[string]rdf.Term) {
	first := func(field *string, names ...string) {
		for _, name := range names {
			if *field == "" && row[name] != nil && row[name].Type() != rdf.TermBlank {
				*field = strings.TrimSpace(text(row[name]))
			}
		}
	}
	first(&seed.Title, "title")
	first(&seed.MediaType, "media")
	first(&seed.Format, "label", "value", "format", "media")
	if seed.Size == 0 {
		seed.Size, _ = strconv.ParseInt(text(row["size"]), 10, 64) // what is no number is no size
	}
}

// client asks the endpoint.
type client struct {
	source Source
	bank   sparql.Bank
}

// ask fills a query of the bank and reads its whole answer.
func (c client) ask(ctx context.Context, name string, fields map[string]string) (rows []map[string]rdf.Term, err error) {
	for _, f := range []string{"Graph", "Portal"} {
		if iri, ok := fields[f]; ok && !isIRI(iri) {
			return nil, fmt.Errorf("portalwatch: %q is no IRI that can be asked for", iri)
		}
	}
	query, err := c.bank.Prepare(name, fields)
	if err != nil {
		return nil, fmt.Errorf("portalwatch: query %s: %w", name, err)
	}
	body := url.Values{"query": {query}}.Encode()
	req, err := http.NewRequestWithContext(ctx, "POST", c.source.Endpoint, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("portalwatch: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/sparql-results+json")
	resp, err := c.source.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("portalwatch: %w", err)
	}
	defer resp.Body.Close()
	return readAnswer(resp)
}

// readAnswer refuses whatever is no SPARQL result, in one sentence.
func readAnswer(resp *http.Response) (rows []map[string]rdf.Term, err error) {
	endpoint := resp.Request.URL.Redacted()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s, expected SPARQL results", endpoint, resp.Status)
	}
	if ct := resp.Header.Get("Content-Type"); !strings.Contains(ct, "json") {
		return nil, fmt.Errorf("%s answered with %s, expected application/sparql-results+json", endpoint, kindOf(ct))
	}
	defer func() {
		if p := recover(); p != nil { // a stranger's bytes reach knakk/rdf's constructors here
			rows, err = nil, fmt.Errorf("%s answered with terms that cannot be read: %v", endpoint, p)
		}
	}()
	limited := &io.LimitedReader{R: resp.Body, N: maxAnswer}
	results, err := sparql.ParseJSON(limited)
	if limited.N <= 0 {
		return nil, fmt.Errorf("%s answered with more than %d bytes", endpoint, int64(maxAnswer))
	}
	if err != nil {
		return nil, fmt.Errorf("%s answered with broken JSON: %w", endpoint, err)
	}
	return results.Solutions(), nil
}

func kindOf(contentType string) string {
	if contentType == "" {
		return "no media type"
	}
	kind, _, _ := strings.Cut(contentType, ";")
	return kind
}

func text(t rdf.Term) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// key is the term as the store knows it. Terms come from this harvest's own reading, so what is nil was unbound.
func key(t rdf.Term) term.Key {
	if t == nil {
		return ""
	}
	return term.Of(t)
}

func isIRI(s string) bool {
	return s != "" && strings.Contains(s, ":") && !strings.ContainsAny(s, "<>\"{}|^`\\") && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' })
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s)
}

// values lists IRIs for a VALUES clause; what cannot stand there is left out.
func values(iris []string) string {
	var b strings.Builder
	for _, iri := range iris {
		if isIRI(iri) {
			b.WriteString("<" + iri + "> ")
		}
	}
	return b.String()
}
