package crawl

import (
	"fmt"
	"net/http"

	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/politeness"
)

// scopedClient returns a client for requests of a campaign that are not visits. The requests wait until their host may
// be asked, must be within the campaign's scope, and obey robots.txt: the campaign has found these addresses by itself.
func (c *Crawl) scopedClient(name string) *http.Client {
	return &http.Client{Transport: &scoped{c: c, campaign: name, next: c.politeTransport(scope.Campaign)}}
}

// scoped is the transport of scopedClient.
type scoped struct {
	c        *Crawl
	campaign string
	next     *politeness.Transport
}

// RoundTrip implements http.RoundTripper.
func (s *scoped) RoundTrip(r *http.Request) (*http.Response, error) {
	link := r.URL.String()
	if !s.c.Campaigns.Allows(r.Context(), s.campaign, link) {
		return nil, fmt.Errorf("%s is out of the scope of campaign %s", link, s.campaign)
	}
	if !s.c.Campaigns.Running(r.Context(), s.campaign) {
		return nil, fmt.Errorf("campaign %s does not run any more", s.campaign)
	}
	if err := s.c.obey(r.Context(), link); err != nil {
		return nil, err
	}
	return s.next.RoundTrip(r)
}
