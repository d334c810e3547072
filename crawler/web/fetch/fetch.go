// Package fetch gets one URL from a stranger's server into the spool, within limits, and says what came of it.
//
// A fetch that gives no file (an error status, a broken transfer, a forbidden address, ...) is no error but an outcome in
// the Exchange, with its class and one sentence why. Errors are for what is our own fault: a cancelled context, or an
// *OwnTrouble of this machine (descriptors, memory, ports, disk, name server, network), which says nothing about the host.
//
// Promises: one request at a time per call, redirects included, each announced to Request.Check before it is made; never
// a connection to an address that is private, loopback, link-local or a metadata service unless allowed, decided on the
// address that is dialled; no more than the limits in time, size, header size and decompression ratio; cookies live for
// one fetch and go back only to the host that set them; TLS certificates are verified.
//
// It does not know robots.txt, delays or whether a file is new: see politeness and the pipeline.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/spool"

	"golang.org/x/time/rate"
)

// Fetcher fetches. Its methods may be called concurrently.
type Fetcher struct {
	opts      Options
	guard     guard
	verified  *http.Transport
	relaxed   *http.Transport // does not verify certificates
	other     *http.Transport // of Client
	bandwidth *rate.Limiter   // nil: no limit
	slots     slots
}

// New makes a fetcher. Close it to give up its idle connections.
func New(opts Options) *Fetcher {
	opts = opts.withDefaults()
	f := &Fetcher{opts: opts, guard: guard{all: opts.AllowPrivateHosts, nets: opts.AllowNets}}
	f.verified = f.transport(false)
	f.relaxed = f.transport(true)
	f.other = f.transport(false)
	f.other.MaxConnsPerHost = 8 // several queries may ask one endpoint
	if opts.MaxConns > 0 {
		f.slots = make(slots, opts.MaxConns)
	}
	if opts.Bandwidth > 0 {
		f.bandwidth = rate.NewLimiter(rate.Limit(opts.Bandwidth), int(max(opts.Bandwidth, copyBuffer)))
	}
	return f
}

// Close gives up idle connections.
func (f *Fetcher) Close() { f.closeIdle() }

func (f *Fetcher) closeIdle() {
	f.verified.CloseIdleConnections()
	f.relaxed.CloseIdleConnections()
	f.other.CloseIdleConnections()
}

// Request is what to fetch. Only URL is required.
type Request struct {
	URL          string
	ETag         string // of the version at hand: asks for the file only if it has another
	LastModified string // of the version at hand
	// Check is called with every redirect target before it is asked for. A *Refused ends the fetch with that outcome;
	// any other error is returned by Fetch.
	Check func(url string) error
	// Answered says that the host answered when it was last asked. Fetch makes no use of it; who weighs what came does.
	Answered bool
	MaxBody  int64 // instead of Options.MaxBody
	CutOff   bool  // keep the first MaxBody bytes of a longer body instead of failing
}

// Refused is an error by which Request.Check says that a target must not be fetched, and why.
type Refused struct {
	Outcome catalog.Outcome
	Class   catalog.ErrorClass
	Why     string
}

func (r *Refused) Error() string { return r.Why }

// Exchange is one fetch: what was asked, what was answered, what came of it. The Body belongs to the caller, who
// removes it.
type Exchange struct {
	URL            string
	RequestLine    string      // of the last request, as it was sent: "GET /a HTTP/1.1"
	RequestHeader  http.Header // of the last request, as it was sent
	StatusLine     string      // of the last response: "HTTP/1.1 200 OK"; "" if there was none
	ResponseHeader http.Header // of the last response
	FinalURL       string      // where the redirects led
	Redirects      []string    // URLs that redirected, in order; the first is URL
	Status         int         // 0: there was no response, or not by HTTP
	Body           *spool.File // nil when there is nothing to keep; decoded, finished
	Encoding       string      // content encoding that was decoded, "" for none
	Received       int64       // bytes of the body before decoding
	ContentType    string      // as the server said
	FileName       string      // from Content-Disposition or the URL, safe as one path element; may be ""
	LastModified   string      // as the server said
	ETag           string      // as the server said

	Start, FirstByte, End time.Time // FirstByte: of the last response, zero if there was none

	// Outcome is "" where there is a Body and the pipeline has to say what it is; Unchanged for a 304.
	Outcome    catalog.Outcome
	ErrorClass catalog.ErrorClass
	Why        string        // one sentence; "" with a Body
	RetryAfter time.Duration // as the server asked, 0 for not; at most a day
	RemoteAddr string        // address and port of the last connection
	Reached    time.Time     // when something at the other end last answered, if only to refuse; zero if nothing did
	// Unreachable says that nothing answered: no address of the host was found, or none could be reached. It is the host's
	// trouble or that of the network between; Fetch cannot tell.
	Unreachable bool
	NoRoute     bool   // with Unreachable: this machine has no route to the host's network
	announced   int64  // Content-Length, -1 for none
	TLS         string // version, and "certificate not verified" where it was not; "" for plain
	Unverified  bool   // the certificate of the last connection, or of one that redirected, was not verified
}

// fail notes an outcome without a file.
func (ex *Exchange) fail(o catalog.Outcome, c catalog.ErrorClass, why string) {
	if len(why) > 500 {
		why = strings.ToValidUTF8(why[:500], "") + "..."
	}
	ex.Outcome, ex.ErrorClass, ex.Why = o, c, why
}

// Fetch follows a URL to its file.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Exchange, error) {
	ex := &Exchange{URL: req.URL, FinalURL: req.URL, Start: f.opts.Now()}
	err := f.follow(ctx, ex, req)
	ex.End = f.opts.Now()
	if err != nil {
		if removing := ex.Body.Remove(); removing != nil {
			err = errors.Join(err, removing)
		}
		return nil, fmt.Errorf("fetch %s: %w", req.URL, err)
	}
	return ex, nil
}

// errTotal is the cause of a context that the fetch itself ended.
var errTotal = errors.New("the whole fetch took longer than allowed")

func (f *Fetcher) follow(ctx context.Context, ex *Exchange, req Request) error {
	u, err := address.Parse(req.URL)
	if err != nil {
		ex.fail(catalog.NoVersion, catalog.ErrBadURL, err.Error())
		return nil
	}
	parent := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, f.opts.Timeouts.Total, errTotal)
	defer cancel()
	jar := cookies{}
	var seen []string
	for {
		public, _ := u.WithoutSecret()
		ex.FinalURL = public.String()
		here := ex.FinalURL + " " + jar.of(u)
		location, err := f.hop(ctx, ex, u, req, jar)
		if parent.Err() != nil {
			return context.Cause(parent)
		}
		if err != nil || location == "" {
			return err
		}
		seen = append(seen, here)
		ex.Redirects = append(ex.Redirects, ex.FinalURL)
		if u, err = u.Resolve(location); err != nil {
			ex.fail(badTarget(location), catalog.ErrForbiddenTarget, "redirect: "+err.Error())
			if ex.Outcome == catalog.NoVersion {
				ex.ErrorClass = catalog.ErrBadURL
			}
			return nil
		}
		u, _ = u.WithoutSecret() // a stranger's, who would have us send and record it
		ex.FinalURL = u.String()
		switch {
		case len(ex.Redirects) > f.opts.MaxRedirects:
			ex.fail(catalog.NoVersion, catalog.ErrTooManyRedirect, fmt.Sprintf("more than %d redirects", f.opts.MaxRedirects))
			return nil
		case slices.Contains(seen, u.String()+" "+jar.of(u)):
			ex.fail(catalog.NoVersion, catalog.ErrTooManyRedirect, "the redirects go round in a circle at "+u.String())
			return nil
		}
		if req.Check == nil {
			continue
		}
		if err := req.Check(u.String()); err != nil {
			var refused *Refused
			if errors.As(err, &refused) {
				ex.fail(refused.Outcome, refused.Class, refused.Why)
				return nil
			}
			return err
		}
	}
}

// badTarget tells a redirect to another scheme, which must not be followed, from one that is no URL at all.
func badTarget(location string) catalog.Outcome {
	scheme, _, ok := strings.Cut(strings.TrimSpace(location), ":")
	if ok && !strings.ContainsAny(scheme, "/?#") && !slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(scheme)) {
		return catalog.Blocked
	}
	return catalog.NoVersion
}

// hop makes one request. It returns the Location of a redirect, or "" when the exchange is complete.
func (f *Fetcher) hop(ctx context.Context, ex *Exchange, u address.URL, req Request, jar cookies) (location string, err error) {
	if why := forbiddenPort(u); why != "" {
		ex.fail(catalog.Blocked, catalog.ErrForbiddenTarget, why)
		return "", nil
	}
	if u.Scheme == "ftp" {
		return "", f.ftp(ctx, ex, u, req)
	}
	return f.http(ctx, ex, u, req, jar)
}
