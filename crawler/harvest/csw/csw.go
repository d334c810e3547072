// Package csw harvests catalogs of geographic data through the OGC Catalogue Service for the Web 2.0.2, which
// GeoNetwork, pycsw, deegree and Esri's Geoportal implement.
//
// It requests records in the richest schema that a catalog has: ISO 19139 or ISO 19115-3 (package iso19115), DCAT, else
// Dublin Core. It requests pages with GET or, if the service rejects that, with POST. From the second harvest on, it
// requests only changed records if the service supports that. It also harvests a saved answer, or one record at an
// address.
package csw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
)

// New returns the harvester of one catalog. The URL is that of the service, its capabilities, or a saved answer. The
// marks have one more word, schema: the schema of the records.
func New(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{Kind: "csw", Rows: 50, Run: run, Count: count}, s)
}

func run(ctx context.Context, h *portalapi.Harvest) error {
	base, err := service(h.Source.URL)
	if err != nil {
		return err
	}
	c := &client{Harvest: h, base: base, now: harvest.Now(h.Source.Now)}
	return c.harvest(ctx)
}

// count asks for one record: with it, the service says how many it has. Selecting hits alone is less widely
// implemented.
func count(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	base, err := service(h.Source.URL)
	if err != nil {
		return 0, false
	}
	c := &client{Harvest: h, base: base, now: harvest.Now(h.Source.Now)}
	c.Source.Rows = 1
	start, err := c.greet(ctx, c.Source.URL)
	if err != nil || c.saved {
		return 0, false
	}
	c.Mark.Set("schema", richest(start.schemas))
	a, err := c.records(ctx, 1)
	if err != nil || a.matched == 0 && len(a.records) > 0 {
		return 0, false
	}
	return a.matched, true
}

// service returns the address of a service, without the parameters of a request.
func service(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is not an http or https address", address)
	}
	query := u.Query()
	for name := range query {
		switch strings.ToLower(name) {
		case "service", "version", "acceptversions", "request", "typenames", "resulttype", "elementsetname", "outputschema", "outputformat",
			"startposition", "maxrecords", "id":
			query.Del(name)
		}
	}
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String(), nil
}

// client is a harvest through the service.
type client struct {
	*portalapi.Harvest
	base  string // address of the service
	now   time.Time
	post  bool    // the service rejects GET
	saved bool    // the address is that of a saved answer
	first *answer // the saved answer
}

func (c *client) harvest(ctx context.Context) error {
	start, err := c.greet(ctx, c.Source.URL)
	if err != nil {
		return err
	}
	c.Portal = start.portal
	c.Portal.IRI = cmp.Or(c.Source.Portal, c.base)
	if err := c.Out.Portal(c.Portal, c.Whole && start.matched <= len(start.records)); err != nil {
		return err
	}
	if c.Mark.Get("schema") == "" {
		c.Mark.Set("schema", richest(start.schemas))
	}
	err = c.walk(ctx)
	var refused *exception
	if errors.As(err, &refused) && !c.Mark.Whole() && c.Mark.Get("at") == "" { // the service cannot select changes
		c.Mark = portalapi.MarkOf("whole", c.now.UTC().Format(time.RFC3339), "schema", c.Mark.Get("schema"))
		if err := c.Out.Portal(c.Portal, true); err != nil {
			return err
		}
		err = c.walk(ctx)
	}
	return err
}

func (c *client) walk(ctx context.Context) error {
	return portalapi.ListingOf[record]{
		Out: c.Out, Fetch: c.page, Item: c.item, Keep: []string{"schema"},
		ID: func(r record) string { return cmp.Or(r.id, r.fallback) },
	}.Walk(ctx, c.Mark)
}

// The schemas of records, the richest first. The default of services is Dublin Core.
const (
	iso19139   = "http://www.isotc211.org/2005/gmd"
	iso19115p3 = "http://standards.iso.org/iso/19115/-3/mdb/2.0"
	dcatSchema = "http://www.w3.org/ns/dcat#"
	dublinCore = "http://www.opengis.net/cat/csw/2.0.2"
)

// richest returns the richest schema that a service declares. It assumes that one which declares none has ISO 19139.
func richest(declared []string) string {
	if len(declared) == 0 {
		return iso19139
	}
	for _, want := range []string{iso19139, iso19115p3, "http://standards.iso.org/iso/19115/-3/mdb/1.0", dcatSchema} {
		for _, have := range declared {
			if strings.TrimRight(have, "#/") == strings.TrimRight(want, "#/") {
				return have
			}
		}
	}
	return dublinCore
}

// page requests the page of the list that begins at a position.
func (c *client) page(ctx context.Context, at string, _ int) (page portalapi.PageOf[record], err error) {
	if c.saved {
		page.Items = c.first.records
		return page, nil
	}
	start := max(1, number(at))
	a, err := c.records(ctx, start)
	if a == nil {
		return page, err
	}
	page.Items, page.Total = a.records, a.matched
	after := start + max(a.returned, len(a.records))
	switch {
	case after == start || a.matched > 0 && after > a.matched:
	case a.next > start:
		page.Next = strconv.Itoa(a.next)
	case a.next <= 0 && a.matched >= after: // the service ends too early, or does not say where the next page begins
		page.Next = strconv.Itoa(after)
	}
	return page, err
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
