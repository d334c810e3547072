package politeness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// Transport is an http.RoundTripper that goes through the gate with every request, redirects included: one request at a
// time to a host, from its beginning until the body of its answer is closed, with the pauses that the operator, the host's
// Crawl-delay and its Retry-After ask for. It is for requests that are no visits: the interfaces of portals.
//
// Rules of robots.txt do not apply here. They are meant for robots that find their addresses by themselves (RFC 9309
// section 1), while an interface is asked because a person named it; the robots.txt that CKAN brings along forbids /api/ to
// keep search engines from indexing it, and would forbid the harvesting that the interface is made for. Crawl-delay counts.
type Transport struct {
	Gate      *Gate
	Base      http.RoundTripper // makes the connections
	UserAgent string            // sent where the request has none

	Header  time.Duration // until the first byte of an answer; 0: 5 min, since a SPARQL endpoint may have to think
	Idle    time.Duration // between two bytes of a body; 0: 1 min
	Longest time.Duration // that a host may make a request wait; 0: 15 min

	requests atomic.Int64
	bytes    atomic.Int64
}

// Traffic is the number of requests so far and of the bytes read from their answers, decompressed.
func (t *Transport) Traffic() (requests int, bytes int64) {
	return int(t.requests.Load()), t.bytes.Load()
}

// RoundTrip implements http.RoundTripper. The host is free again when the caller has closed the body or read it to its end.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	host, err := address.Host(req.URL.String())
	if err != nil {
		return nil, err
	}
	if err := t.askDelay(req.Context(), req.URL.String()); err != nil {
		return nil, err
	}
	leave, err := t.enter(req.Context(), host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	clone := req.Clone(ctx)
	if clone.Header.Get("User-Agent") == "" && t.UserAgent != "" {
		clone.Header.Set("User-Agent", t.UserAgent)
	}
	t.requests.Add(1)
	began := time.Now()
	header := orElse(t.Header, 5*time.Minute)
	watch := time.AfterFunc(header, func() { cancel(fmt.Errorf("%s did not answer within %s", host, header)) })
	resp, err := t.Base.RoundTrip(clone)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && req.Context().Err() == nil {
			err = cause
		}
		watch.Stop()
		leave(Result{Outcome: catalog.NoVersion, Class: catalog.ErrNetwork})
		cancel(nil)
		return nil, err
	}
	result := Result{Outcome: catalog.Archived, Latency: time.Since(began)}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		result.Outcome, result.RetryAfter = catalog.RetryLater, fetch.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	idle := orElse(t.Idle, time.Minute)
	watch.Stop()
	stalled := time.AfterFunc(idle, func() { cancel(fmt.Errorf("%s sent nothing for %s", host, idle)) })
	resp.Body = &body{from: resp.Body, transport: t, ctx: ctx, stalled: stalled, idle: idle,
		end: sync.OnceFunc(func() { stalled.Stop(); cancel(nil); leave(result) })}
	return resp, nil
}

// askDelay learns the host's Crawl-delay.
func (t *Transport) askDelay(ctx context.Context, url string) error {
	_, err := t.Gate.Robots.Allowed(ctx, url)
	var wait *Wait
	var own *fetch.OwnTrouble
	if errors.As(err, &wait) || errors.As(err, &own) {
		return nil // enter will wait; the request itself meets the trouble, if it lasts
	}
	return err
}

// enter waits for the host as long as it asks for, within limits.
func (t *Transport) enter(ctx context.Context, host string) (func(Result), error) {
	deadline := time.Now().Add(orElse(t.Longest, 15*time.Minute))
	for {
		leave, err := t.Gate.Enter(ctx, host)
		var wait *Wait
		if !errors.As(err, &wait) {
			return leave, err
		}
		if wait.Until.After(deadline) || time.Now().After(deadline) {
			return nil, fmt.Errorf("%s asks to be left alone until %s (%s)", host, wait.Until.UTC().Format(time.RFC3339), wait.Why)
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

// body of an answer, which holds the host.
type body struct {
	from      io.ReadCloser
	transport *Transport
	ctx       context.Context // of this request
	stalled   *time.Timer
	idle      time.Duration
	end       func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.transport.bytes.Add(int64(n))
	switch {
	case err == nil:
		b.stalled.Reset(b.idle)
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
