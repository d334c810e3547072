// Package ckan harvests CKAN and what speaks its interface (DKAN among others), in all versions there have been.
//
// It asks for the packages in the order of their last change and goes on behind the last one by its time, not by counting:
// a package that changes meanwhile moves to the end instead of pushing another one off its page, a harvest that was cut off
// goes on where it was, and the next one asks for what changed since. Where a portal does not keep to that order it is
// paged by counting; where it does not let itself be searched, all packages are listed and shown: in lists with resources,
// one by one, or through the first versions' REST interface. One whole harvest a week notices what was deleted.
//
// https://docs.ckan.org/en/latest/api/ describes the interface; what portals make of it is in the tests.
package ckan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
)

// Source is one portal.
type Source struct {
	URL    string // of the portal, or of anything in its interface
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int              // packages a page, 0 = 200
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// Harvest implements harvest.Harvester.
//
// Marks: way (how packages are asked for), since and start (behind which time, how many of those), n (packages so far), base (changes
// since then are asked for; none in a whole harvest), after (the last name of a list), top (the newest change so far), whole (when
// the last whole harvest began).
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/dataset", "/organization", "/group")
	if err != nil {
		return fmt.Errorf("ckan: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 200), seed: maphash.MakeSeed(), seen: map[uint64]bool{}, out: out}
	at := begin(from, s.Since, portalapi.Now(s.Now))
	portal, err := c.describe(ctx)
	if err != nil {
		return fmt.Errorf("ckan: %w", err)
	}
	portal.IRI = cmp.Or(s.Portal, portal.IRI)
	c.portal = portal.IRI
	if err := out.Portal(portal, at.base == ""); err != nil {
		return err
	}
	if err := c.packages(ctx, &at); err != nil {
		return fmt.Errorf("ckan: %w", err)
	}
	if at.top != "" && at.whole != "" {
		out.Next(portalapi.MarkOf("next", at.top, "whole", at.whole).String())
	}
	return nil
}

// position in a harvest, as marks have it.
type position struct {
	way, since, base, after, top, whole string
	start, n                            int
}

// begin or go on.
func begin(token, since string, now time.Time) position {
	m := portalapi.Begin(token, since, now)
	if m.Get("way") != "" {
		return position{m.Get("way"), m.Get("since"), m.Get("base"), m.Get("after"), m.Get("top"), m.Get("whole"), m.Int("start"), m.Int("n")}
	}
	p := position{top: m.Get("top"), whole: m.Get("whole")}
	if since, ok := portalapi.Time(m.Get("since")); ok {
		p.base = since.Format(solrTime)
		p.since = p.base
	}
	return p
}

func (p position) mark() string {
	return portalapi.MarkOf("way", p.way, "since", p.since, "base", p.base, "after", p.after, "top", p.top, "whole", p.whole,
		"start", fmt.Sprint(p.start), "n", fmt.Sprint(p.n)).String()
}

// way is one way to come by all packages.
type way struct {
	name string
	run  func(context.Context, *position) error
}

// packages by the first way that works, or the one that was begun.
func (c *client) packages(ctx context.Context, at *position) error {
	ways := []way{{byChange, c.search}, {"current", c.current}, {"list", c.list}, {"rest", c.rest}}
	var first error
	for _, w := range ways {
		if at.way != "" && at.way != w.name && !(w.name == byChange && (at.way == byCount || at.way == plain)) {
			continue
		}
		if at.way == "" {
			at.way = w.name
		}
		err := w.run(ctx, at)
		var useless *unusable
		if !errors.As(err, &useless) || ctx.Err() != nil {
			return err
		}
		first = cmp.Or(first, useless.why)
		*at = position{whole: at.whole, top: at.top}
	}
	if errors.Is(first, errEmpty) {
		return nil
	}
	return first
}

// errEmpty is a way that lists no packages: there may be none.
var errEmpty = errors.New("the portal lists no packages")

// unusable is a way that gave nothing: another may.
type unusable struct{ why error }

func (u *unusable) Error() string { return u.why.Error() }
