package ckan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

const (
	solrTime    = "2006-01-02T15:04:05Z"
	mostBroken  = 20       // pages or packages that may be broken before a portal is given up
	mostStale   = 3        // pages without anything new
	mostListed  = 10 << 20 // packages of one portal: no real one has as many
	changeOrder = "metadata_modified asc, id asc"
)

// Ways to page a search.
const (
	byChange = "search" // in the order of changes, behind the last one
	byCount  = "count"  // by counting, in that order if the portal will
	plain    = "plain"  // by counting, in whatever order
)

// page of an answer to package_search.
type page struct {
	results []loosejson.Value
	count   int
}

// search all packages, in the order of their change or, where the portal does not keep to it, by counting.
func (c *client) search(ctx context.Context, at *position) error {
	rows, stale, answered := c.rows, 0, at.n > 0
	var trouble error // of the last broken page
	for at.n < mostListed {
		p, err := c.searched(ctx, *at, rows)
		switch {
		case err == nil:
			answered = true
		case ctx.Err() != nil:
			return ctx.Err()
		case !answered && at.way != plain && refusesSort(err):
			at.way = plain
			continue
		case len(p.results) > 0: // the beginning of a page that breaks off
			c.out.Skip(fmt.Sprintf("packages from number %d on: %v", at.n, err))
			trouble = err
			if c.broken++; c.broken > mostBroken {
				return err
			}
		case smaller(err) && rows > 1:
			rows = max(1, rows/4)
			continue
		case !answered:
			return hostOrWay(err)
		case smaller(err) && c.broken < mostBroken:
			c.broken++
			if err := c.out.Unknown("", fmt.Sprintf("package number %d: %v", at.n, err)); err != nil {
				return err
			}
			at.start++
			at.n++
			continue
		default:
			return err
		}
		before := at.n
		if err := c.hand(ctx, p.results, at); err != nil {
			return err
		}
		if at.n == before {
			stale++
		} else {
			stale = 0
		}
		end := err == nil && (at.start+len(p.results) >= p.count || len(p.results) == 0 && stale >= mostStale)
		switch {
		case stale >= mostStale && trouble != nil:
			return trouble
		case stale >= mostStale && !end:
			return fmt.Errorf("package_search gives the same packages again and again, %d of %d so far", at.n, p.count)
		case end && len(p.results) == 0 && (p.count > at.start || at.way != byChange && p.count > at.n):
			if err := c.out.Unknown("", fmt.Sprintf("the portal says that it lists %d packages and gave %d", p.count, at.n)); err != nil {
				return err
			}
		}
		if end && at.n == 0 && at.base == "" {
			return &unusable{errEmpty} // the index may be empty where the portal is not
		}
		if end {
			return c.out.Mark(at.mark())
		}
		at.advance(p.results, rows)
		rows = min(c.rows, rows*2)
		if err := c.out.Mark(at.mark()); err != nil {
			return err
		}
	}
	return fmt.Errorf("package_search has no end: %d packages so far", at.n)
}

// searched is one page.
func (c *client) searched(ctx context.Context, at position, rows int) (page, error) {
	query := url.Values{"rows": {fmt.Sprint(rows)}, "start": {fmt.Sprint(at.start)}}
	if at.way != plain {
		query.Set("sort", changeOrder)
	}
	if at.since != "" {
		query.Set("fq", "metadata_modified:["+at.since+" TO *]")
	}
	result, err := c.action(ctx, "package_search", query)
	p := page{results: result.Get("results").List(), count: int(result.Get("count").Int())}
	if result.IsArray() {
		p = page{results: result.List(), count: len(result.List())}
	}
	if err == nil && result.Get("results").IsNull() && !result.IsArray() {
		err = &refused{action: "package_search", message: "the answer has no results"}
	}
	if p.count == 0 && len(p.results) > 0 { // not said: go on until an empty page
		p.count = at.start + len(p.results) + 1
	}
	return p, err
}

// advance behind a page: to the time of its last package, or by its length.
func (p *position) advance(results []loosejson.Value, rows int) {
	if len(results) == 0 {
		p.start += rows
		return
	}
	last, ordered := inOrder(results, p.since)
	switch {
	case p.way != byChange:
		p.start += len(results)
	case !ordered && p.since != p.base: // so far it was in order, or seemed to be
		p.way, p.since, p.start = byCount, p.base, p.n
	case !ordered:
		p.way = byCount
		p.start += len(results)
	default:
		// Two seconds at least stay in common, so that it matters neither how a portal compares nor how it rounds.
		since := last.Truncate(time.Second).Add(-time.Second).Format(solrTime)
		if since > p.since {
			p.since, p.start = since, 0
		} else {
			p.start += len(results)
		}
	}
}

// inOrder tells whether all packages carry a time, not before the last one and since. It gives the last.
func inOrder(results []loosejson.Value, since string) (last time.Time, ordered bool) {
	if since != "" {
		last, _ = time.Parse(solrTime, since)
	}
	for _, r := range results {
		t, ok := portalapi.Time(r.Get("metadata_modified").Text())
		if !ok || t.Truncate(time.Second).Before(last.Truncate(time.Second)) {
			return last, false
		}
		last = t
	}
	return last, true
}

// hand over packages that were not seen yet; names alone are shown first.
func (c *client) hand(ctx context.Context, results []loosejson.Value, at *position) error {
	for _, r := range results {
		for r.IsArray() && len(r.List()) == 1 { // DKAN
			r = r.List()[0]
		}
		if name := r.Text(); name != "" {
			var err error
			if r, err = c.show(ctx, name); err != nil {
				return err
			}
		}
		if err := c.handOne(r, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) handOne(r loosejson.Value, at *position) error {
	if !r.IsObject() {
		return nil
	}
	id := r.First("id", "name").Text()
	if id == "" {
		at.n++
		c.out.Skip(fmt.Sprintf("package number %d has neither id nor name", at.n))
		return nil
	}
	if !c.first(id) {
		return nil
	}
	at.n++
	if changed, ok := portalapi.Time(r.Get("metadata_modified").Text()); ok {
		if newest, ok := portalapi.Time(at.top); !ok || changed.After(newest) {
			at.top = changed.Format(time.RFC3339)
		}
	}
	d := c.dataset(r)
	if state := r.Get("state").Text(); state != "" && state != "active" || r.Get("private").Bool() {
		return c.out.Gone(d.IRI)
	}
	return c.out.Dataset(d)
}

// refusesSort tells that another question may be answered.
func refusesSort(err error) bool {
	var no *refused
	var status *harvest.StatusError
	return errors.As(err, &no) && no.status != http.StatusForbidden || errors.As(err, &status) && (status.Status == http.StatusBadRequest || status.Status == http.StatusConflict)
}

// smaller tells that less at a time may go well.
func smaller(err error) bool {
	var status *harvest.StatusError
	var no *refused
	var broken *loosejson.Error
	return errors.As(err, &status) && status.Status >= 500 || errors.As(err, &no) && no.status >= 500 || errors.As(err, &broken) || errors.Is(err, harvest.ErrTooLong)
}

// hostOrWay tells trouble of the host from trouble with the way.
func hostOrWay(err error) error {
	if passOver(err) {
		return &unusable{err}
	}
	return err
}
