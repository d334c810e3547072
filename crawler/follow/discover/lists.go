package discover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/sitemap"
)

// Limits of what a site lists.
const (
	maxLists       = 2000   // sitemaps and feeds
	maxListed      = 50_000 // addresses of one of them
	priorListWorth = 0.5    // of a sitemap
	priorFeedWorth = 0.1
)

// list queues a sitemap or feed: it is asked for when it promises most, like a page.
func (w *walk) list(address, how string) {
	u, err := url.Parse(address)
	if err != nil || !w.ask.scope(u) || len(w.lists) >= maxLists {
		return
	}
	key := keyOf(address)
	if _, met := w.seen[key]; met {
		return
	}
	w.lists[key] = how
	worth := float32(priorListWorth)
	if how == "feed" {
		worth = priorFeedWorth
	}
	l := &link{url: address, key: key, from: noPage, path: "list." + how, list: true, seq: w.seq}
	w.seq++
	shape, dir, _ := shapeOf(address)
	l.traits = []int32{w.model.trait(hash("list", how), worth, varianceKind), w.model.trait(hash("list", shape), 0, varianceShape),
		w.model.trait(hash("list", dir), 0, varianceWord)}
	w.enqueue(l)
}

// errLater stops the reader of sitemaps at those that an index names.
var errLater = errors.New("is read later")

// given answers the first request with bytes that are there already, and notes the URLs of further ones.
type given struct {
	address string
	body    []byte
	further []string
}

func (g *given) Do(req *http.Request) (*http.Response, error) {
	if to := req.URL.String(); to != g.address {
		if len(g.further) < maxLists {
			g.further = append(g.further, to)
		}
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(g.body)), Request: req}, nil
}

// readList requests a sitemap or feed, queues what it lists, and returns what that was worth.
func (w *walk) readList(ctx context.Context, l *link) (float64, error) {
	answer, err := harvest.Ask(ctx, w.ask, harvest.Request{URL: l.url, Raw: true, Tries: 2})
	if err != nil {
		if errors.Is(err, errBudget) || ctx.Err() != nil {
			return 0, err
		}
		w.model.learn(l.traits, 0, 0)
		return 0, nil
	}
	g := &given{address: l.url, body: answer.Body}
	o := outcome{traits: l.traits}
	count := 0
	err = sitemap.Walk(ctx, g, l.url, sitemap.Place{}, func(e sitemap.Entry, _ sitemap.Place) error {
		if count++; count > maxListed {
			return errLater
		}
		files, next, err := w.listed(ctx, e)
		o.files += files
		if next != nil && len(o.links) < maxChildren {
			o.links = append(o.links, next)
		}
		return err
	}, func(string) {})
	if errors.Is(err, errBudget) || ctx.Err() != nil {
		return 0, err
	}
	for _, to := range g.further {
		w.list(to, "sitemap")
	}
	worth := w.worthOf(o)
	w.model.learn(l.traits, 0, worth)
	return worth, nil
}

// listed looks at one entry of a list. It takes files and queues pages.
func (w *walk) listed(ctx context.Context, e sitemap.Entry) (files int, next *link, err error) {
	u, err := url.Parse(e.URL)
	if err != nil || !w.ask.scope(u) {
		return 0, nil, nil
	}
	hint := w.helper.Link(&w.site, &software.Page{URL: w.home}, software.Link{URL: e.URL, Text: e.Title, Type: e.MediaType})
	if hint.Avoid != "" || hint.Document && hint.File == 0 {
		return 0, nil, nil
	}
	key := keyOf(hint.URL)
	if _, met := w.seen[key]; met || w.files[key] {
		return 0, nil, nil
	}
	v, err := w.ask.allowed(ctx, hint.URL)
	if err != nil || !v.Allowed {
		return 0, nil, err
	}
	l := &link{url: hint.URL, key: key, from: noPage, path: "listed", text: e.Title, level: hint.Level, format: hint.Format,
		file: float32(hint.File), seq: w.seq}
	w.seq++
	w.describe(l, hint)
	if l.file >= 1 {
		return 1, nil, w.take(l, noPage, "a list of the site names it")
	}
	w.enqueue(l)
	return 0, l, nil
}
