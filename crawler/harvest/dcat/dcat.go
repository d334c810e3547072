// Package dcat harvests catalogs in DCAT and DCAT-AP, in any RDF syntax.
//
// A catalog is one document or many: pages in the words of Hydra (hydra:nextPage, hydra:next, PartialCollectionView) or of
// LDP (ldp:nextPage, Link: rel="next"), and datasets that a page only names (dcat:dataset, ldp:contains) and that stand in
// documents of their own. The syntax is agreed on with the server and then told by the content, whatever the server says.
// Each page is a step: its address is the mark to go on from. A catalog of one document is not sent again while it stays the
// same, but once a week.
//
// What a catalog says of a dataset is kept as it says it: all statements about the dataset, its distributions, and the
// nodes that they lead to, up to the next dataset (Read). A dataset without an IRI gets one from its identifier, its landing page or
// its content. Distributions may be blank nodes, may lack a class, and may have their address as a literal or under the
// wrong name. Catalogs are held in memory a page at a time.
package dcat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
)

// Source is one catalog.
type Source struct {
	URL    string // of its first page
	Portal string // IRI of the portal, "" = as the catalog calls itself, else URL
	HTTP   harvest.Doer
	Now    func() time.Time // time.Now
}

var _ harvest.Harvester = Source{}

const (
	maxPages   = 100_000
	maxMembers = 200_000 // documents of single datasets that are asked for
)

// Harvest implements harvest.Harvester. Marks are the portal and the address of a page, or a harvest.Document where the
// catalog was one.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.URL); err != nil || u.Host == "" {
		return fmt.Errorf("dcat: %q is no address", s.URL)
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	before, whole := harvest.ParseDocument(from)
	h := &catalog{source: s, now: now(), before: before, out: out, portal: s.Portal, visited: map[string]bool{}, met: map[string]bool{}, reader: reader{http: s.HTTP, contexts: map[string][]byte{}}}
	address := s.URL
	if portal, page, ok := strings.Cut(from, " "); ok && !whole {
		h.portal, address = portal, page
		if err := out.Portal(harvest.Portal{IRI: portal}, true); err != nil {
			return err
		}
		h.begun = true
	}
	for address != "" {
		if h.visited[address] || len(h.visited) >= maxPages {
			return fmt.Errorf("dcat: the pages of %s go in a circle at %s", s.URL, address)
		}
		h.visited[address] = true
		next, err := h.page(ctx, address)
		if errors.Is(err, harvest.ErrNotModified) {
			out.NotModified(from)
			return nil
		}
		if err != nil {
			return fmt.Errorf("dcat: %w", err)
		}
		if address = next; address != "" {
			if err := out.Mark(h.portal + " " + address); err != nil {
				return err
			}
		}
	}
	if h.datasets == 0 && (from == "" || whole) {
		return fmt.Errorf("dcat: %s describes no datasets", s.URL)
	}
	if from == "" || whole {
		out.Next(h.only.Mark())
	}
	return nil
}

// catalog is one harvest.
type catalog struct {
	source   Source
	now      time.Time
	before   harvest.Document // that was all of the catalog at the last harvest
	only     harvest.Document // that is all of it, so far
	out      harvest.Sink
	reader   reader
	portal   string // its IRI
	begun    bool   // the portal was handed over
	datasets int
	members  int
	visited  map[string]bool // pages
	met      map[string]bool // datasets that have been handed over or asked for
}

// page hands over what one page says, and gives the address of the next one, "" for none.
func (h *catalog) page(ctx context.Context, address string) (next string, err error) {
	doc, err := h.reader.get(ctx, address, h.before.Unless(address, h.now))
	if err != nil {
		return "", err
	}
	h.only = harvest.Document{URL: address, Tag: doc.tag, Read: h.now}
	if doc.fault != nil {
		h.out.Skip(doc.fault.Error())
	}
	found := Read(doc.quads, h.portal, doc.url)
	if !h.begun {
		h.portal = found.Portal.IRI
		if err := h.out.Portal(found.Portal, true); err != nil {
			return "", err
		}
		h.begun = true
	}
	fresh, err := h.hand(found.Datasets)
	if err != nil {
		return "", err
	}
	named := 0
	for _, member := range found.Named {
		if h.met[member] || h.members >= maxMembers {
			continue
		}
		h.met[member] = true
		h.members++
		named++
		if err := h.member(ctx, member); err != nil {
			return "", err
		}
	}
	next = doc.next()
	if next != "" || len(h.visited) > 1 || len(found.Named) > 0 {
		h.only = harvest.Document{}
	}
	if next != "" && fresh+named == 0 && len(found.Datasets)+len(found.Named) > 0 {
		h.out.Skip(fmt.Sprintf("%s and its next page %s list the same datasets: the pages end here", address, next))
		return "", nil
	}
	return next, nil
}

// hand over the datasets that have not been; a page may repeat what another one says.
func (h *catalog) hand(datasets []harvest.Dataset) (fresh int, err error) {
	for _, d := range datasets {
		if h.met[d.IRI] {
			continue
		}
		h.met[d.IRI] = true
		h.datasets++
		fresh++
		if err := h.out.Dataset(d); err != nil {
			return fresh, err
		}
	}
	return fresh, nil
}

// member is a dataset whose description stands in a document of its own. One that cannot be had stays as it was.
func (h *catalog) member(ctx context.Context, iri string) error {
	doc, err := h.reader.get(ctx, iri, "")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var status *harvest.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
		h.out.Skip("dataset " + iri + ": " + err.Error())
		return nil
	}
	if err != nil {
		return h.out.Unknown(iri, "dataset "+iri+": "+err.Error())
	}
	delete(h.met, iri)
	found := Read(doc.quads, h.portal, doc.url)
	if len(found.Datasets) == 0 {
		return h.out.Unknown(iri, "dataset "+iri+" is not described at its address")
	}
	_, err = h.hand(found.Datasets)
	return err
}
