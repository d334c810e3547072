package sitemap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
)

const (
	maxDepth = 5      // nested indexes; the protocol allows one
	maxFiles = 50_000 // sitemaps per site
)

// Place is a position in a walk over sitemaps.
type Place struct {
	Sitemap string `json:"sitemap,omitempty"` // current one of those that the first document lists
	Entry   int    `json:"entry,omitempty"`   // number of entries done
}

// ParsePlace parses what Place.String returned. For anything else, it returns the beginning.
func ParsePlace(mark string) Place {
	var p Place
	if json.Unmarshal([]byte(mark), &p) != nil {
		return Place{}
	}
	return p
}

func (p Place) String() string {
	text, _ := json.Marshal(p) // cannot fail
	return string(text)
}

// Walk visits every entry of the sitemaps at an address (a sitemap, an index, a feed, a list of addresses or a
// robots.txt, which may be compressed) from a place on. The Place passed to visit is that behind the entry. Walk
// reports unreadable sitemaps of an index to skip and continues; if the first document is unreadable, it returns an
// error.
func Walk(ctx context.Context, doer harvest.Doer, address string, from Place, visit func(Entry, Place) error, skip func(string)) error {
	_, err := WalkUnless(ctx, doer, address, "", from, visit, skip)
	return err
}

// WalkUnless is Walk, unless the first document still has the version of a tag, which is a harvest.ErrNotModified. It
// returns the tag of the first document if there is no other document.
func WalkUnless(ctx context.Context, doer harvest.Doer, address, tag string, from Place, visit func(Entry, Place) error,
	skip func(string)) (string, error) {
	w := &walk{ctx: ctx, doer: doer, visit: visit, skip: skip, unless: tag}
	return w.all(address, from)
}

// all walks, and returns what WalkUnless does.
func (w *walk) all(address string, from Place) (string, error) {
	w.seen, w.lost = map[string]bool{}, ""
	err := w.document(address, from, 0)
	if len(w.seen) > 1 {
		w.tag = ""
	}
	return w.tag, err
}

// walk is the state of Walk.
type walk struct {
	ctx   context.Context
	doer  harvest.Doer
	visit func(Entry, Place) error
	skip  func(string)
	seen  map[string]bool
	at    Place
	from  Place  // entries before it are done
	lost  string // why the first of the documents that were not read to their end was not

	unless, tag string // of the first document: the known version, and the one read
}

// visitError is an error of the visit function.
type visitError struct{ error }

func (e visitError) Unwrap() error { return e.error }

// document reads a document, and then the sitemaps that it lists.
func (w *walk) document(address string, from Place, depth int) error {
	if depth == 0 {
		w.from, w.at = from, Place{}
	}
	if w.seen[address] {
		return nil
	}
	if len(w.seen) >= maxFiles {
		return fmt.Errorf("sitemap: more than %d sitemaps", maxFiles)
	}
	w.seen[address] = true
	answer, err := harvest.Ask(w.ctx, w.doer,
		harvest.Request{URL: address, Accept: "application/xml, text/xml, text/plain;q=0.9, */*;q=0.5", Max: maxBody, Raw: true,
			Unless: w.unless})
	w.unless = ""
	if err != nil {
		return fmt.Errorf("sitemap: %w", err)
	}
	if depth == 0 {
		w.tag = harvest.Tag(answer.Header)
	}
	var below []string
	err = parse(answer.Body, list{
		entry: func(e Entry) error {
			if e.URL = resolve(answer.URL, e.URL); e.URL == "" {
				return nil
			}
			if w.at.Entry++; w.at.Sitemap == w.from.Sitemap && w.at.Entry <= w.from.Entry {
				return nil // an earlier walk visited it
			}
			if err := w.visit(e, w.at); err != nil {
				return visitError{err}
			}
			return w.ctx.Err()
		},
		sitemap: func(s string) error {
			if s = resolve(answer.URL, s); s != "" && len(below) < maxFiles {
				below = append(below, s)
			}
			return nil
		},
	})
	var mine visitError
	switch {
	case errors.As(err, &mine):
		return mine.error
	case err != nil && w.ctx.Err() != nil:
		return w.ctx.Err()
	case err != nil && depth == 0 && len(below) == 0 && w.at.Entry == 0:
		return fmt.Errorf("sitemap: %s: %w", address, err)
	case err != nil:
		w.lose(fmt.Sprintf("%s: %v", address, err))
	}
	return w.children(below, depth)
}

func (w *walk) children(below []string, depth int) error {
	if len(below) > 0 && depth >= maxDepth {
		w.skip(fmt.Sprintf("sitemaps are nested more than %d deep", maxDepth))
		return nil
	}
	begin := 0
	if depth == 0 && w.from.Sitemap != "" {
		for i, s := range below {
			if s == w.from.Sitemap {
				begin = i
			}
		}
	}
	for _, s := range below[begin:] {
		if depth == 0 {
			w.at = Place{Sitemap: s}
		}
		err := w.document(s, w.from, depth+1)
		var status *harvest.StatusError
		switch {
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
			w.skip(err.Error())
		case errors.As(err, &status), err != nil && strings.HasPrefix(err.Error(), "sitemap: "):
			w.lose(err.Error())
		case err != nil:
			return err
		}
	}
	return nil
}

// lose skips the rest of a document, which may list anything.
func (w *walk) lose(why string) {
	w.lost = cmp.Or(w.lost, why)
	w.skip(why)
}

// resolve resolves an address against its document. It returns "" if the result cannot be fetched.
func resolve(base, address string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp") {
		return ""
	}
	return u.String()
}
