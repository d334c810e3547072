package hints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/sitemap"
	"odarchive/crawler/queue/supervise"
	"odarchive/triplestore/kv"
)

// Doer sends requests.
type Doer = harvest.Doer

// site is a host whose robots.txt names sitemaps.
type site struct {
	Sitemaps []string          `json:"sitemaps"`
	Tags     map[string]string `json:"tags,omitempty"` // versions of the documents that were read, by address
	Next     time.Time         `json:"next"`           // when they are read again
	Failures int               `json:"failures,omitempty"`
	Why      string            `json:"why,omitempty"` // of the last failure
}

// Limits of the sitemaps of one host.
const (
	maxSitemaps = 5 // that robots.txt names; further ones are ignored
	maxAddress  = 1000
	checkEvery  = 24 * time.Hour
	checkLiars  = 7 * 24 * time.Hour // for hosts that are not believed
	maxPause    = 30 * 24 * time.Hour
	maxRequests = 20               // for one check
	maxBytes    = 64 << 20         // for one check
	maxTime     = 10 * time.Minute // for one check, with the pauses of the hosts
	maxNoted    = 10_000           // hosts in memory
	perGive     = 500              // entries that are looked up together
)

// Note notes the sitemaps that the robots.txt of a host names. Most calls read and write nothing. It may be called on
// nil.
func (h *Hints) Note(ctx context.Context, group string, sitemaps []string) error {
	if h == nil || len(sitemaps) == 0 || h.DB.ReadOnly() {
		return nil
	}
	var list []string
	for _, s := range sitemaps {
		if _, err := address.Parse(s); err == nil && len(s) <= maxAddress && len(list) < maxSitemaps {
			list = append(list, s)
		}
	}
	all := strings.Join(list, "\n")
	h.mu.Lock()
	same := h.noted[group] == all
	if h.noted == nil || len(h.noted) > maxNoted {
		h.noted = map[string]string{}
	}
	h.noted[group] = all
	h.mu.Unlock()
	if same || len(list) == 0 {
		return nil
	}
	var before site
	err := h.DB.View(func(txn *kv.Txn) error { _, err := load(txn, key(tableSite, group), &before); return err })
	if err != nil || strings.Join(before.Sitemaps, "\n") == all {
		return err
	}
	err = h.DB.Update(ctx, func(txn *kv.Txn) error {
		s := site{Sitemaps: list, Next: h.Clock()}
		return save(txn, key(tableSite, group), s)
	})
	if err != nil {
		return fmt.Errorf("hints: %w", err)
	}
	return nil
}

// Due returns at most n hosts whose sitemaps are to be read, and when the next one is; the zero time if there is none.
func (h *Hints) Due(n int) (groups []string, next time.Time, err error) {
	now := h.Clock()
	err = h.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHints, []byte{tableSite}, nil, func(k, _ []byte) (bool, error) {
			var s site
			group := string(k[1:])
			if _, err := load(txn, key(tableSite, group), &s); err != nil {
				return false, err
			}
			switch {
			case !s.Next.After(now):
				groups = append(groups, group)
			case next.IsZero() || s.Next.Before(next):
				next = s.Next
			}
			return len(groups) < n, nil
		})
	})
	if err != nil {
		return nil, next, fmt.Errorf("hints: %w", err)
	}
	return groups, next, nil
}

// Check reads the sitemaps of a host and gives their hints. It returns how many entries they have, and how many visits
// were brought forward. A sitemap that cannot be read makes the next check later, and is not an error.
func (h *Hints) Check(ctx context.Context, group string) (entries, moved int, err error) {
	var s site
	if err := h.DB.View(func(txn *kv.Txn) error { _, err := load(txn, key(tableSite, group), &s); return err }); err != nil {
		return 0, 0, fmt.Errorf("hints: %w", err)
	}
	c := &check{h: h, ctx: ctx, group: group, tags: map[string]string{}}
	timed, end := context.WithTimeoutCause(ctx, maxTime, errTime)
	defer end()
	reading, stop := context.WithCancelCause(timed)
	defer stop(nil)
	doer := &limited{from: h.Doer(group), requests: maxRequests, bytes: maxBytes, over: func() { stop(errLimit) }}
	var failed error
	for _, address := range s.Sitemaps {
		var tag string
		err := supervise.Contain(func() (err error) { // no document may keep the others from being read
			tag, err = sitemap.WalkUnless(reading, doer, address, s.Tags[address], sitemap.Place{}, c.entry, func(string) {})
			return err
		})
		if err == nil {
			err = c.flush()
		}
		switch {
		case ctx.Err() != nil:
			return c.entries, c.moved, context.Cause(ctx)
		case errors.Is(err, harvest.ErrNotModified):
			tag = s.Tags[address]
		case c.err != nil: // of the database
			return c.entries, c.moved, c.err
		case err != nil:
			failed = cmp.Or(context.Cause(reading), err)
			_ = c.flush() // what was read before the fault counts
			continue
		}
		if tag != "" && len(tag) <= maxAddress {
			c.tags[address] = tag
		}
	}
	if c.err != nil {
		return c.entries, c.moved, c.err
	}
	s.Tags = c.tags
	every := checkEvery
	if trusted, err := h.trusts(sourceOfSitemaps(group)); err != nil {
		return c.entries, c.moved, err
	} else if !trusted {
		every = checkLiars
	}
	s.reschedule(group, h.Clock(), every, failed)
	if err := h.DB.Update(ctx, func(txn *kv.Txn) error { return save(txn, key(tableSite, group), s) }); err != nil {
		return c.entries, c.moved, fmt.Errorf("hints: %w", err)
	}
	return c.entries, c.moved, nil
}

// sourceOfSitemaps is the name under which the sitemaps of a host give hints.
func sourceOfSitemaps(group string) string { return "the sitemaps of " + group }

// reschedule sets when the sitemaps are read again: at another hour for each host, and more rarely after failures.
func (s *site) reschedule(group string, now time.Time, pause time.Duration, failed error) {
	if failed != nil {
		s.Failures++
		s.Why = fmt.Sprintf("%.300v", failed)
		pause = min(pause<<min(s.Failures, 6), maxPause)
	} else {
		s.Failures, s.Why = 0, ""
	}
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, group)
	s.Next = now.Add(pause + time.Duration(sum.Sum64()%uint64(checkEvery/8)))
}

// check is one reading of a host's sitemaps.
type check struct {
	h       *Hints
	ctx     context.Context
	group   string
	list    []Hint
	entries int
	moved   int
	tags    map[string]string
	err     error
}

// entry takes an entry of a sitemap. Entries of other hosts are ignored: who runs a site speaks for that site only.
func (c *check) entry(e sitemap.Entry, _ sitemap.Place) error {
	u, err := address.Parse(e.URL)
	if err != nil || u.Group() != c.group {
		return nil
	}
	c.entries++
	one := Hint{URL: e.URL, Modified: NotAfter(harvest.ParseEnd(e.Modified), c.h.Clock()), Period: harvest.PeriodOf(e.Frequency)}
	if one.Modified.IsZero() && one.Period == 0 {
		return nil
	}
	if c.list = append(c.list, one); len(c.list) < perGive {
		return nil
	}
	return c.flush()
}

func (c *check) flush() error {
	if len(c.list) == 0 {
		return nil
	}
	n, err := c.h.Give(c.ctx, sourceOfSitemaps(c.group), c.list)
	c.moved += n
	c.list = c.list[:0]
	if err != nil {
		c.err = err
	}
	return err
}

// NotAfter returns the time of a change as far as it can be believed: zero if it is more than a day in the future, and
// at most now.
func NotAfter(t, now time.Time) time.Time {
	switch {
	case t.After(now.Add(24 * time.Hour)):
		return time.Time{}
	case t.After(now):
		return now
	}
	return t
}

// limited sends a number of requests, and reads a number of bytes from their answers.
type limited struct {
	from     Doer
	requests int
	bytes    int64
	over     func() // is called when a limit is reached, so that nothing is tried again
}

var errTime = errors.New("the sitemaps of the host take too long to read")

var errLimit = errors.New("the sitemaps of the host are too many or too large")

func (l *limited) Do(r *http.Request) (*http.Response, error) {
	if l.requests <= 0 || l.bytes <= 0 {
		l.over()
		return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: errLimit}
	}
	l.requests--
	resp, err := l.from.Do(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, l}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	l *limited
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.l.bytes <= 0 {
		b.l.over()
		return 0, errLimit
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.l.bytes)])
	b.l.bytes -= int64(n)
	return n, err
}
