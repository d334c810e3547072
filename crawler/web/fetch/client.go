package fetch

import "net/http"

// Client returns a client for requests that are not visits, such as a federated query or a document for LOAD. It
// reaches only the networks that the fetcher may reach. The caller must limit sizes and times.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: f.other} }

// UserAgent returns the User-Agent header, which users of Client must set.
func (f *Fetcher) UserAgent() string { return f.opts.userAgent() }
