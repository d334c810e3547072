// Package rest is the API of the original ODArchive: /get/..., /stats/..., /post/... and /crawl. Its JSON has the shape
// that clients of the original expect, and more fields.
//
// It reads the archive and passes new URLs to the crawler through two small interfaces. Packages fileserve, memento and
// bundle serve files and zips. The router checks the token for writing.
package rest

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/target"
)

// Archive is what the API reads. An unknown thing is an error that the program's problem table answers with 404.
type Archive interface {
	Stats(ctx context.Context) (catalog.Stats, error)
	// ResourcesOfHost and ResourcesOfType call f with each resource of a host, or of a media type, in the order of ids,
	// after the given id, until f returns false.
	ResourcesOfHost(ctx context.Context, host, after string, f func(catalog.Resource) (more bool)) error
	ResourcesOfType(ctx context.Context, mediaType, after string, f func(catalog.Resource) (more bool)) error
	// Resource returns the resource with a URL or an id.
	Resource(ctx context.Context, urlOrID string) (catalog.Resource, error)
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
	Hosts(ctx context.Context, limit int) ([]catalog.HostHealth, error)
	Activities(ctx context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error)
}

// Crawler takes orders. Its methods return when the order is durable, before it is carried out.
type Crawler interface {
	// Add registers resources. fresh[i] reports whether seeds[i] was new. If a seed is malformed, none is registered.
	// After a failure of the store, the first of them may be.
	Add(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error)
	// CrawlNow makes resources due now: the one with an id, or all of a host. It returns how many.
	CrawlNow(ctx context.Context, id, host string) (int, error)
}

// API has the handlers; package sparqlapi routes requests to them.
type API struct {
	archive Archive
	crawler Crawler // nil: nothing can be posted
	mint    ns.Mint
}

// New returns the API. crawler may be nil on a server that only reads.
func New(archive Archive, crawler Crawler, mint ns.Mint) *API {
	return &API{archive: archive, crawler: crawler, mint: mint}
}

// StatsBasic answers GET /stats/basic.
func (a *API) StatsBasic(w http.ResponseWriter, r *http.Request) error {
	s, err := a.archive.Stats(r.Context())
	if err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]any{
		"datasetCount": s.Resources, "hostCount": s.Hosts, "fileCount": s.Versions, "sourceCount": s.Portals,
		"crawledCount": s.Crawled, "portalDatasetCount": s.Datasets, "crawlCount": s.Visits,
		"bytes": s.Bytes, "storedBytes": s.StoredBytes, "tripleCount": s.Triples,
	})
}

// StatsPerHost answers GET /stats/datasetCountPerHost?limit=. As in the original, the default limit is one host.
func (a *API) StatsPerHost(w http.ResponseWriter, r *http.Request) error {
	limit, err := target.Int(r.URL.Query(), "limit", 1, 1, 100_000)
	if err != nil {
		return err
	}
	hosts, err := a.archive.Hosts(r.Context(), limit)
	if err != nil {
		return err
	}
	type line struct {
		ID       string `json:"_id"`
		Hostname string `json:"hostname"`
		Datasets int    `json:"datasets"`
		Count    int    `json:"count"` // the original's documentation says count, its code datasets
		Files    int    `json:"files"`
		Bytes    int64  `json:"bytes"`
	}
	lines := make([]line, len(hosts))
	for i, h := range hosts {
		lines[i] = line{h.Host, h.Host, h.Resources, h.Resources, h.Versions, h.Bytes}
	}
	return answer.JSON(w, r, lines)
}

// StatsFileTypes answers GET /stats/fileTypeDistribution, most frequent types first.
func (a *API) StatsFileTypes(w http.ResponseWriter, r *http.Request) error {
	s, err := a.archive.Stats(r.Context())
	if err != nil {
		return err
	}
	type line struct {
		ID    string `json:"_id"`
		Count int    `json:"count"`
		Bytes int64  `json:"bytes"`
	}
	lines := make([]line, len(s.Types))
	for i, t := range s.Types {
		lines[i] = line{t.Key, t.Count, t.Bytes}
	}
	return answer.JSON(w, r, lines)
}
