package websub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/crawler/hints"

	"golang.org/x/sync/errgroup"
)

const (
	roundEvery = time.Minute
	atOnce     = 4 // requests to hubs
	askFor     = 5 * time.Minute
)

// Keep asks hubs, and gives hints again that came too soon after a visit, until ctx ends. While held returns a reason, it does
// nothing.
func (s *Subscriber) Keep(ctx context.Context, held func() string) error {
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	for {
		if held() == "" {
			if err := s.Round(ctx); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-s.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Round does what is to be done now. A hub that fails is no error.
func (s *Subscriber) Round(ctx context.Context) error {
	now := s.o.Clock()
	var due, again []string
	s.mu.Lock()
	for id, one := range s.all {
		if !one.Next.After(now) || !s.o.On && one.State != Leaving {
			due = append(due, id)
		}
		if !one.Again.IsZero() && !one.Again.After(now) {
			again = append(again, id)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(due, func(a, b string) int { return cmp.Compare(a, b) })
	for _, id := range again {
		if err := s.giveAgain(ctx, id); err != nil {
			return err
		}
	}
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(atOnce)
	for _, id := range due {
		asking.Go(func() error { return s.attend(ctx, id) })
	}
	return asking.Wait()
}

// giveAgain gives the last delivery of a subscription as a hint again.
func (s *Subscriber) giveAgain(ctx context.Context, id string) error {
	one := s.get(id)
	if one == nil {
		return nil
	}
	moved, err := s.o.Hints.Give(ctx, sourceOf(one), one.changed(one.Told))
	if err != nil {
		return err
	}
	return s.change(ctx, id, func(one *subscription) bool {
		one.Again, one.Moved = time.Time{}, one.Moved+moved
		return true
	})
}

// sourceOf is the name under which the hub of a site's topics gives hints.
func sourceOf(one *subscription) string { return "the hub of " + one.Site }

// changed returns the hints that the topic has changed.
func (one *subscription) changed(at time.Time) []hints.Hint {
	list := []hints.Hint{{URL: one.Page, Modified: at}}
	if one.Topic != one.Page {
		list = append(list, hints.Hint{URL: one.Topic, Modified: at})
	}
	return list
}

// attend subscribes, renews or unsubscribes.
func (s *Subscriber) attend(ctx context.Context, id string) error {
	one := s.get(id)
	if one == nil {
		return nil
	}
	if one.State != Leaving && (!s.o.On || !s.visited(one.Page)) {
		if err := s.leave(ctx, id); err != nil {
			return err
		}
		if one = s.get(id); one == nil {
			return nil
		}
	}
	mode, kept := "subscribe", true
	now := s.o.Clock()
	if err := s.change(ctx, id, func(one *subscription) bool { // before the hub is asked, because it may verify at once
		switch {
		case one.State == Leaving && one.Failures >= maxPartings, one.Failures >= maxFailures:
			kept = false
			return false
		case one.State == Leaving:
			mode = "unsubscribe"
		case one.State == Denied, one.State == Active && !one.Lease.After(now):
			one.State = Wanted
		}
		one.Asked, one.Next = now, now.Add(min(minRenew<<one.Failures, maxPause))
		one.Failures++ // until the hub verifies
		return true
	}); err != nil || !kept {
		return err
	}
	err := s.ask(ctx, id, mode, one)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	why := ""
	if err != nil {
		why = fmt.Sprintf("%.*s", maxWhy, s.conceal(id, one, err.Error()))
		s.o.Log.Info("a hub was asked in vain", "mode", mode, "topic", one.Topic, "hub", one.Hub, "error", why)
	}
	return s.change(ctx, id, func(one *subscription) bool {
		if one.Asked.Equal(now) && one.Failures > 0 {
			one.Why = why
		}
		return true
	})
}

// visited reports whether a URL is visited: it may have been dropped since.
func (s *Subscriber) visited(page string) bool {
	u, err := s.o.Frontier.Get(page)
	return err == nil && !u.Blacklisted || err != nil && !errors.Is(err, frontier.ErrUnknown)
}

// conceal removes what only the hub may know from a text.
func (s *Subscriber) conceal(id string, one *subscription, text string) string {
	return strings.ToValidUTF8(strings.NewReplacer(id, "…", one.Secret, "…").Replace(text), "?")
}

// ask sends a request to a hub.
func (s *Subscriber) ask(ctx context.Context, id, mode string, one *subscription) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	form := url.Values{"hub.callback": {s.o.Base + "websub/" + id}, "hub.mode": {mode}, "hub.topic": {one.Topic}}
	if mode == "subscribe" {
		form.Set("hub.secret", one.Secret)
		form.Set("hub.lease_seconds", fmt.Sprint(int(leaseWanted.Seconds())))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, one.Hub, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.o.Client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxWhy))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("the hub answers %d: %q", resp.StatusCode, said)
	}
	return nil
}
