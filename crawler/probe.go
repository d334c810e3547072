package crawler

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// witness is a host that answered.
type witness struct{ host, link string }

const (
	maxWitnesses = 8
	probeTime    = 20 * time.Second
	probeAfter   = 2 * time.Second // between two witnesses: one that is dead by now takes all of its time
)

// witnessed notes that a host answered a request. The caller holds mu.
func (o *outage) witnessed(host, link string) {
	if n := len(o.recent); n > 0 && o.recent[n-1].host == host {
		return
	}
	o.recent = append(slices.DeleteFunc(o.recent, func(w witness) bool { return w.host == host }), witness{host, link})
	if extra := len(o.recent) - maxWitnesses; extra > 0 {
		o.recent = slices.Delete(o.recent, 0, extra)
	}
}

// beginProbe returns the hosts to ask whether the network is up, the last one that answered first: once in each pause,
// and none if the network is not taken to be down. The caller calls endProbe if there are any. If hosts are being asked
// already, underWay is closed when they have been.
func (o *outage) beginProbe() (ask []witness, underWay <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.probing != nil {
		return nil, o.probing
	}
	if o.trouble == nil || o.trouble.Kind != fetch.TroubleNetwork || o.until.Equal(o.probed) || len(o.recent) == 0 {
		return nil, nil
	}
	o.probing, o.probed = make(chan struct{}), o.until
	ask = slices.Clone(o.recent)
	slices.Reverse(ask)
	return ask, nil
}

func (o *outage) endProbe() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.probing)
	o.probing = nil
}

// isOver reports whether the trouble is over.
func (o *outage) isOver() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trouble == nil
}

// ofProbe is the key of contexts of the requests that a probe makes.
type ofProbe struct{}

// probe asks hosts that answered before, one after another though they have not answered yet, until one does, and
// reports whether one did. It asks as visits do: when it is the host's turn. Fetches that fail meanwhile wait for the
// answer. A worker in another process has no turns but those of its leases, and asks none.
func (p *Pipeline) probe(ctx context.Context) (up bool) {
	if p.Gate == nil || p.Frontier == nil || ctx.Value(ofProbe{}) != nil {
		return false
	}
	ask, underWay := p.outage.beginProbe()
	for underWay != nil {
		select {
		case <-underWay:
		case <-ctx.Done():
			return false
		}
		if p.outage.isOver() {
			return true
		}
		ask, underWay = p.outage.beginProbe() // other trouble may have begun since the answer
	}
	if len(ask) == 0 {
		return p.outage.isOver()
	}
	defer p.outage.endProbe()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, ofProbe{}, true), probeTime)
	defer cancel()
	var asked sync.WaitGroup
	for i, w := range ask {
		asked.Go(func() {
			select {
			case <-time.After(time.Duration(i) * probeAfter):
			case <-ctx.Done():
				return
			}
			if p.ask(ctx, w); p.outage.isOver() {
				cancel()
			}
		})
	}
	asked.Wait()
	return p.outage.isOver()
}

// ask requests the robots.txt of a host. Fetch notes what comes of it. A redirect is an answer, so it is not followed.
func (p *Pipeline) ask(ctx context.Context, w witness) {
	link, err := url.Parse(w.link)
	if err != nil || link.Scheme != "http" && link.Scheme != "https" {
		return
	}
	robots := (&url.URL{Scheme: link.Scheme, Host: link.Host, Path: "/robots.txt"}).String()
	if forbidden, err := p.forbidden(ctx, robots, "", frontier.Moment); err != nil || forbidden != nil { // the scope may have changed since
		return
	}
	pass, verdict, err := p.Gate.Visit(ctx, robots, frontier.Moment)
	if err != nil || !verdict.Allowed {
		return
	}
	result := politeness.Result{}
	defer func() { pass.Leave(result) }()
	stay := func(target string) error {
		return &fetch.Refused{Outcome: catalog.Blocked, Class: catalog.ErrForbiddenTarget, Why: "redirect to " + target}
	}
	ex, err := p.Fetch(ctx, fetch.Request{URL: robots, Check: stay, MaxBody: 1 << 20, Answered: true})
	if err != nil {
		return
	}
	result = politeness.ResultOf(ex)
	p.remove(ex)
}
