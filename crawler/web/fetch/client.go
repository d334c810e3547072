package fetch

import "net/http"

// Client returns a client for requests that are not visits, such as a document for LOAD. It reaches only the networks
// that the fetcher may reach. The caller must limit sizes and times.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: f.other} }

// Patient is Client for requests whose answers may take long to begin, such as federated queries: only the context of a
// request limits the wait.
func (f *Fetcher) Patient() *http.Client { return &http.Client{Transport: f.patient} }

// UserAgent returns the User-Agent header, which users of Client must set.
func (f *Fetcher) UserAgent() string { return f.opts.userAgent() }
