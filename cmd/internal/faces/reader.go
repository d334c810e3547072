package faces

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/ns"
	"odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/rest"
	"odarchive/ui"
)

// reader is the archive as pages and API read it, with the crawl's state added.
type reader struct {
	*archive.Archive
	frontier *frontier.Frontier
	crawl    *crawler.Pipeline
}

var (
	_ ui.Archive             = reader{}
	_ rest.Archive           = reader{}
	_ describe.LinkedArchive = reader{}
)

// Resource returns what the archive knows of a URL, and its next visit.
func (r reader) Resource(ctx context.Context, url string) (catalog.Resource, error) {
	resource, err := r.Archive.Resource(ctx, url)
	if err != nil {
		return resource, err
	}
	queued, err := r.frontier.Get(resource.URL)
	if errors.Is(err, frontier.ErrUnknown) {
		resource.Stopped = true
		return resource, nil
	}
	if err != nil {
		return resource, err
	}
	resource.NextVisit = queued.Due
	resource.Stopped = queued.Blacklisted || queued.Due.IsZero()
	if !resource.Stopped && !resource.LastVisit.IsZero() {
		resource.Interval = queued.Due.Sub(resource.LastVisit)
	}
	return resource, nil
}

// ResourceByID returns a resource by its id of 24 hexadecimal digits.
func (r reader) ResourceByID(ctx context.Context, id string) (catalog.Resource, error) {
	if !ns.IsResourceID(id) {
		return catalog.Resource{}, fmt.Errorf("resource id %s: %w", id, archive.ErrNotFound)
	}
	return r.Resource(ctx, id)
}

// Hosts returns hosts with their figures and what each waits for now.
func (r reader) Hosts(ctx context.Context, limit int) ([]catalog.HostHealth, error) {
	hosts, err := r.Archive.Hosts(ctx, limit)
	if err != nil {
		return nil, err
	}
	for i := range hosts {
		status, known, err := r.crawl.Host(hosts[i].Host)
		if err != nil {
			return nil, err
		}
		if known {
			hosts[i].Queued, hosts[i].LastVisit, hosts[i].NextVisit = status.Due, status.LastVisit, status.Next
			hosts[i].State, hosts[i].Wait = status.State, status.Wait
			hosts[i].Delay = time.Duration(status.Delay * float64(time.Second))
		}
	}
	return hosts, nil
}
