package archive

import (
	"context"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Listing is what a source says: URLs to crawl, and statements about itself.
type Listing struct {
	Seeds []catalog.Seed
	Quads []term.Quad
}

// Register makes URLs known, with what their sources say of them: one transaction for the whole listing, and for what also
// adds to it (may be nil). A URL that is known already gains the new listing and keeps the rest. fresh[i] tells
// whether seed i was not known before. A URL that cannot be fetched at all is an error that names it; then nothing of the call is kept.
func (a *Archive) Register(ctx context.Context, now time.Time, listing Listing, also func(*kv.Txn) error) (fresh []bool, err error) {
	err = a.triples.Update(ctx, func(txn *triplestore.Txn) error {
		fresh = make([]bool, len(listing.Seeds))
		t, err := a.writing(txn.KV())
		if err != nil {
			return err
		}
		t.finding.tallies, t.finding.listed = map[counted]*tally{}, map[string]bool{}
		if err := replace(txn, nil, listing.Quads); err != nil {
			return err
		}
		for i, seed := range listing.Seeds {
			if seed, err = BoundSeed(seed); err != nil {
				return err
			}
			if fresh[i], err = a.register(t, txn, now, seed); err != nil {
				return err
			}
		}
		if err := a.save(t); err != nil {
			return err
		}
		if also != nil {
			return also(txn.KV())
		}
		return nil
	})
	return fresh, err
}

// ResourceID returns the id of a URL's resource, whether it is registered or not. The error wraps address.ErrBad.
func ResourceID(link string) (string, error) {
	key, err := address.Key(link)
	if err != nil {
		return "", err
	}
	return ns.ResourceID(key), nil
}

func (a *Archive) register(t tables, txn *triplestore.Txn, now time.Time, seed catalog.Seed) (isNew bool, err error) {
	u, err := address.Parse(seed.URL)
	if err != nil {
		return false, err
	}
	id := ns.ResourceID(u.Key())
	r, known, err := t.resource(id)
	if err != nil {
		return false, err
	}
	before := r
	r.Sources = slices.Clone(r.Sources)
	if !known {
		r = newRecord(id, seed.URL, u, now)
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
	isListed := addSource(&r.Resource, source)
	if known && !isListed && !slices.Contains(before.Sources, source) { // what bears the title already, its dataset bears too
		if err := t.retitle(txn, id, source); err != nil {
			return false, err
		}
	}

	if err := t.countSource(before.Resource, r.Resource, source, isListed, known); err != nil {
		return false, err
	}
	if err := t.titlePortal(txn, seed.Portal, seed.PortalTitle); err != nil {
		return false, err
	}
	if err := t.index(before, r, known); err != nil {
		return false, err
	}
	if err := t.set(key(tableResource, rid(id)), r); err != nil {
		return false, err
	}
	if err := t.find(before, r, nil); err != nil {
		return false, err
	}
	return !known, replace(txn, describedResource(before, known), describe.Resource(r.Resource))
}

// newRecord returns the record of a URL that was not known. raw is the source's spelling of u.
func newRecord(id, raw string, u address.URL, now time.Time) record {
	r := record{}
	r.ID, r.URL, r.Host, r.FileName, r.Added = id, raw, u.Group(), u.FileName(), now
	return r
}

// addSource lists the resource under one more dataset of a portal; false where nothing is new.
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

// index keeps the ways to find a resource in step with its record.
func (t tables) index(before, after record, known bool) error {
	id := rid(after.ID)
	if !known {
		if err := t.mark(key(tableByHost, after.Host, id)); err != nil {
			return err
		}
	}
	if before.MediaType != after.MediaType {
		if before.MediaType != "" {
			if err := t.drop(key(tableByType, before.MediaType, id)); err != nil {
				return err
			}
		}
		if after.MediaType != "" {
			if err := t.mark(key(tableByType, after.MediaType, id)); err != nil {
				return err
			}
		}
	}
	for _, s := range after.Sources[len(before.Sources):] {
		if err := t.mark(key(tableByPortal, s.Portal, s.Dataset, id)); err != nil {
			return err
		}
		if err := t.mark(key(tableByDataset, s.Dataset, id)); err != nil {
			return err
		}
	}
	return nil
}

func (t tables) countSource(before, after catalog.Resource, s catalog.Source, isListed, known bool) error {
	if !known {
		err := t.count(countHost, after.Host, func(n *tally) { n.Resources++ })
		if err == nil {
			err = t.count(countAll, "", func(n *tally) { n.Resources++ })
		}
		if err != nil {
			return err
		}
	}
	if !isListed {
		return nil
	}
	newDataset := false
	if s.Dataset != "" {
		prefix := key(tableByPortal, s.Portal, s.Dataset, "")
		if !t.finding.listed[string(prefix)] {
			first, err := t.isEmpty(prefix)
			if err != nil {
				return err
			}
			newDataset = first
			t.finding.listed[string(prefix)] = true // it is about to be
		}
	}
	newPortal := s.Portal != "" && !slices.Contains(before.Portals, s.Portal)
	return t.countListing(s.Portal, newDataset, newPortal, after)
}

func (t tables) countListing(portal string, newDataset, newPortal bool, r catalog.Resource) error {
	if newDataset {
		if err := t.count(countAll, "", func(n *tally) { n.Datasets++ }); err != nil {
			return err
		}
	}
	if portal == "" || (!newDataset && !newPortal) {
		return nil
	}
	return t.count(countPortal, portal, func(n *tally) {
		if newDataset {
			n.Datasets++
		}
		if newPortal {
			n.Resources++
			n.Versions += r.Versions - r.ErrorPages
		}
	})
}

func (t tables) isEmpty(prefix []byte) (bool, error) {
	empty := true
	err := t.txn.Scan(kv.SpaceArchive, prefix, nil, func(_, _ []byte) (bool, error) {
		empty = false
		return false, nil
	})
	return empty, err
}

// titlePortal keeps the title of a portal with its counts, since thousands of resources share it.
func (t tables) titlePortal(txn *triplestore.Txn, portal, title string) error {
	if portal == "" || title == "" {
		return nil
	}
	before, err := t.counted(countPortal, portal)
	if err != nil || before.Title == title {
		return err
	}
	if err := t.count(countPortal, portal, func(n *tally) { n.Title = title }); err != nil {
		return err
	}
	return replace(txn, describe.Portal(portal, before.Title), describe.Portal(portal, title))
}

// maxRetitled bounds the resources that one transaction describes anew because of their dataset's title.
const maxRetitled = 1000

// retitle gives the other resources of a dataset its new title too: they are described with it together.
func (t tables) retitle(txn *triplestore.Txn, id string, s catalog.Source) error {
	if s.Dataset == "" || s.DatasetTitle == "" {
		return nil
	}
	var others []record
	prefix := key(tableByDataset, s.Dataset, "")
	err := t.txn.Scan(kv.SpaceArchive, prefix, nil, func(k, _ []byte) (bool, error) {
		other, ok := behind(k, prefix)
		if !ok {
			return true, nil
		}
		r, known, err := t.resource(other)
		if known && r.ID != id && slices.ContainsFunc(r.Sources, func(o catalog.Source) bool { return o.Dataset == s.Dataset && o.DatasetTitle != s.DatasetTitle }) {
			others = append(others, r)
		}
		return len(others) < maxRetitled, err
	})
	for _, before := range others {
		after := before
		after.Sources = slices.Clone(before.Sources)
		for i := range after.Sources {
			if after.Sources[i].Dataset == s.Dataset {
				after.Sources[i].DatasetTitle = s.DatasetTitle
			}
		}
		if err == nil {
			err = t.set(key(tableResource, rid(after.ID)), after)
		}
		if err == nil {
			err = t.find(before, after, nil)
		}
		if err == nil {
			err = replace(txn, describe.Resource(before.Resource), describe.Resource(after.Resource))
		}
	}
	return err
}

func describedResource(r record, known bool) []term.Quad {
	if !known {
		return nil
	}
	return describe.Resource(r.Resource)
}

// replace writes the difference between what was said of a thing and what is said now. Either may say a thing twice.
func replace(txn *triplestore.Txn, before, after []term.Quad) error {
	if len(before) == 0 {
		return insert(txn, after)
	}
	if slices.Equal(before, after) {
		return nil
	}
	isNew := make(map[term.Quad]bool, len(after))
	for _, q := range after {
		isNew[q] = true
	}
	for _, q := range before {
		if _, stays := isNew[q]; stays {
			isNew[q] = false
			continue
		}
		if err := txn.Delete(q); err != nil {
			return err
		}
	}
	for _, q := range after {
		if !isNew[q] {
			continue
		}
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}

func insert(txn *triplestore.Txn, quads []term.Quad) error {
	for _, q := range quads {
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}
