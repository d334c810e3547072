package fetch

import "net/http"

// Client makes requests that are no visits (a federated query, a document for LOAD) over the fetcher's guarded
// connections: it reaches the networks that may be fetched and no others. Limits on sizes and times are the caller's.
func (f *Fetcher) Client() *http.Client { return &http.Client{Transport: f.other} }
