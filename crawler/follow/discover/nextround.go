package discover

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest"
)

// maxAgain is the number of pages that the next round asks for first.
const maxAgain = 5000

// nextRound returns the mark at which the next round begins.
func (w *walk) nextRound() string {
	w.again = w.again[:0]
	need := map[int32]bool{}
	add := func(p int32) {
		if p != noPage && !need[p] && len(w.again) < maxAgain {
			need[p] = true
			w.again = append(w.again, p)
		}
	}
	for _, f := range w.known { // lists before their items: what is new is on them
		if f.Page != noPage {
			add(w.pages[f.Page].from)
		}
	}
	for _, f := range w.known {
		add(f.Page)
	}
	for i := range w.listings {
		w.listings[i].Done, w.listings[i].Mark = false, ""
	}
	w.queue.shrink(nextQueue)
	w.round++
	w.ask.spent = 0
	clear(w.ask.met)
	w.roundSeq = w.seq
	return w.save(0)
}

// reread asks for a page of an earlier round, unless it is unchanged, and takes what is new on it.
func (w *walk) reread(ctx context.Context, at int32) error {
	p := &w.pages[at]
	a, err := w.ask.ask(ctx, p.url, w.abouts[at].Tag, w.inside)
	switch {
	case errors.Is(err, errBudget), errors.Is(err, errDown), ctx.Err() != nil:
		return err
	case err != nil:
		return nil
	case a.Status == http.StatusNotModified:
		for i := range w.known {
			if w.known[i].Page == at {
				w.known[i].Met = w.round
			}
		}
		return nil
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
		w.lose(at)
		return nil
	case a.Status != http.StatusOK || !a.Page:
		return nil
	}
	view := readPage(a.URL, a.Header.Get("Content-Type"), a.Body)
	if view == nil {
		return nil
	}
	w.read_++
	w.abouts[at] = aboutOf(view, a)
	_, err = w.links(ctx, at, view, a, &software.Page{URL: a.URL, Status: a.Status, Header: a.Header, Root: view.root})
	w.lose(at)
	return err
}

// lose notes that files of a page were not met on it in this round.
func (w *walk) lose(at int32) {
	for i := range w.known {
		if f := &w.known[i]; f.Page == at && f.Met != w.round {
			f.Lost = true
		}
	}
}

// inside reports whether the target of a redirect is of the site.
func (w *walk) inside(target string) bool {
	u, err := url.Parse(target)
	return err == nil && w.ask.scope(u)
}

// recognise hands over to the harvester of a portal if the first page shows that the site is one.
func (w *walk) recognise(a answer) error {
	for _, f := range Signs(harvest.Answer{URL: a.URL, Header: a.Header, Body: a.Body}) {
		w.queueListing(listing{Kind: f.Kind, URL: f.URL, Why: "the first page shows " + f.Software})
	}
	return nil
}

// queueListing notes a catalog that is to be read.
func (w *walk) queueListing(l listing) {
	for _, known := range w.listings {
		if known.URL == l.URL {
			return
		}
	}
	if len(w.listings) < maxListings {
		w.listings = append(w.listings, l)
	}
}
