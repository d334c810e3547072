package sparqlapi

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Guard finds out who sends a request, and what they may do.
//
// After twenty wrong tokens, a client may try one a second: others are refused with status 429. A right token passes
// always: other clients may have the same address, and 128 random bits are not found by trying.
type Guard struct {
	tokens   *access.Tokens
	sessions *access.Sessions
	site     Site
	wrong    *limiter
	rates    *perName
	now      func() time.Time
}

// NewGuard returns a guard for a server with these tokens. Without any, it refuses every write.
func NewGuard(tokens *access.Tokens, site Site) *Guard {
	return &Guard{tokens: tokens, sessions: access.NewSessions(tokens, time.Now), site: site,
		wrong: newLimiter(Rate{PerSecond: 1, Burst: 20}), rates: newPerName(), now: time.Now}
}

// Local marks the context of requests that only the archive's own user can send, such as those of the socket. They need
// no token.
func Local(ctx context.Context) context.Context { return access.With(ctx, access.Local()) }

// caller returns who sends a request: whoever its context names, or the holder of the token in it.
func (g *Guard) caller(r *http.Request) access.Caller {
	if c, known := access.Of(r.Context()); known {
		return c
	}
	given, inAddress, ok := credentials(r)
	if !ok {
		c, _ := g.signedIn(r)
		return c
	}
	if inAddress && r.Method != http.MethodGet && r.Method != http.MethodHead && !g.fromPage(r, true) {
		return access.Caller{Refused: crossSite()} // a form of any site could guess a token in an address, and no browser would ask first
	}
	return g.holder(r, given)
}

// holder returns the holder of a token. It counts wrong ones.
func (g *Guard) holder(r *http.Request, given string) access.Caller {
	token, err := g.tokens.Find(given, g.now())
	if err != nil {
		wait, _ := g.wrong.take(guesser(r))
		if wait > 0 {
			return access.Caller{
				Refused: &problem.Error{Status: http.StatusTooManyRequests, Title: "Too many wrong tokens", RetryAfter: wait,
					Detail: "this address has sent too many wrong tokens"}}
		}
		return access.Caller{Refused: problem.Wrap(http.StatusForbidden, "Wrong token", err)}
	}
	return access.Caller{Name: token.Name, Rights: token.Rights, Token: token}
}

// Check returns nil if r may do what needs a right, or else a problem of status 401, 403 or 429.
func (g *Guard) Check(r *http.Request, right access.Right) error { return g.judge(g.caller(r), right) }

// For returns Check for a right.
func (g *Guard) For(right access.Right) func(*http.Request) error {
	return func(r *http.Request) error { return g.Check(r, right) }
}

// CheckToken is Check for a token that was sent in the body of a request that changes something, as forms of pages do.
// It is not looked at if r has the right anyway.
func (g *Guard) CheckToken(r *http.Request, token string, right access.Right) error {
	c := g.caller(r)
	if !c.Rights.Has(right) && token != "" && !g.tokens.None() {
		c = g.holder(r, token)
	}
	if err := g.judge(c, right); err != nil {
		return err
	}
	return operate.BeginAct(r.Context(), c.Name)
}

// judge returns nil if the caller has a right.
func (g *Guard) judge(c access.Caller, right access.Right) error {
	switch {
	case c.Rights.Has(right):
		return nil
	case g.tokens.None() && right != access.Read:
		return problem.New(http.StatusForbidden, "Writing is disabled", "this server was started without a token")
	case c.Refused != nil:
		return c.Refused
	case c.Known():
		return problem.Newf(http.StatusForbidden, "The token lacks a right", "the token %s has the rights %s; this needs %s", c.Name,
			c.Rights, right)
	}
	return problem.New(http.StatusUnauthorized, "A token is required", "send it as: Authorization: Bearer TOKEN")
}

// guesser returns the network whose wrong tokens are counted together. Unlike the limit of requests, it has no
// exception for this machine, where a proxy may be.
func guesser(r *http.Request) netip.Prefix {
	if network, ok := clientNetwork(r); ok {
		return network
	}
	return netip.Prefix{}
}

// Need returns a middleware: only requests with a right reach what is behind it.
func (g *Guard) Need(right access.Right) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
			err := g.Check(r, right)
			if err == nil && right != access.Read {
				err = operate.BeginAct(r.Context(), "")
			}
			if err != nil {
				if r.ContentLength != 0 {
					w.Header().Set("Connection", "close") // or net/http would read the body before it answers
				}
				return err
			}
			next.ServeHTTP(w, r)
			return nil
		})
	}
}

type secretKey struct{}

// credentials returns the bearer token, or else the value of the paper's ?secret=, which hideSecret has removed from
// the address: then inAddress is true.
func credentials(r *http.Request) (token string, inAddress, ok bool) {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), false, true
	}
	token, ok = r.Context().Value(secretKey{}).(string)
	return token, ok, ok
}

// hideSecret removes ?secret= from a request's address before anything can log it.
func hideSecret(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, secret, found := target.CutParameter(r.URL.RawQuery, "secret")
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		r2 := r.WithContext(context.WithValue(r.Context(), secretKey{}, secret))
		u := *r.URL
		u.RawQuery = query
		r2.URL, r2.RequestURI = &u, u.RequestURI()
		next.ServeHTTP(w, r2)
	})
}

// open are the paths that anybody may ask of a closed archive: what shows that the server lives, and what a page for
// signing in needs. Those with a '/' at the end are folders.
var open = []string{"/healthz", "/readyz", "/robots.txt", "/favicon.ico", "/favicon.svg", "/assets/", "/sign-in", "/sign-out"}

// closed refuses requests to a closed archive that lack the right to read, whatever they ask for.
func (o Options) closed(next http.Handler) http.Handler {
	if !o.Closed {
		return next
	}
	behind := o.Guard.Need(access.Read)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.EscapedPath() // as it is routed
		for _, path := range open {
			if asked == path || strings.HasSuffix(path, "/") && strings.HasPrefix(asked, path) {
				next.ServeHTTP(w, r)
				return
			}
		}
		behind.ServeHTTP(w, r)
	})
}

// audited records requests that change something, when the guard lets them pass (audit.Begin), and how they end.
func (o Options) audited(next http.Handler) http.Handler {
	if o.Audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		c, _ := access.Of(r.Context())
		from := clientAddress(r)
		if _, err := netip.ParseAddr(from); err != nil {
			from = "" // the socket
		}
		r, act := operate.WithAct(o.Audit, r,
			operate.AuditLine{Who: c.Name, From: from, Request: w.Header().Get("X-Request-Id"), Method: r.Method,
				Path: operate.Redact(r.URL.EscapedPath()), Query: operate.Redact(r.URL.RawQuery)})
		defer func() {
			status := 0
			if rec, ok := w.(*recorder); ok {
				status = rec.status
			}
			if err := act.End(status); err != nil {
				o.Log.ErrorContext(r.Context(), "the end of a request is not in the audit log", "err", err)
			}
		}()
		next.ServeHTTP(w, r)
	})
}
