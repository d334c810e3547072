// Package sitemap harvests the addresses that a site lists of itself: sitemaps and indexes of them (sitemaps.org), RSS and
// Atom feeds, plain lists, and the Sitemap lines of a robots.txt, each also compressed.
//
// Every address becomes a seed; how often it says to change becomes the seed's period, when it last did a dct:modified.
// The protocol's limits (50,000 addresses and 50 MB a file) are not held against a site: a million addresses of a file are
// read, and up to 64 MiB of it as it comes. A file that is broken gives what stands before the fault. Reading goes on where
// it was cut off. A site whose list is one file is not read again while that stays the same, but once a week. Walk is there for
// other harvesters.
package sitemap

import (
	"context"
	"errors"
	"net/url"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/xsd"
)

// Source is one site. URL is that of a sitemap, a feed, a list or a robots.txt; of a site without a path, /robots.txt and
// /sitemap.xml are tried.
type Source struct {
	URL     string
	HTTP    harvest.Doer
	Portal  string           // IRI of the portal, "" = the site
	Since   string           // only what says that it changed since, or does not say when
	Traffic *harvest.Traffic // is filled, where given
	Now     func() time.Time // time.Now
}

// markEvery so many entries.
const markEvery = 500

// Harvest implements harvest.Harvester. Marks are those of Place, or a harvest.Document where the list was one.
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
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	list := harvest.Document{Read: now()}
	before, _ := harvest.ParseDocument(from)
	err = First(ctx, s.URL, func(address string) (err error) {
		list.URL = address
		list.Tag, err = walkUnless(ctx, doer, address, before.Unless(address, list.Read), ParsePlace(from), func(e Entry, at Place) error {
			if since.After(e.Modified) {
				return nil
			}
			if err := s.take(e, portal, out); err != nil {
				return err
			}
			if at.Entry%markEvery == 0 {
				return out.Mark(at.String())
			}
			return nil
		}, out.Skip)
		return err
	})
	switch {
	case errors.Is(err, harvest.ErrNotModified):
		out.NotModified(from)
		return nil
	case err == nil:
		out.Next(list.Mark())
	}
	return err
}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (harvest.Harvester, error) {
	s.Since, part.Since = part.Since, ""
	if _, err := harvest.ParseSince(s.Since); err != nil {
		return nil, err
	}
	return s, harvest.Unknown(part)
}

// Counted implements harvest.Metered.
func (s Source) Counted() *harvest.Traffic { return s.Traffic }

func (s Source) take(e Entry, portal harvest.Portal, out harvest.Sink) error {
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
		o = term.Typed(t.Format("2006-01-02T15:04:05Z07:00"), xsd.DateTime)
	}
	return out.Quad(term.Quad{S: term.IRI(iri), P: term.IRI(dcterms.Modified), O: o})
}

// Site is the root of the site that an address belongs to, "" where it is none.
func Site(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

// First tries the addresses at which a site may list its pages, until one gives something: the given one, unless it is
// only a site's name; else robots.txt and the usual place.
func First(ctx context.Context, address string, try func(address string) error) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return try(address) // says what is wrong with it
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
