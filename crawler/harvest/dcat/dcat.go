// Package dcat harvests catalogs in DCAT and DCAT-AP, in any RDF syntax.
//
// A catalog is one document or many: pages linked by Hydra (hydra:nextPage, hydra:next, PartialCollectionView) or LDP
// (ldp:nextPage, Link: rel="next"), and datasets that a page only names (dcat:dataset, ldp:contains) and that have
// documents of their own. The syntax is negotiated and then detected from the content, whatever the server declares.
// Each page is a step, and its address is the mark to continue from. An unchanged catalog of one document is requested
// only once a week.
//
// What a catalog says of a dataset is kept unchanged: all statements about the dataset, its distributions and the nodes
// that they lead to, up to the next dataset (Read). A dataset without an IRI gets one derived from its identifier, its
// landing page or its content. Distributions may be blank nodes, may lack a class, and may have their address as a
// literal or in the wrong property. One page of a catalog is in memory at a time.
package dcat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
)

// Source is one catalog.
type Source struct {
	URL    string // of the first page
	Portal string // IRI of the portal; "" means the catalog's own, or else URL
	HTTP   harvest.Doer
	Now    func() time.Time // nil means time.Now
}

var _ harvest.Harvester = Source{}

const (
	maxPages   = 100_000
	maxMembers = 200_000 // requests for single datasets
	maxFailed  = 20      // requests in a row that a host answers with a failure of its own before it is given up
)

// Harvest implements harvest.Harvester. A mark is the portal and the address of a page, or a harvest.Document if the
// catalog is one document.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.URL); err != nil || u.Host == "" {
		return fmt.Errorf("dcat: malformed address %q", s.URL)
	}
	before, whole := harvest.ParseDocument(from)
	h := &catalog{source: s, now: harvest.Now(s.Now), before: before, out: out, portal: s.Portal, visited: map[string]bool{},
		met: map[string]bool{}, named: map[string]bool{}, failed: map[string]int{},
		reader: reader{http: s.HTTP, contexts: map[string][]byte{}}}
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
			return fmt.Errorf("dcat: the pages of %s repeat at %s", s.URL, address)
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
		address = next
		if err := h.requestNamed(ctx, address == ""); err != nil {
			return err
		}
		if address != "" && len(h.pending) == 0 { // else a resumed harvest would not know what was named
			if err := out.Mark(h.portal + " " + address); err != nil {
				return err
			}
		}
	}
	if h.datasets == 0 && (from == "" || whole) {
		if h.reason != "" {
			return fmt.Errorf("dcat: %s names %d datasets, of which none could be read: %s", s.URL, h.members, h.reason)
		}
		return fmt.Errorf("dcat: %s describes no datasets", s.URL)
	}
	if from == "" || whole {
		out.Next(h.only.Mark())
	}
	return nil
}

// catalog is a harvest in progress.
type catalog struct {
	source   Source
	now      time.Time
	before   harvest.Document // the whole catalog at the last harvest
	only     harvest.Document // the whole catalog, if it is one document
	out      harvest.Sink
	reader   reader
	portal   string // IRI
	begun    bool   // the portal was passed to out
	datasets int
	members  int
	reason   string          // why the first of the members that failed did so
	failed   map[string]int  // by host: failures of the host in a row; it is given up at maxFailed
	visited  map[string]bool // pages
	met      map[string]bool // datasets handed over or requested
	named    map[string]bool // datasets that a page names without describing them
	pending  []string        // those of them that no page has described so far, in order
}

// page hands over what a page says and returns the address of the next one, "" for none.
func (h *catalog) page(ctx context.Context, address string) (next string, err error) {
	doc, err := h.reader.get(ctx, address, h.before.Unless(address, h.now), 0)
	if err != nil {
		return "", err
	}
	h.only = harvest.Document{URL: address, Tag: doc.tag, Read: h.now}
	found := Read(doc.quads, h.portal, doc.url)
	if !h.begun {
		h.portal = found.Portal.IRI
		if err := h.out.Portal(found.Portal, true); err != nil {
			return "", err
		}
		h.begun = true
	}
	if doc.fault != nil && !doc.ends {
		h.out.Skip(doc.fault.Error())
	}
	fresh, err := h.emit(found.Datasets)
	if err == nil && doc.ends { // what comes after it, and the next page, are not known
		err = fmt.Errorf("not read completely: %w: the document may be cut off there", doc.fault)
	}
	if err != nil {
		return "", err
	}
	named := 0
	for _, member := range found.Named {
		if h.met[member] || h.named[member] || h.members >= maxMembers {
			continue
		}
		h.named[member] = true
		h.pending = append(h.pending, member)
		h.members++
		named++
	}
	next = doc.next()
	if next != "" || len(h.visited) > 1 || len(found.Named) > 0 {
		h.only = harvest.Document{}
	}
	if next != "" && fresh+named == 0 && len(found.Datasets)+len(found.Named) > 0 {
		h.out.Skip(fmt.Sprintf("%s and its next page %s list the same datasets; the pages after them are not read", address, next))
		return "", nil
	}
	return next, nil
}

// requestNamed requests the datasets that pages only name. Catalogs name all their datasets on each page and describe
// some of them, so the others are requested behind the last page.
func (h *catalog) requestNamed(ctx context.Context, last bool) error {
	h.pending = slices.DeleteFunc(h.pending, func(member string) bool { return h.met[member] })
	if !last {
		return nil
	}
	for _, member := range h.pending {
		if h.met[member] {
			continue // another one's document described it
		}
		h.met[member] = true
		if err := h.member(ctx, member); err != nil {
			return err
		}
	}
	h.pending = nil
	return nil
}

// emit hands over datasets that no earlier page had.
func (h *catalog) emit(datasets []harvest.Dataset) (fresh int, err error) {
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

// member requests a dataset that has a document of its own. If that fails, the dataset stays as it was.
func (h *catalog) member(ctx context.Context, iri string) error {
	host, err := address.Host(iri)
	if err != nil {
		return h.unread(iri, "it has no address: "+err.Error())
	}
	if h.failed[host] >= maxFailed {
		return h.out.Unknown(iri, "dataset "+iri+": not requested, since others of "+host+" failed")
	}
	doc, err := h.reader.get(ctx, iri, "", 2)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var status *harvest.StatusError
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		h.reason = cmp.Or(h.reason, err.Error())
		h.out.Skip("dataset " + iri + ": " + err.Error())
		return nil
	case errors.Is(err, errNoAnswer):
		h.failed[host] = maxFailed
		return h.unread(iri, err.Error())
	case err != nil:
		if status != nil && status.Status >= 500 {
			h.failed[host]++
		}
		return h.unread(iri, err.Error())
	}
	h.failed[host] = 0
	delete(h.met, iri)
	found := Read(doc.quads, h.portal, doc.url)
	if len(found.Datasets) == 0 {
		return h.unread(iri, "it is not described at its address")
	}
	_, err = h.emit(found.Datasets)
	return err
}

// unread reports a dataset that could not be read.
func (h *catalog) unread(iri, why string) error {
	h.reason = cmp.Or(h.reason, why)
	return h.out.Unknown(iri, "dataset "+iri+": "+why)
}
