package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// Judge says whether robots.txt allows a URL. *politeness.Robots is one.
type Judge interface {
	Allowed(ctx context.Context, url string) (catalog.Verdict, error)
}

// Limits of requests.
const (
	maxPageBytes = 2 << 20
	headBytes    = 4 << 10 // read of an answer that is not a page
	maxHops      = 5       // redirects
	maxTries     = 4       // of a request that is answered with 429 or 503, or not at all
	maxFailed    = 10      // requests in a row that fail before the site is given up
	longestWait  = 15 * time.Minute
)

var (
	errBudget  = errors.New("the budget is spent")
	errSkipped = errors.New("is not requested") // wrapped: forbidden, elsewhere, or known
	errDown    = errors.New("the site does not answer")
)

// asker sends the requests of one discovery: each one is allowed by robots.txt, counted, and within the budget. It is
// also a harvest.Doer, for harvesters of what the site declares.
type asker struct {
	doer   harvest.Doer
	judge  Judge
	budget int
	spent  int
	failed int             // in a row
	met    map[string]bool // authorities whose robots.txt was counted
	scope  func(*url.URL) bool
	note   func(req *http.Request, resp *http.Response)
}

// answer is what a URL returned. Body is cut at headBytes unless it is a page.
type answer struct {
	URL    string // after redirects
	Status int
	Header http.Header
	Body   []byte
	Page   bool
	Hops   []string // URLs in between, without the first
}

// allowed reports whether robots.txt allows a URL. It waits for a host that must not be asked now, and counts the
// request for a robots.txt that is new to this discovery, even if the crawler knows it already.
func (a *asker) allowed(ctx context.Context, raw string) (catalog.Verdict, error) {
	u, err := address.Parse(raw)
	if err != nil {
		return catalog.Verdict{Reason: err.Error()}, nil
	}
	if site := u.Authority(); !a.met[site] {
		if a.spent >= a.budget {
			return catalog.Verdict{}, errBudget
		}
		a.met[site] = true
		a.spent++
	}
	deadline := time.Now().Add(longestWait)
	for {
		v, err := a.judge.Allowed(ctx, raw)
		var wait interface {
			error
			WaitsUntil() time.Time
		}
		if !errors.As(err, &wait) {
			return v, err
		}
		if wait.WaitsUntil().After(deadline) || time.Now().After(deadline) {
			return v, err
		}
		if err := pause(ctx, time.Until(wait.WaitsUntil())); err != nil {
			return v, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Do implements harvest.Doer: a request of a harvester, which follows no redirect out of the site.
func (a *asker) Do(req *http.Request) (*http.Response, error) {
	if !a.scope(req.URL) {
		return nil, fmt.Errorf("%s %w: it is of another site", req.URL, errSkipped)
	}
	v, err := a.allowed(req.Context(), req.URL.String())
	switch {
	case err != nil:
		return nil, err
	case !v.Allowed:
		return nil, fmt.Errorf("%s %w: %s", req.URL, errSkipped, v.Reason)
	case a.spent >= a.budget:
		return nil, errBudget
	}
	a.spent++
	resp, err := a.doer.Do(req)
	if err == nil && a.note != nil {
		a.note(req, resp)
	}
	return resp, err
}

// ask requests a URL and follows redirects within the site. fresh reports whether a redirect's target is worth a
// request; it may be nil. unless is a harvest.Tag of a version that need not be sent again, or "".
func (a *asker) ask(ctx context.Context, raw, unless string, fresh func(string) bool) (answer, error) {
	out := answer{URL: raw}
	for {
		resp, err := a.send(ctx, out.URL, unless)
		if err != nil {
			return out, err
		}
		out.Status, out.Header = resp.StatusCode, resp.Header
		next := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode >= 400 || resp.StatusCode == http.StatusNotModified || next == "" {
			out.Body, out.Page, err = readBody(resp)
			return out, err
		}
		resp.Body.Close()
		target, err := resolve(out.URL, next)
		switch {
		case err != nil:
			return out, fmt.Errorf("%s redirects to a malformed address", out.URL)
		case len(out.Hops) >= maxHops:
			return out, fmt.Errorf("%s: more than %d redirects", raw, maxHops)
		case fresh != nil && !fresh(target):
			out.Hops = append(out.Hops, target)
			return out, fmt.Errorf("%s redirects to %s, which %w again", raw, target, errSkipped)
		}
		out.URL = target
		out.Hops = append(out.Hops, target)
		unless = ""
	}
}

// send sends one request, and again if the site asks to wait or its answer does not arrive.
func (a *asker) send(ctx context.Context, raw, unless string) (*http.Response, error) {
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
		if err != nil {
			return nil, fmt.Errorf("malformed address %q: %w", raw, err)
		}
		req.Header.Set("Accept", "text/html, application/xhtml+xml, */*;q=0.8")
		if unless != "" {
			conditional(req, unless)
		}
		resp, err := a.Do(req)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch {
		case errors.Is(err, errBudget), errors.Is(err, errSkipped):
			return nil, err
		case err == nil && !busy(resp.StatusCode):
			a.failed = 0
			return resp, nil
		case err == nil:
			resp.Body.Close()
			err = fmt.Errorf("%s answered %d", raw, resp.StatusCode)
		}
		if try < maxTries && a.failed == 0 {
			continue // the Doer waits as long as the site asks
		}
		if a.failed++; a.failed >= maxFailed {
			return nil, fmt.Errorf("%w: %w", errDown, err)
		}
		return nil, err
	}
}

func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// conditional makes a request conditional on a version other than that of the tag.
func conditional(req *http.Request, tag string) {
	if _, err := http.ParseTime(tag); err == nil {
		req.Header.Set("If-Modified-Since", tag)
		return
	}
	req.Header.Set("If-None-Match", tag)
}

// readBody reads a page, or the beginning of anything else, and closes the body. An answer that breaks off is as long
// as it is.
func readBody(resp *http.Response) (body []byte, page bool, err error) {
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, headBytes))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "text/html", "application/xhtml+xml":
		page = true
	case "":
		page = harvest.LooksLikeHTML(body)
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Disposition"))), "attachment") {
		page = false // a file to be saved, whatever it is written in
	}
	if page && err == nil {
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(resp.Body, maxPageBytes-headBytes))
		body = append(body, rest...)
	}
	if len(body) > 0 {
		err = nil
	}
	return body, page, err
}

// resolve returns an absolute http(s) URL without fragment.
func resolve(base, ref string) (string, error) {
	b, err := address.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := b.Resolve(strings.TrimSpace(ref))
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%.100q is not an address of a page", ref)
	}
	u, _ = u.WithoutSecret()
	return u.String(), nil
}
