package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// How the crawl goes on when this machine is in trouble. The rule is this:
//
//   - A fetch that fails because of this machine (fetch.OwnTrouble) is recorded of nobody. Its lease goes back, behind
//     those that are ready, and the crawl stands still: 1 s at first, then twice as long each time, at most a minute; for a network that is down from 30 s to
//     10 min. Whatever answers next ends that.
//   - A host that answered the last time and cannot be reached now is in doubt: that is not recorded, and it is tried again
//     after 5 s. If it fails again it is the host's failure, and recorded. But if three different hosts fail so in a row,
//     and none answers in between, the network is down: nothing is recorded of any of them, or of other hosts that
//     cannot be reached, until some host answers. A refused connection is an answer.
//   - A host to which this machine has no route is in doubt even if it never answered. Other hosts that never answered, or
//     failed the last time, tell nothing about the network: their failure is recorded at once.
//
// So a crawl of one host, or of two, that die records it after 5 s, and a crawl on a machine whose network fails records
// nothing, however many workers it has. A crawl --once gives up with the reason when the trouble lasts for 2 min (patience).
const (
	outageHosts   = 3
	doubtPause    = 5 * time.Second
	outagePause   = 30 * time.Second
	outageLongest = 10 * time.Minute
	troublePause  = time.Second
	troubleMost   = time.Minute
)

// outage knows whether this machine is in trouble. The zero value is ready. All times are real ones.
type outage struct {
	mu      sync.Mutex           // guards what follows
	row     map[string]struct{}  // hosts that answered before, were not reached, and none answered since
	began   time.Time            // when the first of them failed
	doubted map[string]time.Time // hosts in doubt, since when

	trouble *fetch.OwnTrouble // the last one that no answer has ended; nil: none
	since   time.Time         // when the first one of these was met
	pause   time.Duration
	until   time.Time // the crawl stands still until then
}

// maxDoubted bounds the hosts that are remembered as in doubt; beyond it a failure is recorded at once.
const maxDoubted = 10_000

// weigh says whether what came of a fetch may be recorded of its host: nil if so, an *fetch.OwnTrouble if the network is
// down, a *politeness.Wait while the host is in doubt.
func (o *outage) weigh(host string, ex *fetch.Exchange, answered bool, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !ex.Unreachable || len(ex.Redirects) > 0 { // who redirects has answered
		if !ex.Reached.IsZero() {
			o.answer(host, ex.Reached)
		}
		return nil
	}
	if o.trouble != nil && o.trouble.Kind == fetch.TroubleNetwork {
		return o.stand(o.trouble, now)
	}
	if !answered && !ex.NoRoute {
		return nil
	}
	if o.row == nil {
		o.row, o.began = map[string]struct{}{}, now
	}
	if o.row[host] = struct{}{}; len(o.row) >= outageHosts {
		why := fmt.Errorf("%d hosts in a row that answered before cannot be reached (the last: %s)", outageHosts, ex.Why)
		return o.stand(&fetch.OwnTrouble{Kind: fetch.TroubleNetwork, Err: why}, now)
	}
	if _, again := o.doubted[host]; again || len(o.doubted) >= maxDoubted {
		delete(o.doubted, host)
		return nil
	}
	if o.doubted == nil {
		o.doubted = map[string]time.Time{}
	}
	o.doubted[host] = now
	return &politeness.Wait{Host: host, Until: now.Add(doubtPause), Why: "network"}
}

// answer notes that a host answered at a time. An answer from before the trouble says nothing. The caller holds mu.
func (o *outage) answer(host string, at time.Time) {
	delete(o.doubted, host)
	if at.Before(o.began) || at.Before(o.since) {
		return
	}
	o.row = nil
	o.trouble, o.since, o.pause, o.until = nil, time.Time{}, 0, time.Time{}
}

// stand has the crawl stand still because of trouble, and returns it. What was under way when a pause began does not
// make it longer. The caller holds mu.
func (o *outage) stand(trouble *fetch.OwnTrouble, now time.Time) error {
	if o.trouble == nil {
		o.since = now
	}
	if o.trouble = trouble; now.Before(o.until) {
		return trouble
	}
	first, longest := troublePause, troubleMost
	if trouble.Kind == fetch.TroubleNetwork || trouble.Kind == fetch.TroubleResolver {
		first, longest = outagePause, outageLongest
	}
	o.pause = min(max(2*o.pause, first), longest)
	o.until = now.Add(o.pause)
	return trouble
}

// meet notes a trouble of this machine.
func (o *outage) meet(trouble *fetch.OwnTrouble, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.stand(trouble, now) // the trouble itself
}

// standing returns why the crawl stands still at a time, until when, and since when there is trouble; "" and zero times
// if it does not.
func (o *outage) standing(now time.Time) (why string, until, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trouble == nil || !now.Before(o.until) {
		return "", time.Time{}, o.since
	}
	what := "this machine is in trouble, no host: "
	if o.trouble.Kind == fetch.TroubleNetwork {
		what = "the network may be down: "
	}
	return fmt.Sprintf("%s%.300s; tried again at %s", what, o.trouble, o.until.UTC().Format(time.TimeOnly)), o.until, o.since
}

// Outage says why nothing should be fetched for now; "" while this machine and its network seem to work. It fits
// frontier.Options.Hold.
func (p *Pipeline) Outage() string {
	why, _, _ := p.outage.standing(time.Now())
	return why
}

// Fetch is Fetcher.Fetch for visits and for the gate's robots.txt: what must not be recorded of the host, because this
// machine is in trouble or may be, is an error.
func (p *Pipeline) Fetch(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
	ex, err := p.Fetcher.Fetch(ctx, r)
	var own *fetch.OwnTrouble
	if errors.As(err, &own) {
		p.outage.meet(own, time.Now())
	}
	if err != nil {
		return nil, err
	}
	host, err := address.Host(r.URL)
	if err != nil { // then nothing was asked
		return ex, nil
	}
	if err := p.outage.weigh(host, ex, r.Answered, time.Now()); err != nil {
		return nil, errors.Join(err, ex.Body.Remove())
	}
	return ex, nil
}

// answeredBefore reports whether the last visit of a job's URL showed its content.
func answeredBefore(job frontier.Job) bool { return job.Fetches > 0 && job.Errors == 0 }
