// Package ckan harvests CKAN and software with the same API, such as DKAN, in all its versions.
//
// It requests packages in the order of their last change and continues behind the time of the last one, not by
// counting: a package that changes meanwhile moves to the end and pushes no other off its page, an interrupted harvest
// continues where it ended, and the next one asks for changes only. If a portal does not keep that order, pages are
// counted. If it refuses searches, all packages are listed: with their resources, by name, or through the REST API of
// the first versions. Deletions are found by the number of packages, by their names, and by a weekly whole harvest.
//
// https://docs.ckan.org/en/latest/api/ describes the API; the tests show what portals make of it.
package ckan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
)

// New returns the harvester of one portal.
//
// Its marks consist of: way (how packages are requested), since and start (behind which change time, and how many of
// those), n (packages so far), total (those that the portal counts), base (only changes since then are requested; empty
// in a whole harvest), after (the last name of a list), top (the latest change so far), whole (when the last whole
// harvest began).
func New(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "ckan", Name: "CKAN", Paths: []string{"/api", "/dataset", "/organization", "/group"}, Rows: 200,
		Run: run, Count: count, Names: names,
	}, s)
}

func run(ctx context.Context, h *portalapi.Harvest) error {
	c := &client{Harvest: h}
	at := positionOf(h.Mark)
	if err := c.describe(ctx); err != nil {
		return err
	}
	if err := c.Out.Portal(c.Portal, at.base == ""); err != nil {
		return err
	}
	if err := c.packages(ctx, &at); err != nil {
		return err
	}
	if at.top != "" && at.whole != "" {
		c.Out.Next(portalapi.MarkOf("next", at.top, "whole", at.whole).String())
	}
	return nil
}

// count asks a search for its total or, if the portal refuses searches, for the list of names.
func count(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	c := &client{Harvest: h}
	found, err := c.action(ctx, "package_search", url.Values{"rows": {"0"}})
	if n, ok := portalapi.Total(found, err, []string{"count"}); ok || err != nil && !skippable(err) {
		return n, ok
	}
	names, err := c.names(ctx)
	return len(names), err == nil
}

// names asks for the list of names, which also has packages that searches leave out, such as sources of harvests.
func names(ctx context.Context, h *portalapi.Harvest) ([]string, bool) {
	c := &client{Harvest: h}
	list, err := c.action(ctx, "package_list", nil)
	found := list.Texts()
	for i, name := range found {
		found[i] = datasetIRI(c.Root, name)
	}
	return found, err == nil
}

func datasetIRI(root, name string) string { return root + "/dataset/" + url.PathEscape(name) }

// position is a mark's position in a harvest.
type position struct {
	way, since, base, after, top, whole string
	start, n                            int
	total                               int // packages that the portal says that it lists
}

// positionOf returns the position of a mark, which is the beginning if the mark has no way.
func positionOf(m portalapi.Mark) position {
	if m.Get("way") != "" {
		return position{m.Get("way"), m.Get("since"), m.Get("base"), m.Get("after"), m.Get("top"), m.Get("whole"), m.Int("start"),
			m.Int("n"), m.Int("total")}
	}
	p := position{top: m.Get("top"), whole: m.Get("whole")}
	if since, ok := harvest.ParseTime(m.Get("since")); ok {
		p.base = since.Format(solrTime)
		p.since = p.base
	}
	return p
}

func (p position) mark() string {
	m := portalapi.MarkOf("way", p.way, "since", p.since, "base", p.base, "after", p.after, "top", p.top, "whole", p.whole,
		"start", fmt.Sprint(p.start), "n", fmt.Sprint(p.n))
	if p.total > 0 {
		m.Set("total", fmt.Sprint(p.total))
	}
	return m.String()
}

// saw counts a package and notes the time of its change.
func (p *position) saw(modified string) {
	p.n++
	if changed, ok := harvest.ParseTime(modified); ok {
		if latest, ok := harvest.ParseTime(p.top); !ok || changed.After(latest) {
			p.top = changed.Format(time.RFC3339)
		}
	}
}

// way is one way to get all packages.
type way struct {
	name string
	run  func(context.Context, *position) error
}

// packages gets all packages in the way of the position, or else the first way that works.
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
		if at.base != "" && c.Source.Since == "" { // other ways list all packages
			if err := c.Out.Portal(c.Portal, true); err != nil {
				return err
			}
		}
		*at = position{whole: at.whole, top: at.top}
	}
	if errors.Is(first, errEmpty) && c.counted > 0 {
		return c.Out.Unknown("", fmt.Sprintf("the portal says that it lists %d packages but returned 0", c.counted))
	}
	if errors.Is(first, errEmpty) {
		return nil
	}
	return first
}

// errEmpty is the error of a way that lists no packages. The portal may have none.
var errEmpty = errors.New("the portal lists no packages")

// unusable is the error of a way that returned nothing. Another way may work.
type unusable struct{ why error }

func (u *unusable) Error() string { return u.why.Error() }
