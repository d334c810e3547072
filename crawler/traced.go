package crawler

import (
	"context"
	"errors"

	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/trace"
)

// The spans of a crawl: a lease of a host, its visits, and their legs: robots (robots.txt and the wait for the host's turn), fetch,
// detect, inspect, compare, place, commit. A worker makes all but the last, which continues its trace at the writer.

// traceLease begins the span of a lease.
func traceLease(ctx context.Context, host string, jobs int) (context.Context, func(error)) {
	return trace.Start(ctx, "lease", trace.String("server.address", host), trace.Int("odarchive.urls", int64(jobs)))
}

// traceVisit begins the span of a visit.
func traceVisit(ctx context.Context, url string) (context.Context, func(error)) {
	if !trace.Enabled(ctx) {
		return trace.Start(ctx, "visit")
	}
	return trace.Start(ctx, "visit", trace.String("url.full", trace.URL(url)))
}

// traceFailure returns the error that a span ends with: none, if only the host must be waited for.
func traceFailure(err error) error {
	if err == nil {
		return nil
	}
	var wait *politeness.Wait
	if errors.As(err, &wait) {
		return nil
	}
	return err
}

// traceOutcome adds what became of a visit to its span.
func traceOutcome(ctx context.Context, ex *fetch.Exchange) {
	if ex != nil {
		trace.Set(ctx, trace.String("odarchive.outcome", string(ex.Outcome)), trace.String("error.type", string(ex.ErrorClass)), trace.Int("http.response.status_code", int64(ex.Status)))
	}
}
