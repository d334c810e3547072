package crawl

import (
	"context"
	"net/http"

	"odarchive/crawler/scope"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/websub"
)

// openWebSub opens the subscriptions with hubs.
func (c *Crawl) openWebSub() (err error) {
	s := c.store
	c.WebSub, err = websub.Open(websub.Options{
		DB: s.DB, Hints: c.Hints, Frontier: c.Frontier, On: s.Config.Fetch.WebSub, Base: s.Mint.Base, Client: c.hubClient(), Clock: s.Clock, Log: s.Log,
	})
	return err
}

// hubClient returns what asks hubs. Nobody has named their addresses but documents, so robots.txt applies. Redirects are not
// followed, because the requests have secrets, and nothing is taped for the same reason.
func (c *Crawl) hubClient() *http.Client {
	polite := &politeness.Transport{Gate: c.Gate, Base: c.Fetcher.Client().Transport, UserAgent: c.Fetcher.UserAgent(), Check: c.inScope(scope.Crawl)}
	return &http.Client{
		Transport:     &obedient{c, polite},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// KeepSubscribed asks hubs to begin, renew or end subscriptions until ctx ends.
func (c *Crawl) KeepSubscribed(ctx context.Context) error {
	return c.WebSub.Keep(ctx, c.Frontier.Held)
}
