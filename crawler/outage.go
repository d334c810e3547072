package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// The rule for trouble of this machine:
//
//   - A fetch that fails because of this machine (fetch.OwnTrouble) is not recorded. Its lease is returned and the
//     crawl pauses, for 1 s at first, doubled each time up to 1 min; for a network that is down, from 30 s to 10 min.
//     The next answer of any host ends the trouble.
//
//   - A host that answered at its last visit and cannot be reached now is in doubt: nothing is recorded, and it is
//     tried again after 5 s. If it fails again, that is the host's failure, and recorded. But if three different hosts
//     fail in a row, and none answers in between, the network is down: nothing is recorded of them, or of other hosts
//     that cannot be reached, until some host answers. A refused connection is an answer.
//
//   - A host to which this machine has no route is in doubt even if it never answered. The failure of any other host
//     that never answered, or failed at its last visit, says little about the network and is recorded at once. But
//     where
//     hosts answered until a few minutes ago, and then such hosts fail in a row with no answer in between, they are in
//     doubt from the third on, and from the sixteenth on the network is down, for an hour at most: all that is due may
//     be
//     dead.
//
//   - A host whose name no name server answers for in time is in doubt, and if it fails again, that is recorded. From
//     the third
//     such host in a row on, the name server is down, which says nothing about any host. Only an answer of a name
//     server ends
//     that: hosts whose places are known, as addresses, by --resolve or from an earlier lookup, do not need it.
//
//   - When the network is taken to be down, one of the hosts that answered last is asked for its robots.txt (probe.go).
//     If it
//     answers, the network is up, and what failed is the hosts' failure: at the end of a long list, only dead hosts are
//     left.
//
// So a crawl records the failure of one or two hosts after 5 s, and records nothing on a machine whose network fails,
// however many workers it has. A crawl --once gives up with the reason after 2 min of trouble (patience).
const (
	outageHosts     = 3
	darkHosts       = 16               // hosts without a good record that fail in a row
	darkAfter       = 10 * time.Minute // after an answer
	darkFor         = time.Hour
	doubtPause      = 5 * time.Second
	minOutagePause  = 30 * time.Second
	maxOutagePause  = 10 * time.Minute
	minTroublePause = time.Second
	maxTroublePause = time.Minute
	proxyPause      = time.Minute // after the proxy of single hosts could not be used
)

// outage tracks whether this machine is in trouble. The zero value is ready to use. All times are of the machine's
// clock.
type outage struct {
	mu      sync.Mutex           // guards what follows
	row     map[string]struct{}  // hosts that answered before and cannot be reached, with no answer of any host in between
	began   time.Time            // when the first of them failed
	doubted map[string]time.Time // hosts in doubt, since when

	answered time.Time           // the last answer
	dark     map[string]struct{} // at most darkHosts hosts without a good record that cannot be reached, with no answer in between
	darkness time.Time           // when the first of them failed
	byDark   bool                // trouble is that of dark

	nameless map[string]struct{} // hosts whose names nobody answered for, with no name resolved in between

	recent  []witness     // hosts that answered, the last one last
	probing chan struct{} // is closed when the hosts that are being asked whether they still answer have been; nil for none
	probed  time.Time     // the end of the pause in which hosts were asked last

	trouble *fetch.OwnTrouble // the latest, unless an answer ended it; nil for none
	since   time.Time         // when the trouble began
	pause   time.Duration     // the last one
	until   time.Time         // when it ends
}

// maxDoubted limits the number of hosts in doubt. Beyond it, failures are recorded at once.
const maxDoubted = 10_000

// weigh decides whether the result of a fetch may be recorded. It returns nil if so, a *fetch.OwnTrouble if the network
// is down, and a *politeness.Wait if the host is in doubt. answered reports whether the host's last visit was answered.
func (o *outage) weigh(host string, ex *fetch.Exchange, answered bool, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ex.NoNames && len(ex.Redirects) == 0 {
		return o.weighNameless(host, ex, now)
	}
	if ex.Named {
		o.nameless = nil
		if !ex.Unreachable && o.trouble != nil && o.trouble.Kind == fetch.TroubleResolver {
			o.forgive()
		}
	}
	if !ex.Unreachable || len(ex.Redirects) > 0 { // a redirect is an answer
		if !ex.Reached.IsZero() {
			o.witnessed(host, ex.URL)
			o.noteAnswer(host, ex)
		}
		return nil
	}
	if o.byDark && now.Sub(o.darkness) >= darkFor {
		o.forgive()
	}
	if o.trouble != nil && o.trouble.Kind == fetch.TroubleNetwork {
		return o.startPause(o.trouble, now)
	}
	if !answered && !ex.NoRoute {
		return o.weighDark(host, ex, now)
	}
	if o.row == nil {
		o.row, o.began = map[string]struct{}{}, now
	}
	if o.row[host] = struct{}{}; len(o.row) >= outageHosts {
		why := fmt.Errorf("%d hosts in a row that answered before cannot be reached (the last: %s)", outageHosts, ex.Why)
		return o.startPause(&fetch.OwnTrouble{Kind: fetch.TroubleNetwork, Err: why}, now)
	}
	return o.doubt(host, now)
}

// doubt returns a *politeness.Wait at the first failure of a host, and nil at the second. The caller holds mu.
func (o *outage) doubt(host string, now time.Time) error {
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

// weighNameless is weigh for a host whose name no name server answered for. The caller holds mu.
func (o *outage) weighNameless(host string, ex *fetch.Exchange, now time.Time) error {
	if o.trouble != nil && o.trouble.Kind == fetch.TroubleResolver {
		return o.startPause(o.trouble, now)
	}
	if o.nameless == nil {
		o.nameless = map[string]struct{}{}
	}
	if o.nameless[host] = struct{}{}; len(o.nameless) >= outageHosts {
		return o.startPause(&fetch.OwnTrouble{Kind: fetch.TroubleResolver, Err: errors.New(ex.Why)}, now)
	}
	return o.doubt(host, now)
}

// weighDark is weigh for a host without a good record that cannot be reached. The caller holds mu.
func (o *outage) weighDark(host string, ex *fetch.Exchange, now time.Time) error {
	if o.dark == nil {
		o.dark, o.darkness = map[string]struct{}{}, now
	}
	if len(o.dark) < darkHosts {
		o.dark[host] = struct{}{}
	}
	switch wasLight := !o.answered.IsZero() && o.darkness.Sub(o.answered) < darkAfter && now.Sub(o.darkness) < darkFor; {
	case !wasLight || len(o.dark) < outageHosts:
		return nil
	case len(o.dark) < darkHosts:
		return o.doubt(host, now)
	}
	o.byDark = true
	why := fmt.Errorf("%d hosts in a row cannot be reached (the last: %s)", darkHosts, ex.Why)
	return o.startPause(&fetch.OwnTrouble{Kind: fetch.TroubleNetwork, Err: why}, now)
}

// noteAnswer ends the trouble because a host answered, unless the answer is older than the trouble. The caller holds
// mu.
func (o *outage) noteAnswer(host string, ex *fetch.Exchange) {
	delete(o.doubted, host)
	at := ex.Reached
	if !ex.Named && o.trouble != nil && o.trouble.Kind == fetch.TroubleResolver {
		return
	}
	if at.Before(o.began) || at.Before(o.since) || o.dark != nil && at.Before(o.darkness) {
		return
	}
	o.row, o.dark, o.answered = nil, nil, at
	o.forgive()
}

// forgive ends the trouble. The caller holds mu.
func (o *outage) forgive() {
	o.trouble, o.byDark, o.since, o.pause, o.until = nil, false, time.Time{}, 0, time.Time{}
}

// startPause starts a pause because of trouble, and returns the trouble. Fetches that were under way when a pause began
// do not prolong it. The caller holds mu.
func (o *outage) startPause(trouble *fetch.OwnTrouble, now time.Time) error {
	if o.trouble == nil {
		o.since = now
	}
	if o.trouble = trouble; now.Before(o.until) {
		return trouble
	}
	first, longest := minTroublePause, maxTroublePause
	if trouble.Kind == fetch.TroubleNetwork || trouble.Kind == fetch.TroubleResolver {
		first, longest = minOutagePause, maxOutagePause
	}
	o.pause = min(max(2*o.pause, first), longest)
	o.until = now.Add(o.pause)
	return trouble
}

// note starts a pause because of trouble.
func (o *outage) note(trouble *fetch.OwnTrouble, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.startPause(trouble, now)
}

// state returns the reason of the pause at a time and its end, "" and the zero time outside a pause, and since when
// there is trouble, the zero time if there is none.
func (o *outage) state(now time.Time) (why string, until, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trouble == nil || !now.Before(o.until) {
		return "", time.Time{}, o.since
	}
	what := "this machine is in trouble: "
	if o.trouble.Kind == fetch.TroubleNetwork {
		what = "the network may be down: "
	}
	return fmt.Sprintf("%s%.300s; tried again at %s", what, o.trouble, o.until.UTC().Format(time.TimeOnly)), o.until, o.since
}

// Outage returns why nothing should be fetched for now, "" while this machine and its network seem to work. It is meant
// for frontier.Options.Hold.
func (p *Pipeline) Outage() string {
	why, _, _ := p.outage.state(time.Now())
	return why
}

// Fetch calls Fetcher.Fetch, for visits and for the gate's robots.txt. It returns an error instead of an exchange that
// must not be recorded because this machine is, or may be, in trouble.
func (p *Pipeline) Fetch(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
	ex, err := p.Fetcher.Fetch(ctx, r)
	var own *fetch.OwnTrouble
	var proxy *fetch.ProxyTrouble
	switch {
	case errors.As(err, &own):
		p.outage.note(own, time.Now())
	case errors.As(err, &proxy): // that of this host: others do not wait for it
		p.Log.Warn("a host waits because its proxy cannot be used", "url", r.URL, "error", err)
		host, _ := address.Host(r.URL)
		return nil, &politeness.Wait{Host: host, Until: time.Now().Add(proxyPause), Why: "proxy"}
	}
	if err != nil {
		return nil, err
	}
	host, err := address.Host(r.URL)
	if err != nil { // nothing was requested
		return ex, nil
	}
	err = p.outage.weigh(host, ex, r.Answered, time.Now())
	for errors.As(err, &own) && p.probe(ctx) { // again, if as many have failed since that answer
		err = p.outage.weigh(host, ex, r.Answered, time.Now())
	}
	if err != nil {
		return nil, errors.Join(err, ex.Body.Remove())
	}
	return ex, nil
}

// answeredBefore reports whether the last visit of a job's URL found content.
func answeredBefore(job frontier.Job) bool { return job.Fetches > 0 && job.Errors == 0 }
