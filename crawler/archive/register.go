package archive

import (
	"context"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Listing is what a source says: URLs to crawl, and statements about itself.
type Listing struct {
	Seeds []catalog.Seed
	Quads []term.Quad
}

// Register adds the listing's URLs, with the source's statements about them, in one transaction; also, if not nil, runs
// in the same transaction. A known URL gains the listing and keeps earlier ones. fresh[i] reports whether seed i was
// new. If a URL is malformed, Register returns an error that names it and changes nothing.
func (a *Archive) Register(ctx context.Context, now time.Time, listing Listing, also func(*kv.Txn) error) (fresh []bool, err error) {
	err = a.update(ctx, func(u *update) error {
		if fresh, err = (Txn{u}).Register(ctx, now, listing); err != nil {
			return err
		}
		if also != nil {
			return also(u.records.Txn)
		}
		return nil
	})
	return fresh, err
}

// registering is the transaction of one listing.
type registering struct {
	*update
	listed map[[2]string]bool // portals and datasets that are known to list a resource now
}

func (u registering) register(ctx context.Context, now time.Time, seed catalog.Seed) (isNew bool, err error) {
	link, err := address.Parse(seed.URL)
	if err != nil {
		return false, err
	}
	id := ns.ResourceID(link.Key())
	before, known, err := u.records.Resource(id)
	if err != nil {
		return false, err
	}
	r := before
	r.Sources = slices.Clone(r.Sources)
	if !known {
		r = newRecord(id, seed.URL, link, now)
	}
	if r.Title == "" {
		r.Title = seed.Title
	}
	if r.Format == "" {
		r.Format = seed.Format
	}
	if r.MediaType == "" {
		r.MediaType = strings.ToLower(seed.MediaType)
	}
	source := catalog.Source{Portal: seed.Portal, Dataset: seed.Dataset, DatasetTitle: seed.DatasetTitle}
	wasListed := before.ListedBy(seed.Portal, seed.Dataset)
	isListed := addSource(&r.Resource, source)
	if known && !isListed && !slices.Contains(before.Sources, source) { // otherwise the dataset has this title already
		if err := u.retitle(ctx, id, source); err != nil {
			return false, err
		}
	}
	if !wasListed && r.ListedBy(seed.Portal, seed.Dataset) {
		if err := u.countDataset(ctx, source); err != nil {
			return false, err
		}
	}
	if err := u.countSource(before.Resource, r.Resource, seed.Portal, known); err != nil {
		return false, err
	}
	if err := u.titlePortal(seed.Portal, seed.PortalTitle); err != nil {
		return false, err
	}
	if err := u.saveResource(before, r); err != nil {
		return false, err
	}
	return !known, u.logListing(before, r, now)
}

// newRecord returns the record of a URL that was not known. raw is the source's spelling of link.
func newRecord(id, raw string, link address.URL, now time.Time) records.Resource {
	r := records.Resource{}
	r.ID, r.URL, r.Host, r.FileName, r.Added = id, raw, link.Group(), link.FileName(), now
	return r
}

// addSource lists the resource under one more dataset of a portal. It reports whether the listing is new.
func addSource(r *catalog.Resource, s catalog.Source) bool {
	if s.Portal == "" && s.Dataset == "" {
		return false
	}
	same := func(o catalog.Source) bool { return o.Portal == s.Portal && o.Dataset == s.Dataset }
	if i := slices.IndexFunc(r.Sources, same); i >= 0 {
		if s.DatasetTitle != "" {
			r.Sources[i].DatasetTitle = s.DatasetTitle
		}
		r.Sources[i].Delisted = time.Time{}
		return false
	}
	if sourcesSize(r.Sources)+sourcesSize([]catalog.Source{s}) > maxSources {
		r.SourcesOmitted++
		return false
	}
	r.Sources = append(r.Sources, s)
	if s.Portal != "" && !slices.Contains(r.Portals, s.Portal) {
		r.Portals = append(r.Portals, s.Portal)
	}
	if s.Dataset != "" && !slices.Contains(r.Datasets, s.Dataset) {
		r.Datasets = append(r.Datasets, s.Dataset)
	}
	if r.DatasetTitle == "" {
		r.DatasetTitle = s.DatasetTitle
	}
	return true
}

func (u registering) countSource(before, after catalog.Resource, portal string, known bool) error {
	if !known {
		if err := u.tallies.AddResource(after.Host); err != nil {
			return err
		}
	}
	was := slices.Contains(before.Portals, portal)
	switch {
	case !was && slices.Contains(after.Portals, portal):
		return u.tallies.AddToPortal(portal, after)
	case was && !before.ListedByPortal(portal) && after.ListedByPortal(portal):
		return u.tallies.AddDelisted(portal, -1)
	}
	return nil
}

// countDataset counts the dataset of a listing that begins, if no other resource of it is listed.
func (u registering) countDataset(ctx context.Context, s catalog.Source) error {
	listing := [2]string{s.Portal, s.Dataset}
	if s.Dataset == "" || u.listed[listing] {
		return nil
	}
	u.listed[listing] = true
	known, err := u.records.IsListed(s.Portal, s.Dataset)
	if err != nil {
		return err
	}
	if known {
		listed, err := isListing(ctx, u.records, s.Portal, s.Dataset)
		if err != nil || listed {
			return err
		}
	}
	return u.tallies.AddDataset(s.Portal, 1)
}

// titlePortal sets the title of a portal, if there is one.
func (u *update) titlePortal(portal, title string) error {
	if portal == "" || title == "" {
		return nil
	}
	before, err := u.tallies.SetPortalTitle(portal, title)
	if err != nil || before == title {
		return err
	}
	return describe.Replace(u.triples, describe.Portal(portal, before), describe.Portal(portal, title))
}

// maxRetitled bounds the resources that one registration describes again because the title of their dataset changed.
const maxRetitled = 1000

// retitle sets the new title of a dataset in its other resources too, since all of them describe it.
func (u *update) retitle(ctx context.Context, id string, s catalog.Source) error {
	if s.Dataset == "" || s.DatasetTitle == "" {
		return nil
	}
	var others []records.Resource
	err := u.records.OfDataset(ctx, s.Dataset, func(other string) (bool, error) {
		r, known, err := u.records.Resource(other)
		if known && r.ID != id &&
			slices.ContainsFunc(r.Sources,
				func(o catalog.Source) bool { return o.Dataset == s.Dataset && o.DatasetTitle != s.DatasetTitle }) {
			others = append(others, r)
		}
		return len(others) < maxRetitled, err
	})
	if err != nil {
		return err
	}
	for _, before := range others {
		after := before
		after.Sources = slices.Clone(before.Sources)
		for i := range after.Sources {
			if after.Sources[i].Dataset == s.Dataset {
				after.Sources[i].DatasetTitle = s.DatasetTitle
			}
		}
		if err := u.saveResource(before, after); err != nil {
			return err
		}
	}
	return nil
}

// saveResource writes a resource to the parts that hold something of it: records, search index and triples. before is
// the record as it is stored, zero if there is none.
func (u *update) saveResource(before, after records.Resource) error {
	if err := u.records.SaveResource(before, after); err != nil {
		return err
	}
	if err := u.search.SetResource(before, after); err != nil {
		return err
	}
	if describe.SameResource(before.Resource, after.Resource) {
		return nil
	}
	var was []term.Quad
	if before.ID != "" {
		was = describe.Resource(before.Resource)
	}
	return describe.Replace(u.triples, was, describe.Resource(after.Resource))
}
