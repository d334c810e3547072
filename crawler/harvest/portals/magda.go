// Harvests Magda, the software of data.gov.au, through its registry: records of datasets, with aspects that
// describe them, their files and their publishers.
//
// The registry lists records in the order of their first registration, so new ones follow the last page read before. A
// harvest of changes continues from that page, then asks for the datasets that declare a modification since the last
// harvest. The weekly whole harvest finds undeclared changes.

package portals

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// NewMagda returns the harvester of one portal. Its marks have one more word, tail: the token of the last page of all
// records.
func NewMagda(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "magda", Name: "Magda", Paths: []string{"/api", "/dataset", "/search", "/home"}, Rows: 100,
		Run: magdaRun, Read: magdaRead, Count: magdaCount,
		ID: func(v loose.Value) string { return v.Get("id").Text() },
	}, s)
}

func magdaRun(ctx context.Context, h *portalapi.Harvest) error {
	if tail := portalapi.ParseMark(h.From).Get("tail"); !h.Mark.Whole() && tail != "" {
		h.Mark.Set("tail", tail)
	}
	if err := h.Out.Portal(h.Portal, h.Whole); err != nil {
		return err
	}
	err := h.Walk(ctx, func(ctx context.Context, at string, _ int) (portalapi.Page, error) { return magdaPage(ctx, h, at) }, "tail")
	if err != nil {
		return err
	}
	if next := portalapi.ParseMark(h.Mark.Next()); next.Get("next") != "" {
		next.Set("tail", h.Mark.Get("tail"))
		h.Out.Next(next.String())
	}
	return nil
}

func magdaCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	v, err := h.Get(ctx, "/api/v0/registry/records/count", url.Values{"aspect": {"dcat-dataset-strings"}})
	return portalapi.Total(v, err, []string{"count"})
}

// The pages of a harvest of changes are found by one of these words and a token of the registry.
const (
	newest   = "new " // records registered since
	modified = "mod " // records modified since
	unknown  = "all " // all records: the registry refuses conditions
)

// magdaPage is found by the registry's token.
func magdaPage(ctx context.Context, h *portalapi.Harvest, at string) (portalapi.Page, error) {
	kind, token := "", at
	if !h.Mark.Whole() {
		if tail := h.Mark.Get("tail"); at == "" && tail != "" {
			at = newest + tail
		}
		at = cmp.Or(at, modified)
		kind, token = at[:len(newest)], at[len(newest):]
	}
	query := url.Values{"aspect": {"dcat-dataset-strings"}, "optionalAspect": {"dataset-distributions", "dataset-publisher", "source"},
		"dereference": {"true"}, "limit": {fmt.Sprint(h.Source.Rows)}}
	if token != "" {
		query.Set("pageToken", token)
	}
	if kind == modified {
		// The registry compares strings, and a day sorts before its hours. The value is encoded twice: its last colon
		// would otherwise end the name.
		since, _ := harvest.ParseTime(h.Mark.Get("since"))
		query.Set("aspectQuery", "dcat-dataset-strings.modified:>="+url.QueryEscape(since.AddDate(0, 0, -1).Format("2006-01-02T00:00:00Z")))
	}
	p, v, err := h.List(ctx, "/api/v0/registry/records", query, "records")
	if kind == modified && token == "" && portalapi.Answered(err) {
		return magdaPage(ctx, h, unknown)
	}
	switch next := v.Get("nextPageToken").Text(); {
	case v.Get("hasMore").Bool() && next != "":
		p.Next = kind + next
	case kind == newest:
		p.Next = modified
	}
	if kind != modified && err == nil {
		h.Mark.Set("tail", token)
	}
	return p, err
}

func magdaRead(_ context.Context, h *portalapi.Harvest, id string, v loose.Value) (portalapi.Entry, error) {
	m := v.Get("aspects", "dcat-dataset-strings")
	page := h.Root + "/dataset/" + url.PathEscape(id)
	d := harvest.Dataset{
		IRI:         page,
		Title:       portalapi.Texts(loose.FirstOf(m.Get("title"), v.Get("name"))),
		Description: portalapi.Texts(m.Get("description")),
		Keywords:    portalapi.Texts(m.Get("keywords")),
		Themes:      portalapi.Words(m.Get("themes")),
		Identifiers: []string{id},
		LandingPage: cmp.Or(m.Get("landingPage").Text(), page),
		AccessLevel: m.Get("accessLevel").Text(),
		Publisher:   portalapi.Agent(m.Get("publisher")),
		Contact:     portalapi.Agent(m.Get("contactPoint")),
		Frequency:   m.Get("accrualPeriodicity").Text(),
		Issued:      m.Get("issued").Text(),
		Modified:    m.Get("modified").Text(),
		Spatial:     portalapi.Places(m.Get("spatial")),
		Temporal:    portalapi.Periods(m.Get("temporal")),
		Language:    m.Get("languages").Texts(),
		Extras:      map[string]string{},
	}
	if org := v.Get("aspects", "dataset-publisher", "publisher"); org.IsObject() && org.Get("id").Text() != "" {
		d.Publisher.IRI = h.Root + "/organisations/" + url.PathEscape(org.Get("id").Text())
		d.Publisher.Name = cmp.Or(d.Publisher.Name, org.Get("name").Text())
	}
	if source := v.Get("aspects", "source"); source.IsObject() {
		d.Extras["source"] = strings.TrimSpace(source.Get("name").Text() + " " + source.Get("url").Text())
	}
	for _, r := range v.Get("aspects", "dataset-distributions", "distributions").List() {
		dist := distribution(h.Root, r)
		if d.List(dist); dist.URL != "" {
			d.License = cmp.Or(d.License, dist.License)
		}
	}
	return portalapi.Entry{Dataset: d, Changed: d.Modified}, nil
}

func distribution(root string, r loose.Value) harvest.Distribution {
	m := r.Get("aspects", "dcat-distribution-strings")
	download, access := m.Get("downloadURL").Text(), m.Get("accessURL").Text()
	d := harvest.Distribution{
		URL:         portalapi.Resolve(root+"/", cmp.Or(download, access)),
		Title:       cmp.Or(m.Get("title").Text(), r.Get("name").Text()),
		Description: portalapi.Plain(m.Get("description").Text()),
		Format:      cmp.Or(m.Get("format").Text(), r.Get("aspects", "dataset-format", "format").Text()),
		MediaType:   m.Get("mediaType").Text(),
		License:     m.Get("license").Text(),
		Size:        m.Get("byteSize").Int(),
		Issued:      m.Get("issued").Text(),
		Modified:    m.Get("modified").Text(),
	}
	if id := r.Get("id").Text(); id != "" {
		d.IRI = root + "/distribution/" + url.PathEscape(id)
	}
	if access != d.URL {
		d.AccessURL = access
	}
	d.Service = portalapi.IsService(d.Format)
	return d
}
