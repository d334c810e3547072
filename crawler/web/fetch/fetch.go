// Package fetch downloads one URL into the spool, within limits, and reports what happened.
//
// A fetch that yields no file (an error status, a broken transfer, a forbidden address, ...) is not an error but an
// outcome of the Exchange, with its class and a sentence of explanation. Errors are reserved for this side: a cancelled
// context, or an *OwnTrouble of this machine (descriptors, memory, ports, disk, name server, network), which says
// nothing about the host.
//
// Promises: A call makes one request at a time, and passes every redirect target to Request.Check before it follows it.
// It never connects to a private, loopback or link-local address or a metadata service, unless that is allowed, or
// the operator has named this address for the host; the address that is dialled decides. It observes the limits of
// time, size, header size and decompression ratio. Cookies live for one fetch and return only to the host that set
// them. TLS certificates are verified, except those of Options.UnverifiedHosts, and those of hosts for which the
// operator says so. What the secrets file holds goes only to the hosts that the operator names, and is not in an
// Exchange.
//
// The package does not handle robots.txt or delays, and does not compare the file with earlier versions.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/spool"

	"golang.org/x/time/rate"
)

// Fetcher fetches URLs. Its methods may be called concurrently.
type Fetcher struct {
	opts      Options
	guard     guard
	bandwidth atomic.Pointer[rate.Limiter] // nil: no limit
	slots     slots
	crowd     crowd
	ways      ways
	nameless  sync.Once // Options.Nameless
}

// New returns a Fetcher. The caller must close it.
func New(opts Options) *Fetcher {
	opts = opts.withDefaults()
	f := &Fetcher{opts: opts, guard: guard{all: opts.AllowPrivateHosts, nets: opts.AllowNets}, crowd: crowd{least: manyConns}}
	if opts.MaxConns > 0 {
		f.slots = make(slots, opts.MaxConns)
	}
	f.SetBandwidth(opts.Bandwidth)
	return f
}

// SetBandwidth limits the bytes per second of all fetches together from now on; 0 is no limit.
func (f *Fetcher) SetBandwidth(perSecond float64) {
	if perSecond <= 0 {
		f.bandwidth.Store(nil)
		return
	}
	burst := int(max(perSecond, copyBuffer))
	if l := f.bandwidth.Load(); l != nil { // what has been used up counts
		l.SetLimit(rate.Limit(perSecond))
		l.SetBurst(burst)
		return
	}
	f.bandwidth.Store(rate.NewLimiter(rate.Limit(perSecond), burst))
}

// Close closes idle connections. The Fetcher can still be used: the next requests open new ones.
func (f *Fetcher) Close() { f.closeIdle() }

func (f *Fetcher) closeIdle() { f.ways.closeIdle() }

// Request describes a fetch. Only URL is required.
type Request struct {
	URL          string
	Accept       string // value of the Accept field; "" for anything
	ETag         string // of the stored version: the file is sent only if it differs
	LastModified string // likewise
	// Check, if not nil, is called with every redirect target before it is requested. A *Refused ends the fetch with
	// that outcome; Fetch returns any other error.
	Check func(url string) error
	// CheckBody, if not nil, is called before the body of a response is read, with the media type and the length that
	// the server declares; these are "" and -1 if it does not. A *Refused ends the fetch with that outcome; Fetch
	// returns any other error.
	CheckBody func(mediaType string, length int64) error
	// Answered reports that the host answered the last request for the URL. Fetch ignores it; it is for wrappers of
	// Fetch.
	Answered bool
	// Hold lets the tape write the last response later: see Taped.Write.
	Hold     bool
	Original *Original // what the response may repeat, for the tape; nil if unknown
	MaxBody  int64     // replaces Options.MaxBody and what the operator has set for the host; 0 does not
	CutOff   bool      // keep the first MaxBody bytes of a longer body instead of failing
	Part     *Part     // the part of the file that is wanted; nil for all of it
}

// Refused is the error of Request.Check for a target that must not be fetched. It has the outcome of the fetch.
type Refused struct {
	Outcome catalog.Outcome
	Class   catalog.ErrorClass
	Why     string
}

func (r *Refused) Error() string { return r.Why }

// Exchange is one fetch: the request, the response and the outcome. The caller owns the Body and must remove it.
type Exchange struct {
	URL            string
	RequestLine    string      // of the last request: "GET /a HTTP/1.1"
	RequestHeader  http.Header // of the last request, as sent, without what is secret
	StatusLine     string      // of the last response: "HTTP/1.1 200 OK"; "" if there was none
	ResponseHeader http.Header // of the last response
	FinalURL       string      // of the last request
	Redirects      []string    // URLs that redirected, in order; the first is URL
	Status         int         // 0 if there was no response, or for ftp
	Body           *spool.File // decoded and finished; nil if there is nothing to keep
	Encoding       string      // the decoded content encoding, "" for none
	Received       int64       // bytes of the body before decoding
	Sent           Sent        // the part of the file that the Body is, if Request.Part asked for one
	ContentType    string      // as the server sent it
	FileName       string      // from Content-Disposition or the URL, safe as a path element; may be ""
	LastModified   string      // as the server sent it
	ETag           string      // as the server sent it

	Hops  []Hop // requests over HTTP that had a response, in order; the last is that of FinalURL, if it had one
	Taped Taped // zero without a tape

	Start, End time.Time
	Asked      time.Time // when the last request began; later than Start if there were redirects
	FirstByte  time.Time // of the last response, zero if there was none

	// Outcome is "" if there is a Body, since the caller decides what that is. It is Unchanged for a 304.
	Outcome    catalog.Outcome
	ErrorClass catalog.ErrorClass
	Why        string        // an explanation; "" with a Body
	RetryAfter time.Duration // as the server asks, at most a day; 0 if it does not
	Rest       time.Duration // until the server's limit of requests permits another; 0 if it does not say that it is used up
	RemoteAddr string        // address and port of the last connection
	Reached    time.Time     // when the other end last answered, even with a refusal; zero if it did not
	// Unreachable reports that nothing answered: no address of the host was found, or none could be reached. The cause
	// is the host or the network; Fetch cannot distinguish them.
	Unreachable bool
	NoRoute     bool   // Unreachable because this machine has no route to the host's network
	NoNames     bool   // Unreachable because no name server answered
	Named       bool   // a name server was asked, and answered
	announced   int64  // Content-Length, -1 for none
	asked       int64  // bytes of the part that is sent
	TLS         string // version, followed by "certificate not verified" if so; "" without TLS
	Unverified  bool   // the certificate of some connection of the fetch was not verified
	// Exception is the permission by which robots.txt did not apply, in one sentence. The caller of Fetch sets it.
	Exception string
}

// Latency returns the time from the last request to the first byte of its response, 0 if there was none. What
// redirects took, and the pauses before them, is not part of it.
func (ex *Exchange) Latency() time.Duration {
	if ex.FirstByte.IsZero() {
		return 0
	}
	return ex.FirstByte.Sub(ex.Asked)
}

// fail sets an outcome without a file.
func (ex *Exchange) fail(o catalog.Outcome, c catalog.ErrorClass, why string) {
	if len(why) > 500 {
		why = strings.ToValidUTF8(why[:500], "") + "..."
	}
	ex.Outcome, ex.ErrorClass, ex.Why = o, c, why
}

// Fetch downloads a URL, following redirects. It does not return an error for a fetch that failed because of the
// server.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Exchange, error) {
	ex := &Exchange{URL: req.URL, FinalURL: req.URL, Start: f.opts.Now()}
	err := f.follow(ctx, ex, req)
	ex.End = f.opts.Now()
	if f.opts.Tape != nil && (len(ex.Hops) > 0 || ex.Body != nil) {
		ex.Taped = f.opts.Tape.Record(ctx, ex, req.Original, req.Hold)
	}
	ex.release()
	if err != nil {
		if removing := ex.Body.Remove(); removing != nil {
			err = errors.Join(err, removing)
		}
		return nil, fmt.Errorf("fetch %s: %w", req.URL, err)
	}
	return ex, nil
}

// errTotal is the cause of the context that Timeouts.Total ends.
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
		if req.MaxBody == 0 { // that of the host that was asked first has precedence
			req.MaxBody = f.opts.Settings(u.Group()).MaxBody
		}
		public, _ := u.WithoutSecret()
		ex.FinalURL = public.String()
		here := ex.FinalURL + " " + jar.header(u)
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
		u, _ = u.WithoutSecret() // a server must not make us send and record them
		ex.FinalURL = u.String()
		switch {
		case len(ex.Redirects) > f.opts.MaxRedirects:
			ex.fail(catalog.NoVersion, catalog.ErrTooManyRedirect, fmt.Sprintf("more than %d redirects", f.opts.MaxRedirects))
			return nil
		case slices.Contains(seen, u.String()+" "+jar.header(u)):
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

// badTarget returns the outcome of a redirect that cannot be followed: Blocked for another scheme, NoVersion for a
// malformed URL.
func badTarget(location string) catalog.Outcome {
	scheme, _, ok := strings.Cut(strings.TrimSpace(location), ":")
	if ok && !strings.ContainsAny(scheme, "/?#") && !slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(scheme)) {
		return catalog.Blocked
	}
	return catalog.NoVersion
}

// hop makes one request. It returns the Location of a redirect, or "" if the exchange is complete.
func (f *Fetcher) hop(ctx context.Context, ex *Exchange, u address.URL, req Request, jar cookies) (location string, err error) {
	if why := forbiddenPort(u); why != "" {
		ex.fail(catalog.Blocked, catalog.ErrForbiddenTarget, why)
		return "", nil
	}
	if not := f.opts.Permit(u.Group()); not != nil {
		return "", not
	}
	ex.Asked, ex.FirstByte = f.opts.Now(), time.Time{}
	if u.Scheme == "ftp" {
		return "", f.ftp(ctx, ex, u, req)
	}
	return f.http(ctx, ex, u, req, jar)
}
