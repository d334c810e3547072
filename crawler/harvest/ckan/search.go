package ckan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

const (
	solrTime    = "2006-01-02T15:04:05Z"
	maxBroken   = 20       // broken pages or packages before the harvest fails
	maxStale    = 3        // successive pages without a new package
	maxListed   = 10 << 20 // packages of one portal; no real one has as many
	changeOrder = "metadata_modified asc, id asc"
)

// Ways to page through a search.
const (
	byChange = "search" // in the order of changes, behind the last one
	byCount  = "count"  // by counting, in that order if the portal accepts it
	plain    = "plain"  // by counting, in the portal's order
)

// page is an answer to package_search.
type page struct {
	results []loose.Value
	count   int
	guessed bool // the portal says no count, or one below what it returns
}

// search requests all packages in the order of their changes or, if the portal does not keep that order, by counting.
func (c *client) search(ctx context.Context, at *position) error {
	rows, stale, answered, again := c.Source.Rows, 0, at.n > 0, false
	var lastErr error // of the last broken page
	for at.n < maxListed {
		p, err := c.requestPage(ctx, *at, rows)
		switch {
		case err == nil:
			answered = true
		case ctx.Err() != nil:
			return ctx.Err()
		case !answered && at.way != plain && refusesSort(err):
			at.way = plain
			continue
		case len(p.results) > 0: // the page breaks off
			c.Out.Skip(fmt.Sprintf("packages from number %d on: %v", at.n, err))
			lastErr = err
			if c.broken++; c.broken > maxBroken {
				return err
			}
		case isTooMuch(err) && rows > 1:
			rows = max(1, rows/4)
			continue
		case !answered:
			return hostOrWay(err)
		case isTooMuch(err) && c.broken < maxBroken:
			c.broken++
			if err := c.Out.Unknown("", fmt.Sprintf("package number %d: %v", at.n, err)); err != nil {
				return err
			}
			at.start++
			at.n++
			continue
		default:
			return err
		}
		if len(p.results) > 0 && !p.guessed {
			at.total = max(at.total, p.count) // later pages count only what follows
		}
		if err == nil && len(p.results) == 0 && at.n > 0 && at.n < at.total && !again {
			again = true // the page may come now
			continue
		}
		again = false
		before := at.n
		if err := c.emitAll(ctx, p.results, at); err != nil {
			return err
		}
		if at.n == before {
			stale++
		} else {
			stale = 0
		}
		end := err == nil && (at.start+len(p.results) >= p.count || len(p.results) == 0 && stale >= maxStale)
		switch {
		case stale >= maxStale && lastErr != nil:
			return lastErr
		case stale >= maxStale && !end:
			return fmt.Errorf("package_search gives the same packages again and again, %d of %d so far", at.n, p.count)
		case end && at.n > 0 && at.n < at.total && at.way == byChange:
			at.way, at.since, at.start = byCount, at.base, at.n // a search by change times may fail where counting does not
			continue
		}
		if end && at.n == 0 && at.base == "" {
			c.counted = p.count
			return &unusable{errEmpty} // the index may be empty though the portal is not
		}
		if end {
			if err := c.short(ctx, *at); err != nil {
				return err
			}
			return c.Out.Mark(at.mark())
		}
		at.advance(p.results, rows)
		rows = min(c.Source.Rows, rows*2)
		if err := c.Out.Mark(at.mark()); err != nil {
			return err
		}
	}
	return fmt.Errorf("package_search has no end: %d packages so far", at.n)
}

// short reports that fewer packages came than the portal counts.
func (c *client) short(ctx context.Context, at position) error {
	return portalapi.Fewer(ctx, c.Out, at.total, at.n, "packages", func() int {
		at.since, at.start = at.base, 0
		p, err := c.requestPage(ctx, at, 1)
		if err != nil || len(p.results) == 0 || p.guessed {
			return 0
		}
		return p.count
	})
}

// requestPage requests one page.
func (c *client) requestPage(ctx context.Context, at position, rows int) (page, error) {
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
	if got := at.start + len(p.results); len(p.results) > 0 && p.count < got { // continue until an empty page
		p.count, p.guessed = got+1, true
	}
	return p, err
}

// advance moves behind a page: to the change time of its last package, or by its length.
func (p *position) advance(results []loose.Value, rows int) {
	if len(results) == 0 {
		p.start += rows
		return
	}
	last, ordered := inOrder(results, p.since)
	switch {
	case p.way != byChange:
		p.start += len(results)
	case !ordered && p.since != p.base: // earlier pages seemed to be in order
		p.way, p.since, p.start = byCount, p.base, p.n
	case !ordered:
		p.way = byCount
		p.start += len(results)
	default:
		// Pages overlap by at least two seconds, so that neither comparison nor rounding loses a package.
		since := last.Truncate(time.Second).Add(-time.Second).Format(solrTime)
		if since > p.since {
			p.since, p.start = since, 0
		} else {
			p.start += len(results)
		}
	}
}

// inOrder reports whether all packages have a change time and none is earlier than the one before it, or than since. It
// returns the last of those times.
func inOrder(results []loose.Value, since string) (last time.Time, ordered bool) {
	if since != "" {
		last, _ = time.Parse(solrTime, since)
	}
	for _, r := range results {
		t, ok := harvest.ParseTime(r.Get("metadata_modified").Text())
		if !ok || t.Truncate(time.Second).Before(last.Truncate(time.Second)) {
			return last, false
		}
		last = t
	}
	return last, true
}

// emitAll hands over packages. Those that are only names are requested first.
func (c *client) emitAll(ctx context.Context, results []loose.Value, at *position) error {
	for _, r := range results {
		if name := r.Text(); name != "" {
			var err error
			if r, err = c.show(ctx, name); err != nil {
				return err
			}
		}
		if err := c.emit(r, at); err != nil {
			return err
		}
	}
	return nil
}

// emit hands over a package, unless it was before. DKAN wraps packages in lists.
func (c *client) emit(r loose.Value, at *position) error {
	for r.IsArray() && len(r.List()) == 1 {
		r = r.List()[0]
	}
	if !r.IsObject() {
		return nil
	}
	id := r.First("id", "name").Text()
	if id == "" {
		at.n++
		c.Out.Skip(fmt.Sprintf("package number %d has neither id nor name", at.n))
		return nil
	}
	if !c.seen.Add(id) {
		return nil
	}
	at.saw(r.Get("metadata_modified").Text())
	d := dataset(c.Root, r)
	if state := r.Get("state").Text(); state != "" && state != "active" || r.Get("private").Bool() {
		return c.Out.Gone(d.IRI)
	}
	return c.Out.Dataset(d)
}

// refusesSort reports whether the same search without an order may succeed.
func refusesSort(err error) bool {
	var no *refused
	var status *harvest.StatusError
	return errors.As(err, &no) && no.status != http.StatusForbidden || errors.As(err, &status) &&
		(status.Status == http.StatusBadRequest || status.Status == http.StatusConflict)
}

// isTooMuch reports whether a smaller page may succeed.
func isTooMuch(err error) bool {
	var status *harvest.StatusError
	var no *refused
	var broken *loose.Error
	return errors.As(err, &status) && status.Status >= 500 || errors.As(err, &no) && no.status >= 500 || errors.As(err, &broken) ||
		errors.Is(err, harvest.ErrTooLong)
}

// hostOrWay makes err unusable if it concerns the way, not the host.
func hostOrWay(err error) error {
	if skippable(err) {
		return &unusable{err}
	}
	return err
}
