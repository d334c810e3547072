package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/schemaorg"
	"odarchive/triplestore/term"
)

// listing is a catalog that the site names: a portal with an interface, or DCAT.
type listing struct {
	Kind string `json:"kind"`
	URL  string `json:"url"`
	Mark string `json:"mark,omitempty"` // to continue from
	Done bool   `json:"done,omitempty"`
	Why  string `json:"why,omitempty"`
}

const maxListings = 20

// about is what a page says about itself.
type about struct {
	Lang     string `json:"lang,omitempty"`
	Site     string `json:"site,omitempty"`
	Licence  string `json:"licence,omitempty"`
	Modified string `json:"modified,omitempty"`
	Tag      string `json:"tag,omitempty"` // of its version
}

func aboutOf(view *pageView, a answer) about {
	return about{Lang: view.lang, Site: view.site, Licence: view.licence, Modified: view.modified, Tag: cut(harvest.Tag(a.Header), 200)}
}

// declared takes the datasets that a page describes in markup, and reads the catalogs that it names.
func (w *walk) declared(ctx context.Context, at int32, view *pageView, a answer) (files int, err error) {
	for _, f := range view.feeds {
		w.list(f.url, "feed")
	}
	for _, c := range view.catalogs {
		n, err := w.readListing(ctx, listing{Kind: "dcat", URL: c.url, Why: "a page names it as RDF"})
		if err != nil {
			return files, err
		}
		files += n
	}
	if !view.data {
		return files, nil
	}
	datasets, _, _ := schemaorg.Read(a.URL, a.Header.Get("Content-Type"), a.Body) // what cannot be read is found by the links
	for i := range datasets {
		n, err := w.takeGiven(ctx, &datasets[i], at, "", "the page describes it as a file of a dataset")
		if err != nil {
			return files, err
		}
		files += n
	}
	return files, nil
}

// interfaceOf returns the root of the CKAN portal that an address is an interface of, "" if it is not.
func interfaceOf(address string) string {
	if i := strings.Index(address, "/api/3/action/"); i > 0 {
		return address[:i]
	}
	return ""
}

// readListing reads a catalog, once, and returns the number of new files.
func (w *walk) readListing(ctx context.Context, l listing) (files int, err error) {
	at := -1
	for i, known := range w.listings {
		if known.URL == l.URL {
			at = i
		}
	}
	u, parseErr := url.Parse(l.URL)
	switch {
	case at >= 0 && w.listings[at].Done, parseErr != nil, !w.ask.scope(u), w.catalogs == nil, at < 0 && len(w.listings) >= maxListings:
		return 0, nil
	case at < 0:
		at = len(w.listings)
		w.listings = append(w.listings, l)
		w.seen[keyOf(l.URL)] = nil
	}
	h := w.catalogs(l.Kind, l.URL, obedient{w.ask})
	if h == nil {
		w.listings[at].Done = true
		return 0, nil
	}
	s := &listingSink{walk: w, ctx: ctx, at: at}
	err = h.Harvest(ctx, w.listings[at].Mark, s)
	switch {
	case ctx.Err() != nil:
		return s.files, context.Cause(ctx)
	case s.broken != nil:
		return s.files, s.broken
	case w.ask.spent >= w.ask.budget:
		return s.files, errBudget
	case err != nil:
		w.skip(fmt.Sprintf("the %s catalog %s: %v", l.Kind, l.URL, err))
	}
	w.listings[at].Done = true
	if err == nil {
		for i := range w.known {
			if f := &w.known[i]; f.Listing == l.URL && f.Met != w.round {
				f.Lost = true
			}
		}
	}
	return s.files, nil
}

// takeGiven takes the files of a dataset that the site describes, and returns the number of new ones.
func (w *walk) takeGiven(ctx context.Context, d *harvest.Dataset, at int32, catalog, why string) (files int, err error) {
	first := true
	for _, dist := range d.Distributions {
		address, err := resolve(w.home, dist.URL)
		if err != nil || dist.URL == "" || dist.Service {
			continue
		}
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		switch f := strings.ToLower(dist.Format + " " + dist.MediaType); {
		case strings.Contains(f, "html"), strings.Contains(f, "pdf"):
			continue // a page or document
		}
		key := keyOf(address)
		if w.files[key] {
			w.meet(key, at)
			continue
		}
		if w.ask.scope(u) {
			if v, err := w.ask.allowed(ctx, address); err != nil {
				return files, err
			} else if !v.Allowed {
				continue
			}
		}
		if old := w.seen[key]; old != nil {
			old.done = true
		}
		w.seen[key], w.files[key] = nil, true
		l := &link{url: address, key: key, from: at, text: dist.Title, format: strings.ToLower(dist.Format)}
		if err := w.found(finding{link: l, page: at, why: why, given: d, first: first, listing: catalog}); err != nil {
			return files, err
		}
		first = false
		files++
	}
	return files, nil
}

// listingSink receives the datasets of a catalog as those of the site.
type listingSink struct {
	walk   *walk
	ctx    context.Context
	at     int
	files  int
	broken error // of the discovery's own sink
}

func (s *listingSink) Portal(p harvest.Portal, _ bool) error {
	if s.walk.name == "" {
		s.walk.name = p.Title
	}
	return s.ctx.Err()
}

func (s *listingSink) Dataset(d harvest.Dataset) error {
	n, err := s.walk.takeGiven(s.ctx, &d, noPage, s.walk.listings[s.at].URL, "the catalog "+s.walk.listings[s.at].URL+" lists it")
	s.files += n
	if err != nil {
		s.broken = err
	}
	return err
}

func (s *listingSink) Mark(token string) error {
	s.walk.listings[s.at].Mark = token
	if err := s.walk.mark(false); err != nil {
		s.broken = err
		return err
	}
	return nil
}

func (s *listingSink) Gone(string) error            { return s.ctx.Err() }
func (s *listingSink) Unknown(string, string) error { return s.ctx.Err() }
func (s *listingSink) Seed(catalog.Seed) error      { return s.ctx.Err() }
func (s *listingSink) Quad(term.Quad) error         { return s.ctx.Err() }
func (s *listingSink) Next(string)                  {}
func (s *listingSink) NotModified(string)           {}
func (s *listingSink) Skip(why string)              { s.walk.skip(why) }

// obedient is the asker for harvesters of catalogs. What must not be requested answers 403, so that they do not try
// again, and redirects within the site are followed.
type obedient struct{ ask *asker }

func (o obedient) Do(req *http.Request) (*http.Response, error) {
	for hop := 0; ; hop++ {
		resp, err := o.ask.Do(req)
		if err != nil && req.Context().Err() == nil && (isSkipped(err) || o.ask.spent >= o.ask.budget) {
			return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{},
				Body: io.NopCloser(strings.NewReader(err.Error())), Request: req}, nil
		}
		if err != nil || resp.StatusCode < 300 || resp.StatusCode >= 400 || resp.Header.Get("Location") == "" || hop >= maxHops ||
			req.Method != http.MethodGet {
			return resp, err
		}
		target, err := resolve(req.URL.String(), resp.Header.Get("Location"))
		if err != nil {
			return resp, nil
		}
		resp.Body.Close()
		next, err := http.NewRequestWithContext(req.Context(), http.MethodGet, target, nil)
		if err != nil {
			return nil, err
		}
		next.Header = req.Header
		req = next
	}
}

func isSkipped(err error) bool { return errors.Is(err, errSkipped) }
