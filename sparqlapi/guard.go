package sparqlapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/push"
	"odarchive/sparqlapi/target"
)

// Guard checks the token that writing requires. It compares digests in constant time, so that the time of a refusal
// reveals neither the token nor its length.
//
// After twenty wrong tokens, a client may try one a second: until then, it is refused whatever it sends.
type Guard struct {
	digest [sha256.Size]byte
	closed bool // no token is set
	wrong  *limiter
}

// NewGuard returns a guard for a token. With an empty token it refuses every write.
func NewGuard(token string) *Guard {
	return &Guard{digest: sha256.Sum256([]byte(token)), closed: token == "", wrong: newLimiter(Rate{PerSecond: 1, Burst: 20})}
}

type localKey struct{}

// Local marks the context of requests that only the archive's own user can send, such as those of the socket. They need
// no token.
func Local(ctx context.Context) context.Context { return context.WithValue(ctx, localKey{}, true) }

type checkedKey struct{}

// checked is what Check returned for a request before.
type checked struct{ err error }

// Check returns nil if r may write, or else a problem of status 401, 403 or 429.
func (g *Guard) Check(r *http.Request) error {
	if before, ok := r.Context().Value(checkedKey{}).(checked); ok {
		return before.err
	}
	if r.Context().Value(localKey{}) != nil {
		return nil
	}
	if g.closed {
		return problem.New(http.StatusForbidden, "Writing is disabled", "this server was started without a token")
	}
	given, ok := credentials(r)
	if !ok {
		return problem.New(http.StatusUnauthorized, "A token is required", "send it as: Authorization: Bearer TOKEN")
	}
	return g.compare(r, given)
}

// CheckToken is Check for a token that was sent in the body of a request, as forms of pages do.
func (g *Guard) CheckToken(r *http.Request, token string) error {
	switch {
	case r.Context().Value(localKey{}) != nil:
		return nil
	case g.closed:
		return problem.New(http.StatusForbidden, "Writing is disabled", "this server was started without a token")
	case token == "":
		return problem.New(http.StatusUnauthorized, "A token is required", "the form has a field for it")
	}
	return g.compare(r, token)
}

// compare returns nil if a token is the server's. It counts wrong ones.
func (g *Guard) compare(r *http.Request, given string) error {
	client := guesser(r)
	if wait := g.wrong.wait(client); wait > 0 {
		return &problem.Error{Status: http.StatusTooManyRequests, Title: "Too many wrong tokens", RetryAfter: wait, Detail: "this address has sent too many wrong tokens"}
	}
	sum := sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(sum[:], g.digest[:]) != 1 {
		g.wrong.take(client)
		return problem.New(http.StatusForbidden, "Wrong token", "the token is not this server's")
	}
	return nil
}

// guesser returns the network whose wrong tokens are counted together. Unlike the limit of requests, it has no exception
// for this machine, where a proxy may be.
func guesser(r *http.Request) netip.Prefix {
	if network, ok := clientNetwork(r); ok {
		return network
	}
	return netip.Prefix{}
}

// Require wraps a handler that only requests with leave to write may reach.
func (g *Guard) Require(next http.Handler) http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if err := g.Check(r); err != nil {
			if r.ContentLength != 0 {
				w.Header().Set("Connection", "close") // or net/http would read the body before it answers
			}
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

type secretKey struct{}

// credentials returns the bearer token, or else the value of the paper's ?secret=, which hideSecret has removed from
// the address.
func credentials(r *http.Request) (string, bool) {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), true
	}
	secret, ok := r.Context().Value(secretKey{}).(string)
	return secret, ok
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

// hideCallback removes the id of a subscription from a request's address before anything can log it: who knows it may pretend
// to be the hub that ends the subscription.
func hideCallback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, found := strings.CutPrefix(r.URL.Path, "/websub/")
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		r2 := r.WithContext(push.WithID(r.Context(), id))
		u := *r.URL
		u.Path, u.RawPath = "/websub/-", ""
		r2.URL, r2.RequestURI = &u, u.RequestURI()
		next.ServeHTTP(w, r2)
	})
}
