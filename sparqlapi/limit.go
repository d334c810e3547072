package sparqlapi

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"odarchive/sparqlapi/problem"

	"golang.org/x/time/rate"
)

// Rate is how many requests one client address may make.
type Rate struct {
	PerSecond float64 // sustained; 0 for no limit
	Burst     int     // at once; at least 1
}

// clientsKept bounds the table of clients; beyond it the whole table is forgotten, which forgives and never blocks.
const clientsKept = 65536

// limiter holds one token bucket per client network: an IPv4 address or an IPv6 /64, which is what one household has.
type limiter struct {
	rate Rate
	now  func() time.Time

	mu      sync.Mutex // guards clients
	clients map[netip.Prefix]*rate.Limiter
}

func newLimiter(r Rate) *limiter {
	return &limiter{rate: Rate{r.PerSecond, max(r.Burst, 1)}, now: time.Now, clients: make(map[netip.Prefix]*rate.Limiter)}
}

// take uses up one request of the client; wait > 0 says when the next one is welcome.
func (l *limiter) take(client netip.Prefix) (wait time.Duration) {
	l.mu.Lock()
	bucket, ok := l.clients[client]
	if !ok {
		if len(l.clients) >= clientsKept {
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
	return wait
}

// limit answers 429 to a client that asks too often. A client on the machine itself is not limited: it is the
// operator, or a proxy that sees the real addresses and has limits of its own.
func limit(r Rate) func(http.Handler) http.Handler {
	if r.PerSecond <= 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	l := newLimiter(r)
	return func(next http.Handler) http.Handler {
		return problem.Handler(func(w http.ResponseWriter, req *http.Request) error {
			if network, ok := clientNetwork(req); ok {
				if wait := l.take(network); wait > 0 {
					return &problem.Error{Status: http.StatusTooManyRequests, Title: "Too many requests", RetryAfter: wait,
						Detail: "at most " + strconv.FormatFloat(l.rate.PerSecond, 'g', -1, 64) + " requests a second are answered for one address"}
				}
			}
			next.ServeHTTP(w, req)
			return nil
		})
	}
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
