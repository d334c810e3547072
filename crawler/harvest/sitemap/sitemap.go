// Package sitemap harvests the addresses that a site lists: in sitemaps and indexes of them (sitemaps.org), in RSS and
// Atom feeds, in plain lists, and in sitemaps named by a robots.txt. Each may be compressed.
//
// Every address becomes a seed. Its change frequency becomes the seed's period, and its last change becomes a
// dct:modified. The limits of the protocol (50,000 addresses and 50 MB per file) are not enforced; instead, a file may
// have a million addresses and 64 MiB. In a broken file, everything before the fault is read. An interrupted harvest
// continues where it ended. If the list is one file, an unchanged file is read only once a week. Other harvesters use
// Walk.
package sitemap

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Source is one site. URL is that of a sitemap, a feed, a list or a robots.txt. For a site without a path, /robots.txt
// and usual names of sitemaps are tried.
type Source struct {
	URL     string
	HTTP    harvest.Doer
	Portal  string           // IRI of the portal; "" means the site
	Since   string           // skip entries that declare no change since then
	Traffic *harvest.Traffic // counts the traffic if not nil
	Now     func() time.Time // nil means time.Now
}

// markEvery is the number of entries between marks.
const markEvery = 500

// Harvest implements harvest.Harvester. Its marks are those of Place, or a harvest.Document if the list is one
// document.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	doer := s.HTTP
	if s.Traffic != nil {
		doer = s.Traffic.Over(doer)
	}
	portal := harvest.Portal{IRI: s.Portal, Homepage: Site(s.URL)}
	if portal.IRI == "" {
		portal.IRI = portal.Homepage
	}
	if err := out.Portal(portal, false); err != nil {
		return err
	}
	since, err := harvest.ParseSince(s.Since)
	if err != nil {
		return err
	}
	list := harvest.Document{Read: harvest.Now(s.Now)}
	before, _ := harvest.ParseDocument(from)
	w := &walk{ctx: ctx, doer: doer, skip: out.Skip}
	w.visit = func(e Entry, at Place) error {
		if since.After(e.Modified) {
			return nil
		}
		if err := s.emit(e, portal, out); err != nil {
			return err
		}
		if at.Entry%markEvery == 0 {
			return out.Mark(at.String())
		}
		return nil
	}
	err = First(ctx, s.URL, func(address string) (err error) {
		list.URL = address
		w.unless = before.Unless(address, list.Read)
		list.Tag, err = w.all(address, ParsePlace(from))
		return err
	})
	switch {
	case errors.Is(err, harvest.ErrNotModified):
		out.NotModified(from)
		return nil
	case err == nil && w.lost != "":
		return errors.Join(out.Mark(""), fmt.Errorf("sitemap: not read completely: %s", w.lost)) // the next harvest begins anew
	case err == nil:
		out.Next(list.Mark())
	}
	return err
}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (harvest.Harvester, error) {
	s.Since = part.Since
	_, err := part.OnlySince()
	return s, err
}

// Counted implements harvest.Metered.
func (s Source) Counted() *harvest.Traffic { return s.Traffic }

func (s Source) emit(e Entry, portal harvest.Portal, out harvest.Sink) error {
	if err := out.Seed(catalog.Seed{URL: e.URL, Portal: portal.IRI, PortalTitle: portal.Title, Title: e.Title, MediaType: e.MediaType,
		Period: harvest.PeriodOf(e.Frequency)}); err != nil {
		return err
	}
	iri, ok := harvest.AsIRI(e.URL)
	if !ok || e.Modified == "" {
		return nil
	}
	o := term.String(e.Modified)
	if t, ok := harvest.ParseTime(e.Modified); ok {
		o = term.Typed(t.Format("2006-01-02T15:04:05Z07:00"), vocab.XSDDateTime)
	}
	return out.Quad(term.Quad{S: term.IRI(iri), P: term.IRI(vocab.DCTModified), O: o})
}

// Site returns the root of the site that an address belongs to, "" if the address is malformed.
func Site(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

// First calls try with the addresses at which a site may list its pages, until one succeeds: the given one if it has a
// path, else robots.txt and usual names of sitemaps.
func First(ctx context.Context, address string, try func(address string) error) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return try(address) // to explain what is wrong with it
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return try(address)
	}
	var first error
	for _, guess := range []string{"robots.txt", "sitemap.xml", "sitemap_index.xml"} {
		err := try(Site(address) + guess)
		if err == nil || ctx.Err() != nil || errors.Is(err, harvest.ErrNotModified) {
			return err
		}
		if first == nil || guess == "sitemap.xml" {
			first = err
		}
	}
	return first
}
