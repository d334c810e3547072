package crawl

import (
	"context"
	"net/http"

	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/politeness"
)

// Recognised is the kind of a source whose software must be recognised first.
const Recognised = "auto"

// Recognise finds out which software runs the portal at an address, and tells tried, which may be nil, of each request.
// These wait at the crawler's gate.
func (c *Crawl) Recognise(ctx context.Context, address string, tried discover.Tried) (discover.Finding, error) {
	client := &http.Client{Transport: c.politeTransport(scope.Harvest)}
	return discover.Recognise(ctx, harvest.Reaching(client), address, tried)
}

// politeTransport makes requests that wait for the host's turn and obey its robots.txt.
func (c *Crawl) politeTransport(area scope.Area) *politeness.Transport {
	base := c.Fetcher.Portals()
	if c.Answers != nil {
		base = c.Fetcher.Taping(c.Answers)
	}
	return &politeness.Transport{Gate: c.Gate, Base: base, UserAgent: c.Fetcher.UserAgent(), Check: c.inScope(area)}
}
