package websub

import (
	"context"
	"crypto/rand"
	"net/http"

	"odarchive/crawler/address"
)

// Wants reports whether the beginning of bodies should be passed to Note.
func (s *Subscriber) Wants() bool { return s != nil && s.o.On && !s.o.DB.ReadOnly() }

// Note notes the hub that a visit of a known URL found, or that there is none any more. head is the beginning of the body if it
// is a feed or a page; base is the URL that answered. A response that has no body (unchanged) does not end a subscription.
// Most calls write nothing.
func (s *Subscriber) Note(ctx context.Context, page, base string, h http.Header, head []byte, unchanged bool) error {
	if !s.Wants() {
		return nil
	}
	hub, topic, found := Find(h, head, base)
	site, ok := siteOf(page)
	if found {
		at, known := siteOf(topic)
		found = ok && known && at == site // who runs a site speaks for that site only
	}
	if found {
		if _, err := address.Parse(hub); err != nil {
			found = false
		}
	}
	s.mu.Lock()
	id := s.byPage[page]
	if found && id == "" {
		id = s.byTopic[topic]
	}
	before := s.all[id]
	same := !found && (before == nil || unchanged) || found && before != nil && before.Hub == hub && before.Topic == topic
	full := before == nil && !s.room(hub, site)
	s.mu.Unlock()
	switch {
	case same || full:
		return nil
	case before != nil && before.Page != page:
		return nil // another page named another hub for the topic first
	case before != nil:
		if err := s.leave(ctx, id); err != nil || !found {
			return err
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	taken := s.byTopic[topic] != "" || !s.room(hub, site) // meanwhile
	s.mu.Unlock()
	if taken {
		return nil
	}
	one := &subscription{Topic: topic, Page: page, Site: site, Hub: hub, Secret: rand.Text() + rand.Text(), State: Wanted, Next: s.o.Clock()}
	if err := s.write(ctx, rand.Text(), one, true); err != nil {
		return err
	}
	s.rouse()
	return nil
}

// room reports whether there may be one more subscription with a hub, for a site. The caller holds mu.
func (s *Subscriber) room(hub, site string) bool {
	if len(s.all) >= maxSubscriptions {
		return false
	}
	host, _ := siteOf(hub)
	ofHub, ofSite := 0, 0
	for _, one := range s.all {
		if at, _ := siteOf(one.Hub); at == host {
			ofHub++
		}
		if one.Site == site {
			ofSite++
		}
	}
	return ofHub < maxOfHub && ofSite < maxOfSite
}

// leave begins to end a subscription.
func (s *Subscriber) leave(ctx context.Context, id string) error {
	defer s.rouse()
	return s.change(ctx, id, func(one *subscription) bool {
		if one.State == Leaving {
			return true
		}
		never := one.State == Wanted && one.Asked.IsZero()
		one.State, one.Next, one.Failures = Leaving, s.o.Clock(), 0
		return !never
	})
}

// siteOf returns the group of a URL.
func siteOf(raw string) (group string, ok bool) {
	u, err := address.Parse(raw)
	if err != nil {
		return "", false
	}
	return u.Group(), true
}

// rouse makes Keep look for what is to be done.
func (s *Subscriber) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
