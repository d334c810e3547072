// Package schemaorg harvests web pages that describe datasets in schema.org terms, in JSON-LD, Microdata or RDFa, and
// JSON-LD documents such as Croissant.
//
// A source is a page or a list of pages: anything that package sitemap reads, which for a site without a path is what
// its robots.txt names. Each dataset on a page becomes a dataset of the portal. Its IRI is its own, else its url, else
// that of the page. Properties without a field in harvest.Dataset are kept as statements.
//
// A later harvest requests only pages that have changed since or do not declare a change; after 30 days, it requests
// all pages again. Datasets of pages that disappear are not withdrawn.
package schemaorg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/sitemap"
)

// Source is one page or site. Fields other than URL and HTTP may be zero.
type Source struct {
	URL     string
	HTTP    harvest.Doer
	Portal  string           // IRI of the portal; "" means the site
	Since   string           // skip pages that declare no change since then
	Traffic *harvest.Traffic // counts the traffic if not nil
	Now     func() time.Time // nil means time.Now
}

const (
	maxPage   = 16 << 20
	markEvery = 20 // pages between marks
	wholeDays = 30 // days between harvests of all pages
	maxFailed = 200
)

// mark is the position in a harvest.
type mark struct {
	Place sitemap.Place `json:"place,omitzero"`
	Began time.Time     `json:"began,omitzero"` // start of the current harvest
	Since time.Time     `json:"since,omitzero"` // pages with an earlier change are skipped
	Whole time.Time     `json:"whole,omitzero"` // start of the last harvest of all pages

	Failed []string `json:"failed,omitempty"` // pages of which the server failed to answer, for the next harvest
	Again  []string `json:"again,omitempty"`  // those of the last harvest, which are read whenever they changed
}

func (m mark) String() string {
	text, _ := json.Marshal(m) // cannot fail with times of a clock
	return string(text)
}

// run is a harvest in progress.
type run struct {
	src    Source
	doer   harvest.Doer
	out    harvest.Sink
	portal harvest.Portal
	mark   mark
	pages  int
	listed int // pages, also those that have not changed
}

// Harvest implements harvest.Harvester.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if u, err := url.Parse(s.URL); err != nil || u.Host == "" {
		return fmt.Errorf("schemaorg: malformed address %q", s.URL)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	r := &run{src: s, doer: s.HTTP, out: out, portal: harvest.Portal{IRI: s.Portal, Homepage: sitemap.Site(s.URL)}}
	if s.Traffic != nil {
		r.doer = s.Traffic.Over(s.HTTP)
		s.Traffic.Begin(s.Now())
		defer func() { s.Traffic.End(s.Now()) }()
	}
	if r.portal.IRI == "" {
		r.portal.IRI = r.portal.Homepage
	}
	since, err := harvest.ParseSince(s.Since)
	if err != nil {
		return err
	}
	if json.Unmarshal([]byte(from), &r.mark) != nil {
		r.mark = mark{}
	}
	now := s.Now().UTC()
	if r.mark.Began.IsZero() {
		r.mark.Began = now
		r.mark.Again, r.mark.Failed = r.mark.Failed, nil
		if now.Sub(r.mark.Whole) > wholeDays*24*time.Hour {
			r.mark.Whole, r.mark.Since = now, since.Time
		}
	}
	if err := out.Portal(r.portal, false); err != nil {
		return err
	}
	if err := r.source(ctx); err != nil {
		return err
	}
	out.Next(mark{Since: r.mark.Began.AddDate(0, 0, -1), Whole: r.mark.Whole, Failed: r.mark.Failed}.String())
	return nil
}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (harvest.Harvester, error) {
	s.Since = part.Since
	_, err := part.OnlySince()
	return s, err
}

// Counted implements harvest.Metered.
func (s Source) Counted() *harvest.Traffic { return s.Traffic }

// source reads the source as a list of pages or, if it is not one, as a page.
func (r *run) source(ctx context.Context) error {
	before, whole := r.pages, r.mark.Place == sitemap.Place{}
	listErr := sitemap.First(ctx, r.src.URL, func(address string) error {
		return sitemap.Walk(ctx, r.doer, address, r.mark.Place, func(e sitemap.Entry, at sitemap.Place) error {
			return r.entry(ctx, e, at)
		}, r.out.Skip)
	})
	if listErr == nil && whole && r.listed == 0 && ctx.Err() == nil { // also a harvest of changes reads the whole list
		return fmt.Errorf("schemaorg: %w: the list of pages of %s is empty", harvest.ErrNothing, r.src.URL)
	}
	if listErr == nil || ctx.Err() != nil || r.pages > before || !strings.HasPrefix(listErr.Error(), "sitemap: ") {
		return listErr
	}
	n, err := r.page(ctx, r.src.URL)
	switch {
	case err != nil:
		return fmt.Errorf("schemaorg: %w", err)
	case n == 0:
		return fmt.Errorf("schemaorg: %s has no schema.org/Dataset and no list of pages", r.src.URL)
	}
	return nil
}

// entry reads a page of the list. It reports and skips pages that cannot be read.
func (r *run) entry(ctx context.Context, e sitemap.Entry, at sitemap.Place) error {
	r.listed++
	since := harvest.Since{Time: r.mark.Since}
	if !since.After(e.Modified) || slices.Contains(r.mark.Again, e.URL) {
		r.pages++
		_, err := r.page(ctx, e.URL)
		var sink sinkError
		switch {
		case errors.As(err, &sink):
			return sink.error
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.out.Skip(err.Error())
			var status *harvest.StatusError
			if (!errors.As(err, &status) || status.Status >= 500) && len(r.mark.Failed) < maxFailed {
				r.mark.Failed = append(r.mark.Failed, e.URL)
			}
		}
	}
	if at.Entry%markEvery != 0 {
		return nil
	}
	r.mark.Place = at
	return r.out.Mark(r.mark.String())
}

// sinkError is an error of the Sink.
type sinkError struct{ error }

// page requests a page, hands over its datasets and returns their number.
func (r *run) page(ctx context.Context, address string) (int, error) {
	answer, err := harvest.Ask(ctx, r.doer,
		harvest.Request{URL: address, Accept: "text/html, application/xhtml+xml, application/ld+json;q=0.9, */*;q=0.5", Max: maxPage,
			Raw: true, Tries: 3})
	if err != nil {
		return 0, err
	}
	datasets, catalogs, faults := Read(answer.URL, answer.Header.Get("Content-Type"), answer.Body)
	for _, fault := range faults {
		r.out.Skip(fmt.Sprintf("%s: %v", address, fault))
	}
	for _, q := range catalogs {
		if err := r.out.Quad(q); err != nil {
			return 0, sinkError{err}
		}
	}
	for _, d := range datasets {
		if r.src.Traffic != nil {
			r.src.Traffic.Record(r.src.Now(), false)
		}
		if err := r.out.Dataset(d); err != nil {
			return 0, sinkError{err}
		}
	}
	return len(datasets), nil
}
