package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

func TestUnusedConnectionsAreClosedWhenThereAreMany(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a,b\n") }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	const many = 20
	hosts := make([]string, many+10)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("127.0.0.%d", 1+i)
	}
	var open, highest, all atomic.Int64
	f := newFetcher(t, Options{UnverifiedHosts: hosts, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		all.Add(1)
		if now := open.Add(1); now > highest.Load() {
			highest.Store(now) // visits come one after the other
		}
		return closing{conn, sync.OnceFunc(func() { open.Add(-1) })}, nil
	}})
	f.crowd.least = many
	for _, host := range hosts {
		ex := get(t, f, Request{URL: "https://" + host + "/"})
		if got := text(t, ex); got != "a,b\n" || ex.TLS == "" {
			t.Fatalf("%s: %q, %+v", host, got, ex)
		}
		_ = ex.Body.Remove()
	}
	if n := highest.Load(); n > many+1 {
		t.Errorf("%d connections were open, want at most %d", n, many+1)
	}
	if n := all.Load(); n != int64(len(hosts)) {
		t.Errorf("%d connections to %d hosts", n, len(hosts))
	}
}

func TestACrowdThatIsAllAtWorkIsLeftAlone(t *testing.T) {
	t.Parallel()
	const many = 20
	c := crowd{least: many}
	cleared := 0
	for range 4 * many {
		if c.enter() {
			c.settle() // none of them could be closed
			cleared++
		}
	}
	if cleared != 2 {
		t.Errorf("unused ones were looked for %d times, want 2: beyond %d and twice as many", cleared, many)
	}
	for range 4 * many {
		c.leave()
	}
	if c.enter() {
		t.Error("one connection is a crowd")
	}
	if c.settle(); c.limit != 2 {
		t.Errorf("the limit is %d", c.limit)
	}
}
