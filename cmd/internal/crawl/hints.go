package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"odarchive/crawler/queue/hints"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/politeness"

	"golang.org/x/sync/errgroup"
)

// sitemapsEvery is how often hosts are looked for whose sitemaps are to be read, sitemapsInTurn how many are read then,
// and sitemapsAtOnce how many at the same time.
const (
	sitemapsEvery  = 5 * time.Minute
	sitemapsInTurn = 1000
	sitemapsAtOnce = 8
)

// keepHinted reads the sitemaps of hosts, each about once a day, until ctx ends.
func (c *Crawl) keepHinted(ctx context.Context) error {
	tick := time.NewTicker(sitemapsEvery)
	defer tick.Stop()
	for {
		if err := c.readSitemaps(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readSitemaps reads the sitemaps that are to be read now, unless the crawl is on hold.
func (c *Crawl) readSitemaps(ctx context.Context) error {
	if c.Frontier.Held() != "" {
		return nil
	}
	groups, _, err := c.Hints.Due(sitemapsInTurn)
	if err != nil {
		return err
	}
	readers, ctx := errgroup.WithContext(ctx)
	readers.SetLimit(sitemapsAtOnce)
	for _, group := range groups {
		readers.Go(func() error { return supervise.Contain(func() error { return c.readSitemapsOf(ctx, group) }) })
	}
	return readers.Wait()
}

// readSitemapsOf reads the sitemaps of one host, unless the crawl is on hold.
func (c *Crawl) readSitemapsOf(ctx context.Context, group string) error {
	if ctx.Err() != nil || c.Frontier.Held() != "" {
		return nil
	}
	entries, moved, err := c.Hints.Check(ctx, group)
	if err != nil {
		return err
	}
	c.store.Log.Info("sitemaps read", "host", group, "entries", entries, "visits brought forward", moved)
	return nil
}

// sitemapDoer returns what asks for the sitemaps of a host. Nobody has named their addresses but robots.txt, so its
// rules apply.
func (c *Crawl) sitemapDoer(string) hints.Doer {
	return &http.Client{Transport: &obedient{c, c.politeTransport(scope.Crawl)}}
}

// obedient is a transport that obeys robots.txt.
type obedient struct {
	c    *Crawl
	next *politeness.Transport
}

// RoundTrip implements http.RoundTripper.
func (o *obedient) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := o.c.obey(r.Context(), r.URL.String()); err != nil {
		return nil, err
	}
	return o.next.RoundTrip(r)
}

// maxObey is how long a request waits until it is known what a robots.txt allows.
const maxObey = time.Minute

// obey returns an error if a robots.txt does not allow a URL.
func (c *Crawl) obey(ctx context.Context, link string) error {
	for {
		verdict, err := c.Gate.Robots.Allowed(ctx, link)
		var wait *politeness.Wait
		switch {
		case errors.As(err, &wait) && time.Until(wait.Until) < maxObey:
			timer := time.NewTimer(max(time.Until(wait.Until), time.Millisecond))
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
				return context.Cause(ctx)
			}
		case err != nil:
			return err
		case !verdict.Allowed:
			return fmt.Errorf("%s: robots.txt: %s", link, verdict.Reason)
		}
		return nil
	}
}
