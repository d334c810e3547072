package fetch

import (
	"fmt"
	"net/http"

	"odarchive/crawler/surt"
)

// Client sends requests of other protocols over HTTP (SPARQL, OAI-PMH, portal APIs) as the fetcher sends its own: the same
// User-Agent, the same guard against private addresses, one connection per host. The caller reads and closes the body
// and bounds it.
type Client struct{ fetcher *Fetcher }

// Client of a fetcher.
func (f *Fetcher) Client() *Client { return &Client{f} }

// Do sends the request and follows redirects within the fetcher's limit.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.fetcher.opts.userAgent())
	}
	client := http.Client{Transport: c.fetcher.verified, CheckRedirect: c.redirect}
	return client.Do(req)
}

func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > c.fetcher.opts.MaxRedirects {
		return fmt.Errorf("more than %d redirects", c.fetcher.opts.MaxRedirects)
	}
	u, err := surt.Parse(req.URL.String())
	if err != nil {
		return err
	}
	if why := forbiddenPort(u); why != "" {
		return fmt.Errorf("redirect to %s: %s", u, why)
	}
	return nil
}
