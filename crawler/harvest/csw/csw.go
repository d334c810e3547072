// Package csw harvests catalogs of geographic data through the OGC Catalogue Service for the Web 2.0.2, which GeoNetwork,
// pycsw, deegree and Esri's Geoportal speak.
//
// Records come in the richest form that a catalog has: ISO 19139 or ISO 19115-3 (package iso19115), DCAT, else Dublin Core.
// They are asked for page by page with GET, and with POST where GET is not understood; from the second harvest on only those
// that changed, where the catalog can tell. A saved answer, or one record behind an address of its own, is harvested too.
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

// Source is one catalog.
type Source struct {
	URL    string // of the service, of its capabilities, or of a saved answer
	Portal string // IRI of the portal, "" = the service's address
	HTTP   harvest.Doer
	Rows   int              // records a page, 0 = 50
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// Harvest implements harvest.Harvester. Marks: at (position of the next record) and n as in portalapi.Listing, those of
// portalapi.Begin, and schema, the form of the records.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	base, err := service(s.URL)
	if err != nil {
		return fmt.Errorf("csw: %w", err)
	}
	c := &client{http: s.HTTP, base: base, portal: s.Portal, rows: cmp.Or(max(s.Rows, 0), 50), out: out, now: portalapi.Now(s.Now)}
	c.mark = portalapi.Begin(from, s.Since, c.now)
	if err := c.harvest(ctx, s.URL); err != nil {
		return fmt.Errorf("csw: %w", err)
	}
	return nil
}

// service is the address of a catalog's interface: without the arguments of a request.
func service(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is not an http or https address", address)
	}
	query := u.Query()
	for name := range query {
		switch strings.ToLower(name) {
		case "service", "version", "acceptversions", "request", "typenames", "resulttype", "elementsetname", "outputschema", "outputformat", "startposition", "maxrecords", "id":
			query.Del(name)
		}
	}
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String(), nil
}

// client is one harvest.
type client struct {
	http   harvest.Doer
	base   string
	portal string // IRI, "" = base
	rows   int
	out    harvest.Sink
	mark   portalapi.Mark
	now    time.Time
	post   bool    // GET is not understood
	saved  bool    // it is no service, but an answer of one
	first  *answer // that answer
}

func (c *client) harvest(ctx context.Context, address string) error {
	start, err := c.greet(ctx, address)
	if err != nil {
		return err
	}
	portal := start.portal
	portal.IRI = cmp.Or(c.portal, c.base)
	if err := c.out.Portal(portal, c.mark.Whole() && start.matched <= len(start.records)); err != nil {
		return err
	}
	if c.mark.Get("schema") == "" {
		c.mark.Set("schema", richest(start.schemas))
	}
	err = c.walk(ctx)
	var refused *exception
	if errors.As(err, &refused) && !c.mark.Whole() && c.mark.Get("at") == "" { // it cannot tell what changed
		c.mark = portalapi.MarkOf("whole", c.now.UTC().Format(time.RFC3339), "schema", c.mark.Get("schema"))
		if err := c.out.Portal(portal, true); err != nil {
			return err
		}
		err = c.walk(ctx)
	}
	return err
}

func (c *client) walk(ctx context.Context) error {
	return portalapi.ListingOf[record]{
		Out: c.out, Fetch: c.page, Item: c.item, Keep: []string{"schema"},
		ID: func(r record) string { return cmp.Or(r.id, r.fallback) },
	}.WalkTurn(ctx, c.mark)
}

// schemas of records, the richest first; "" is what a catalog gives unasked, Dublin Core.
const (
	iso19139   = "http://www.isotc211.org/2005/gmd"
	iso19115p3 = "http://standards.iso.org/iso/19115/-3/mdb/2.0"
	dcatSchema = "http://www.w3.org/ns/dcat#"
	dublinCore = "http://www.opengis.net/cat/csw/2.0.2"
)

// richest of the schemas that a service declares. One that declares none is asked for ISO 19139.
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

// page of the list from a position on.
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
	case a.next <= 0 && a.matched >= after: // it says too early that this is the end, or says nothing
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
