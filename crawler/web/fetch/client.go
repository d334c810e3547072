package fetch

import (
	"net/http"

	"odarchive/crawler/address"
	"odarchive/crawler/web/hosts"
)

// Client returns a client for requests that are not visits, such as a document for LOAD. It reaches only the networks
// that the fetcher may reach, through the proxies that visits use. It sends no login, since anybody's query may name the
// address. The caller must limit sizes and times.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: &client{f: f}} }

// Patient is Client for requests whose answers may take long to begin, such as federated queries: only the context of a
// request limits the wait.
func (f *Fetcher) Patient() *http.Client {
	return &http.Client{Transport: &client{f: f, purpose: forPatient}}
}

// Portals returns a transport like that of Client for requests that the operator orders, such as a harvest's: they have
// the login that is set for the host.
func (f *Fetcher) Portals() http.RoundTripper { return &client{f: f, login: true} }

// UserAgent returns the User-Agent header, which users of Client must set. A host for which the operator has set another
// one gets that.
func (f *Fetcher) UserAgent() string { return f.opts.userAgent("") }

// client is the transport of Client, Patient and Portals.
type client struct {
	f       *Fetcher
	purpose purpose // 0 for forClients
	login   bool
}

// RoundTrip sends a request with what the operator has set for its host.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	set := c.settings(req)
	out := req
	if set.UserAgent != "" || len(set.Headers) > 0 || set.Secret != nil {
		out = req.Clone(req.Context())
		if set.UserAgent != "" {
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
