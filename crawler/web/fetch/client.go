package fetch

import "net/http"

// Client makes requests that are no visits (a federated query, a document for LOAD) over the fetcher's guarded
// connections: it reaches the networks that may be fetched and no others. Limits on sizes and times are the caller's.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: f.other} }

// UserAgent is the header that the fetcher sends; whoever uses Client sends it too.
func (f *Fetcher) UserAgent() string { return f.opts.userAgent() }
