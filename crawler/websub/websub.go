// Package websub subscribes to hubs (W3C WebSub), so that a change is known when it happens, not when it is looked for.
//
// A file, page or feed that names a hub and itself (Link headers, or link elements) is a topic. The hub is asked to send its
// changes to an address of ours that nobody can guess. What it sends is believed as far as a hint goes (package hints): it is
// signed, or nothing comes of it, and then the next visit of a known URL of the topic's own site is brought forward. Nothing
// that is sent is kept, and no URL is added.
//
// All subscriptions are in memory, and each change of one is in the database before it counts. FORMAT.md explains what is
// stored.
package websub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/crawler/hints"
	"odarchive/triplestore/kv"

	"golang.org/x/time/rate"
)

// Limits.
const (
	maxSubscriptions = 5000
	maxOfHub         = 2000 // with one hub
	maxOfSite        = 100  // for topics of one group of URLs
	maxAddress       = 1000 // bytes of a topic, and of a hub
	maxWhy           = 300  // bytes

	leaseWanted = 10 * 24 * time.Hour
	maxLease    = 30 * 24 * time.Hour // a longer one is renewed after that time
	minRenew    = time.Hour           // between two requests for one subscription
	verifyFor   = 24 * time.Hour      // how long a hub may take to verify a request
	afterDenial = 30 * 24 * time.Hour
	maxPause    = 7 * 24 * time.Hour
	maxFailures = 10 // in a row; then the subscription is forgotten until a visit finds the hub again
	maxPartings = 3  // requests to end a subscription
)

// Options of Open. All are required, but Log and Wake.
type Options struct {
	DB       *kv.DB
	Hints    *hints.Hints
	Frontier *frontier.Frontier
	// On says whether hubs are subscribed to. If not, the subscriptions that there are end.
	On bool
	// Base is the address below which hubs reach Callback, with a slash at its end.
	Base string
	// Client sends requests to hubs: politely, not to private addresses, without following redirects.
	Client *http.Client
	Clock  func() time.Time
	Log    *slog.Logger
}

// Subscriber keeps subscriptions. Its methods may be called concurrently, and on nil, which has none.
type Subscriber struct {
	o      Options
	places chan struct{} // deliveries being read
	wake   chan struct{}

	writing sync.Mutex // held while one changes a subscription; it is taken before mu

	mu       sync.Mutex
	all      map[string]*subscription // guarded by mu: by id; a subscription in it does not change
	byTopic  map[string]string        // guarded by mu: ids
	byPage   map[string]string        // guarded by mu
	rates    map[string]*rate.Limiter // guarded by mu: of deliveries, by id
	refused  int64                    // guarded by mu: deliveries since the process began
	accepted int64                    // guarded by mu
}

// State of a subscription.
type State string

// States.
const (
	Wanted  State = "wanted"  // the hub has not confirmed it
	Active  State = "active"  // the hub sends changes
	Denied  State = "denied"  // by the hub
	Leaving State = "leaving" // it is being ended
)

// subscription is a record, without its id. The secret and the id leave the process only for the hub.
type subscription struct {
	Topic    string    `json:"topic"` // as its publisher spells it
	Page     string    `json:"page"`  // the known URL whose visit found it
	Site     string    `json:"site"`  // group of both
	Hub      string    `json:"hub"`
	Secret   string    `json:"secret"`
	State    State     `json:"state"`
	Asked    time.Time `json:"asked,omitzero"` // the last request; its verification is awaited for verifyFor
	Lease    time.Time `json:"lease,omitzero"` // its end
	Next     time.Time `json:"next"`           // when something is to be done
	Failures int       `json:"failures,omitempty"`
	Why      string    `json:"why,omitempty"` // of the last failure or denial

	Deliveries int       `json:"deliveries,omitempty"` // accepted
	Moved      int       `json:"moved,omitempty"`      // visits they brought forward
	Told       time.Time `json:"told,omitzero"`        // the last one
	Again      time.Time `json:"again,omitzero"`       // when it is given as a hint once more, since the last visit was too near
}

// Open reads the subscriptions. A record that cannot be read is left out: a visit finds the hub again.
func Open(o Options) (*Subscriber, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Subscriber{o: o, places: make(chan struct{}, maxReading), wake: make(chan struct{}, 1), all: map[string]*subscription{}, byTopic: map[string]string{}, byPage: map[string]string{}, rates: map[string]*rate.Limiter{}}
	err := o.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceWebSub, nil, nil, func(k, v []byte) (bool, error) {
			one := new(subscription)
			if err := json.Unmarshal(v, one); err != nil {
				o.Log.Warn("the record of a subscription is malformed and ignored", "error", err)
				return true, nil
			}
			s.put(string(k), one)
			return len(s.all) < maxSubscriptions, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("websub: %w", err)
	}
	return s, nil
}

// put makes a subscription known. The caller holds mu, or is alone.
func (s *Subscriber) put(id string, one *subscription) {
	s.all[id] = one
	if one.State != Leaving {
		s.byTopic[one.Topic], s.byPage[one.Page] = id, id
		return
	}
	s.unlist(id, one)
}

// unlist makes room for another subscription to the same topic. The caller holds mu.
func (s *Subscriber) unlist(id string, one *subscription) {
	if s.byTopic[one.Topic] == id {
		delete(s.byTopic, one.Topic)
	}
	if s.byPage[one.Page] == id {
		delete(s.byPage, one.Page)
	}
}

// get returns a subscription, which must not be changed, or nil.
func (s *Subscriber) get(id string) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// change changes a subscription by f, durably; f returns false to remove it. It does nothing if there is none.
func (s *Subscriber) change(ctx context.Context, id string, f func(*subscription) (keep bool)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	before := s.get(id)
	if before == nil {
		return nil
	}
	one := *before
	keep := f(&one)
	return s.write(ctx, id, &one, keep)
}

// write stores or removes a subscription. The caller holds writing.
func (s *Subscriber) write(ctx context.Context, id string, one *subscription, keep bool) error {
	err := s.o.DB.Update(ctx, func(txn *kv.Txn) error {
		if !keep {
			return txn.Delete(kv.SpaceWebSub, []byte(id))
		}
		b, err := json.Marshal(one)
		if err != nil {
			return err
		}
		return txn.Set(kv.SpaceWebSub, []byte(id), b)
	})
	if err != nil {
		return fmt.Errorf("websub: subscription to %s: %w", one.Topic, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if keep {
		s.put(id, one)
		return nil
	}
	s.unlist(id, one)
	delete(s.all, id)
	delete(s.rates, id)
	return nil
}

// Subscription is what may be shown of a subscription.
type Subscription struct {
	Topic      string    `json:"topic"`
	Page       string    `json:"page"` // the known URL whose visit found it
	Hub        string    `json:"hub"`
	State      State     `json:"state"`
	Lease      time.Time `json:"leaseEnds,omitzero"`
	Next       time.Time `json:"next"` // when the hub is asked again
	Deliveries int       `json:"deliveries"`
	Moved      int       `json:"moved"` // visits brought forward
	Last       time.Time `json:"last,omitzero"`
	Failures   int       `json:"failures,omitempty"`
	Why        string    `json:"why,omitempty"`
}

// List returns the subscriptions, by topic.
func (s *Subscriber) List() []Subscription {
	list := []Subscription{}
	if s == nil {
		return list
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		list = append(list, Subscription{one.Topic, one.Page, one.Hub, one.State, one.Lease, one.Next, one.Deliveries, one.Moved, one.Told, one.Failures, one.Why})
	}
	slices.SortFunc(list, func(a, b Subscription) int { return cmp.Or(cmp.Compare(a.Topic, b.Topic), a.Next.Compare(b.Next)) })
	return list
}

// Counts are figures of all subscriptions.
type Counts struct {
	States   map[State]int `json:"states"`
	Accepted int64         `json:"accepted"` // deliveries since the process began
	Refused  int64         `json:"refused"`
}

// Counts returns the figures.
func (s *Subscriber) Counts() Counts {
	c := Counts{States: map[State]int{Wanted: 0, Active: 0, Denied: 0, Leaving: 0}}
	if s == nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		c.States[one.State]++
	}
	c.Accepted, c.Refused = s.accepted, s.refused
	return c
}
