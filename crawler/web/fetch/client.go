package fetch

import (
	"fmt"
	"net/http"

	"odarchive/crawler/address"
	"odarchive/crawler/web/hosts"
)

// Client returns a client for requests that are not visits, such as a document for LOAD. It reaches only the networks
// and ports that the fetcher may reach, through the proxies that visits use. It sends no login, since anybody's query
// may name the address. The caller must limit sizes and times.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: &client{f: f}} }

// Patient is Client for requests whose answers may take long to begin, such as federated queries: only the context of a
// request limits the wait.
func (f *Fetcher) Patient() *http.Client {
	return &http.Client{Transport: &client{f: f, purpose: forPatient}}
}

// Portals returns a transport like that of Client for requests that the operator orders, such as a harvest's: they have
// the login that is set for the host.
func (f *Fetcher) Portals() http.RoundTripper { return &client{f: f, login: true} }

// UserAgent returns the User-Agent header that requests of Client without one get. A host for which the operator has
// set another one gets that.
func (f *Fetcher) UserAgent() string { return f.opts.userAgent("") }

// client is the transport of Client, Patient and Portals.
type client struct {
	f       *Fetcher
	purpose purpose // 0 for forClients
	login   bool
}

// RoundTrip sends a request with what the operator has set for its host.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := permitted(req); err != nil {
		if req.Body != nil {
			req.Body.Close() // as http.RoundTripper promises
		}
		return nil, err
	}
	set := c.settings(req)
	out := req
	if name := req.Header.Get("User-Agent"); name == "" || set.UserAgent != "" || len(set.Headers) > 0 || set.Secret != nil {
		out = req.Clone(req.Context())
		if name == "" || set.UserAgent != "" {
			out.Header.Set("User-Agent", c.f.opts.userAgent(set.UserAgent))
		}
		for name, value := range set.Headers {
			out.Header.Set(name, value)
		}
		if set.Secret.Permits(req.URL.Scheme == "https") {
			set.Secret.SetHeader(out.Header)
		}
	}
	p := c.purpose
	if p == forVisits {
		p = forClients
	}
	return c.f.send(wayTo(req.URL.Scheme, set, false, p), out)
}

// settings returns the settings of a request's host, without its login unless the client has one.
func (c *client) settings(req *http.Request) (set hosts.Settings) {
	if host, err := address.Host(req.URL.String()); err == nil {
		set = c.f.opts.Settings(host)
	}
	if !c.login {
		set.Secret = nil
	}
	return set
}

// permitted returns an error for the ports of other protocols.
func permitted(req *http.Request) error {
	u, err := address.Parse(req.URL.String())
	if err != nil {
		return err
	}
	if why := forbiddenPort(u); why != "" {
		return fmt.Errorf("%s must not be requested: %s", u, why)
	}
	return nil
}
