package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
)

// traced records a request as it is sent. Its hooks run in goroutines of the transport, possibly after RoundTrip has
// returned, so close copies what they recorded to the exchange once.
type traced struct {
	mu     sync.Mutex
	now    func() time.Time
	ex     *Exchange
	header http.Header
	fields warc.Header // the same, in order
	keep   *spool.Spool
	wire   *capture
	login  *hosts.Secret        // is not recorded; may be nil
	permit func() *NotPermitted // may be nil
	remote string
	tries  int       // times that the transport has sent the request
	giveUp func()    // ends the request; may be nil
	named  bool      // a lookup was answered
	kept   bool      // the connection has served another request
	opened time.Time // when a new connection was made; zero if none was
	first  time.Time
}

// maxTries is how often the transport may send a request. A reused connection may be dead, and a server may refuse a
// stream of HTTP/2 once. It would be asked again for ever, without the pause that its host is due.
const maxTries = 3

var errRefusedAgain = errors.New("the server refuses the request again and again (HTTP/2)")

// reused reports whether the request was sent on a reused connection.
func (t *traced) reused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept
}

func (t *traced) hooks() *httptrace.ClientTrace {
	t.header = http.Header{}
	return &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.tries++; t.tries > maxTries && t.giveUp != nil {
				t.giveUp()
			}
			t.header, t.fields = http.Header{}, nil // a request is repeated if a reused connection is dead
			t.record(c.Conn)
			t.remote, t.kept = c.Conn.RemoteAddr().String(), c.Reused
			if !c.Reused {
				t.opened = t.now()
			}
		},
		WroteHeaderField: func(key string, values []string) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if key == ":authority" {
				key = "Host"
			}
			if !strings.HasPrefix(key, ":") && !isSecret(key, t.login.Names()) {
				key = http.CanonicalHeaderKey(key)
				t.header[key] = append(t.header[key], values...)
				for _, v := range values {
					t.fields.Add(key, v)
				}
			}
		},
		DNSDone: func(d httptrace.DNSDoneInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.named = t.named || lookupAnswered(d)
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.first = t.now()
		},
	}
}

// lookupAnswered reports whether a name server answered. Package net tells of lookups only: not of addresses in URLs,
// of places that an operator has named, or of what a cache remembers.
func lookupAnswered(d httptrace.DNSDoneInfo) bool {
	var failed *net.DNSError
	return d.Err == nil || errors.As(d.Err, &failed) && failed.IsNotFound
}

// record begins a new capture on the connection that the request will be sent on. The caller holds mu.
func (t *traced) record(conn net.Conn) {
	if t.wire != nil {
		t.wire.drop()
	}
	t.wire = &capture{keep: t.keep, login: t.login, permit: t.permit}
	if c, ok := conn.(*wireConn); ok {
		c.attach(t.wire)
	}
}

// close copies the recorded facts to the exchange, and returns the capture of the request. line is the method and the
// path.
func (t *traced) close(line string, resp *http.Response) *capture {
	t.mu.Lock()
	defer t.mu.Unlock()
	proto := "HTTP/1.1"
	if resp != nil && resp.ProtoMajor == 2 {
		proto = "HTTP/2.0"
	}
	t.ex.RequestLine = line + " " + proto
	t.ex.RequestHeader, t.header = t.header, http.Header{}
	t.ex.RemoteAddr, t.ex.FirstByte, t.ex.Named = t.remote, t.first, t.ex.Named || t.named
	for _, at := range []time.Time{t.opened, t.first} {
		if at.After(t.ex.Reached) {
			t.ex.Reached = at
		}
	}
	if t.wire == nil { // no connection was made
		t.wire = &capture{}
	}
	if resp != nil && resp.ProtoMajor == 2 {
		t.wire.synthesise(line+" HTTP/1.1", t.fields, resp)
	}
	return t.wire
}
