package politeness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// Transport is an http.RoundTripper that passes every request, redirects included, through the gate. A host has one
// request at a time, from its beginning until the response's body is closed, and the pauses that the operator,
// Crawl-delay and Retry-After require. It is for requests that are not visits: those to the interfaces of portals.
//
// The rules of robots.txt do not apply to them. These are for robots that discover URLs by themselves (RFC 9309 §1),
// while a person names an interface. CKAN's default robots.txt forbids /api/, to keep search engines from indexing it,
// and would prevent the harvesting for which the interface exists. Crawl-delay does apply, and a host whose robots.txt
// cannot be had because its server fails is not asked.
type Transport struct {
	Gate      *Gate
	Base      http.RoundTripper // sends the requests
	UserAgent string            // sent if the request has none
	// Check, if not nil, is called with the URL of every request; its error ends the request.
	Check func(url string) error

	Header  time.Duration // until the first byte of the response; default 5 min, since SPARQL endpoints may take long
	Idle    time.Duration // that a reader of the body waits for a byte; default 1 min
	Longest time.Duration // that a request waits for a host; default 15 min
	Silent  time.Duration // for robots.txt, until a host has answered; default 10 s. It is how a dead source is known soon

	answered atomic.Bool
	requests atomic.Int64
	bytes    atomic.Int64
}

// Traffic returns the number of requests so far, and of decompressed bytes read from their responses.
func (t *Transport) Traffic() (requests int, bytes int64) {
	return int(t.requests.Load()), t.bytes.Load()
}

// RoundTrip implements http.RoundTripper. It holds the host until the caller has closed the body or read it to its end.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := address.Parse(req.URL.String())
	if err != nil {
		return nil, err
	}
	if t.Check != nil {
		if err := t.Check(req.URL.String()); err != nil {
			return nil, err
		}
	}
	if err := t.loadDelay(req.Context(), req.URL.String()); err != nil {
		return nil, err
	}
	host := u.Group()
	leave, err := t.enter(req.Context(), u.Authority())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	var connected atomic.Bool // a transport may go on dialling after the request
	clone := req.Clone(httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}))
	if clone.Header.Get("User-Agent") == "" && t.UserAgent != "" {
		clone.Header.Set("User-Agent", t.UserAgent)
	}
	t.requests.Add(1)
	began := time.Now()
	header := orElse(t.Header, 5*time.Minute)
	watch := time.AfterFunc(header, func() { cancel(fmt.Errorf("%s did not answer within %s", host, header)) })
	resp, err := t.Base.RoundTrip(clone)
	if err != nil {
		class := catalog.ErrNetwork
		if cause := context.Cause(ctx); cause != nil && req.Context().Err() == nil {
			err, class = cause, catalog.ErrTimeout
		}
		watch.Stop()
		result := Result{URL: u.String(), Outcome: catalog.NoVersion, Class: class, Error: err.Error(), Connected: connected.Load()}
		if req.Context().Err() != nil { // the caller does not want it any more, which says nothing about the host
			result = Result{}
		}
		leave(result)
		cancel(nil)
		return nil, err
	}
	t.answered.Store(true)
	result := Result{URL: u.String(), Outcome: catalog.Archived, Latency: time.Since(began)}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		result.Outcome, result.RetryAfter = catalog.RetryLater, fetch.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	idle := orElse(t.Idle, time.Minute)
	watch.Stop()
	stalled := time.AfterFunc(idle, func() { cancel(fmt.Errorf("%s sent nothing for %s", host, idle)) })
	stalled.Stop()
	resp.Body = &body{from: resp.Body, transport: t, ctx: ctx, cancel: cancel, host: host, stalled: stalled, idle: idle, patience: header,
		end: sync.OnceFunc(func() { stalled.Stop(); cancel(nil); leave(result) })}
	return resp, nil
}

// silentKey is the key of how long a robots.txt is waited for, a time.Duration, in a context.
type silentKey struct{}

// unaskable is the error of a host that has no address, or none that may be asked, or that is silent.
type unaskable struct {
	why   string
	class catalog.ErrorClass
}

func (e *unaskable) Error() string { return e.why }

// Permanent reports that trying again is of no use.
func (e *unaskable) Permanent() bool { return e.class == catalog.ErrForbiddenTarget }

// Class returns why the host cannot be asked.
func (e *unaskable) Class() catalog.ErrorClass { return e.class }

// unread is the error of a host whose robots.txt is not known, since its server fails.
type unread struct{ error }

// Permanent reports that trying again is of no use for now.
func (unread) Permanent() bool { return true }

// loadDelay loads the host's robots.txt for its Crawl-delay. A host that cannot or must not be asked at all is an error
// at once: its back-off, which enter would wait for, may be long.
func (t *Transport) loadDelay(ctx context.Context, url string) error {
	if !t.answered.Load() {
		ctx = context.WithValue(ctx, silentKey{}, orElse(t.Silent, 10*time.Second))
	}
	v, err := t.Gate.Robots.Allowed(ctx, url)
	if err == nil && (v.Class == catalog.ErrDNS || v.Class == catalog.ErrForbiddenTarget) {
		return &unaskable{v.Reason, v.Class}
	}
	if err == nil && v.Unread() {
		return &unread{fmt.Errorf("%s; it is asked again at %s", v.Reason, v.RetryAt.UTC().Format(time.DateTime+" UTC"))}
	}
	var wait *Wait
	var own *fetch.OwnTrouble
	if errors.As(err, &wait) || errors.As(err, &own) {
		return nil // enter waits; if the trouble lasts, the request fails
	}
	return err
}

// enter enters the gate. It waits for the host, at most t.Longest.
func (t *Transport) enter(ctx context.Context, door string) (func(Result), error) {
	deadline := time.Now().Add(orElse(t.Longest, 15*time.Minute))
	for {
		leave, err := t.Gate.Enter(ctx, door)
		var wait *Wait
		if !errors.As(err, &wait) {
			return leave, err
		}
		if wait.Until.After(deadline) || time.Now().After(deadline) {
			return nil, errors.New(strings.TrimPrefix(wait.Error(), "politeness: "))
		}
		timer := time.NewTimer(max(time.Until(wait.Until), time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// body is the body of a response, which holds the host. Only the time that its reader waits for the host counts, not
// what the reader does between two reads.
type body struct {
	from      io.ReadCloser
	transport *Transport
	ctx       context.Context // of this request
	cancel    context.CancelCauseFunc
	host      string
	stalled   *time.Timer
	idle      time.Duration
	patience  time.Duration // how long a body may be slower than minRate
	end       func()

	waited   time.Duration
	received int64
}

// minRate is what a body must bring on average, in bytes a second, once its reader has waited as long as for an answer
// to begin. Otherwise a host that sends a byte now and then would be waited for without end.
const minRate = 256

func (b *body) Read(p []byte) (int, error) {
	began := time.Now()
	b.stalled.Reset(b.idle)
	n, err := b.from.Read(p)
	b.stalled.Stop()
	b.waited += time.Since(began)
	b.received += int64(n)
	b.transport.bytes.Add(int64(n))
	switch {
	case err == nil:
		if b.waited > b.patience && float64(b.received) < minRate*b.waited.Seconds() {
			b.cancel(fmt.Errorf("%s sent only %d bytes in %s", b.host, b.received, b.waited.Round(time.Second)))
			err = context.Cause(b.ctx)
		}
	case errors.Is(err, io.EOF):
		b.end()
	case context.Cause(b.ctx) != nil:
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *body) Close() error {
	err := b.from.Close()
	b.end()
	return err
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
