package sparqlapi

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"

	"golang.org/x/time/rate"
)

// Rate limits the requests from one client.
type Rate struct {
	PerSecond float64 // sustained; 0 means no limit
	Burst     int     // at once; at least 1
}

// maxClients bounds the table of clients. When it is full, the whole table is dropped, which allows more requests than
// the limit for a moment but never blocks.
const maxClients = 65536

// limiter has a token bucket for each client network: an IPv4 address, or an IPv6 /64, which is what one household
// gets.
type limiter struct {
	rate Rate
	now  func() time.Time

	mu      sync.Mutex // guards clients
	clients map[netip.Prefix]*rate.Limiter
}

func newLimiter(r Rate) *limiter {
	return &limiter{rate: Rate{r.PerSecond, max(r.Burst, 1)}, now: time.Now, clients: make(map[netip.Prefix]*rate.Limiter)}
}

// take counts a request of the client. If wait > 0, the request is over the limit, and the next one is allowed after
// wait.
func (l *limiter) take(client netip.Prefix) (wait time.Duration, bucket *rate.Limiter) {
	l.mu.Lock()
	bucket, ok := l.clients[client]
	if !ok {
		if len(l.clients) >= maxClients {
			clear(l.clients)
		}
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.clients[client] = bucket
	}
	l.mu.Unlock()
	now := l.now()
	reservation := bucket.ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, bucket
}

// limit answers requests over the rate with status 429. A token that has a rate of its own counts with that, wherever
// it comes from. Other clients on this machine are not limited: they are the operator, or a proxy that sees the real
// addresses and has its own limits.
func limit(r Rate, guard *Guard) func(http.Handler) http.Handler {
	l := newLimiter(r)
	return func(next http.Handler) http.Handler {
		return problem.Handler(func(w http.ResponseWriter, req *http.Request) error {
			var wait time.Duration
			var bucket *rate.Limiter
			perSecond, of := r.PerSecond, "from one address"
			if c, _ := access.Of(req.Context()); c.Token != nil && c.Token.Rate > 0 {
				perSecond, of = c.Token.Rate, "with this token"
				wait, bucket = guard.rates.take(c.Token)
			} else if network, ok := clientNetwork(req); ok && r.PerSecond > 0 {
				wait, bucket = l.take(network)
			}
			if bucket != nil {
				tellRate(w.Header(), bucket)
			}
			if wait > 0 {
				return &problem.Error{Status: http.StatusTooManyRequests, Title: "Too many requests", RetryAfter: wait,
					Detail: "at most " + strconv.FormatFloat(perSecond, 'g', -1, 64) + " requests a second are allowed " + of}
			}
			next.ServeHTTP(w, req)
			return nil
		})
	}
}

// tellRate says how many requests a client has left, and until when that is so, in the header fields of
// draft-ietf-httpapi-ratelimit-headers. A bucket is a quota of its size in the time that fills it.
func tellRate(h http.Header, bucket *rate.Limiter) {
	left, full := max(bucket.Tokens(), 0), float64(bucket.Burst())
	seconds := func(requests float64) string { return strconv.Itoa(int(math.Ceil(requests / float64(bucket.Limit())))) }
	h.Set("RateLimit-Policy", `"requests";q=`+strconv.Itoa(bucket.Burst())+`;w=`+seconds(full))
	h.Set("RateLimit", `"requests";r=`+strconv.Itoa(int(left))+`;t=`+seconds(full-min(left, full)))
}

// perName has a bucket for each token with a rate of its own. There are as many as the settings have had.
type perName struct {
	mu      sync.Mutex // guards buckets
	buckets map[string]*rate.Limiter
}

func newPerName() *perName { return &perName{buckets: map[string]*rate.Limiter{}} }

// take counts a request with a token, as limiter.take does.
func (p *perName) take(t *access.Token) (wait time.Duration, bucket *rate.Limiter) {
	p.mu.Lock()
	bucket, ok := p.buckets[t.Name]
	if !ok || bucket.Limit() != rate.Limit(t.Rate) {
		if len(p.buckets) >= maxClients {
			clear(p.buckets)
		}
		bucket = rate.NewLimiter(rate.Limit(t.Rate), max(1, int(5*t.Rate)))
		p.buckets[t.Name] = bucket
	}
	p.mu.Unlock()
	reservation := bucket.Reserve()
	if wait = reservation.Delay(); wait > 0 {
		reservation.Cancel()
	}
	return wait, bucket
}

func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func clientNetwork(r *http.Request) (netip.Prefix, bool) {
	addr, err := netip.ParseAddr(clientAddress(r))
	if err != nil || addr.IsLoopback() {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	return network, err == nil
}
