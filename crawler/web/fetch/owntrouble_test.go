package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/spool"
)

// resolverFunc is a Resolver.
type resolverFunc func(host string) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return f(host)
}

func dialError(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

func TestTheTroubleOfThisMachineIsAnErrorAndNoOutcome(t *testing.T) {
	t.Parallel()
	const v4, v6 = "203.0.114.7", "2a00:1450::7"
	refused := &net.DNSError{Err: "read udp 127.0.0.1:4711->127.0.0.1:53: read: connection refused", Name: "data.example.org",
		IsTemporary: true}
	for name, c := range map[string]struct {
		addr     string
		dial     error
		lookup   error
		want     Trouble            // "": the outcome is the host's
		class    catalog.ErrorClass // then
		reaching [3]bool            // then: reached, unreachable, no route
	}{
		"no descriptor":          {addr: v4, dial: dialError(syscall.EMFILE), want: TroubleDescriptors},
		"no descriptor anywhere": {addr: v4, dial: dialError(syscall.ENFILE), want: TroubleDescriptors},
		"no memory":              {addr: v4, dial: dialError(syscall.ENOMEM), want: TroubleMemory},
		"no buffers":             {addr: v6, dial: dialError(syscall.ENOBUFS), want: TroubleMemory},
		"no local port":          {addr: v4, dial: dialError(syscall.EADDRNOTAVAIL), want: TroublePorts},
		"no IPv6 here": {addr: v6, dial: dialError(syscall.EADDRNOTAVAIL), class: catalog.ErrNetwork,
			reaching: [3]bool{true, false, false}},
		"interface down": {addr: v4, dial: dialError(syscall.ENETDOWN), want: TroubleNetwork},
		"wrapped twice":  {addr: v4, dial: fmt.Errorf("tunnel: %w", dialError(syscall.EMFILE)), want: TroubleDescriptors},
		"no route": {addr: v6, dial: dialError(syscall.ENETUNREACH), class: catalog.ErrNetwork,
			reaching: [3]bool{false, true, true}},
		"host unreachable": {addr: v4, dial: dialError(syscall.EHOSTUNREACH), class: catalog.ErrNetwork,
			reaching: [3]bool{false, true, false}},
		"refused": {addr: v4, dial: dialError(syscall.ECONNREFUSED), class: catalog.ErrNetwork,
			reaching: [3]bool{true, false, false}},
		"timed out": {addr: v4, dial: dialError(syscall.ETIMEDOUT), class: catalog.ErrTimeout,
			reaching: [3]bool{false, true, false}},
		"name server refuses": {lookup: refused, want: TroubleResolver},
		"no descriptor to look up": {lookup: &net.DNSError{Err: "dial udp 127.0.0.1:53: socket: too many open files", Name: "a"},
			want: TroubleDescriptors},
		"name server out of reach": {lookup: &net.DNSError{Err: "dial udp 192.0.2.1:53: connect: network is unreachable", Name: "a"},
			want: TroubleResolver},
		"no such name": {lookup: &net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}, class: catalog.ErrDNS},
		"name server's own trouble": {lookup: &net.DNSError{Err: "server misbehaving", Name: "a", IsTemporary: true}, class: catalog.ErrDNS,
			reaching: [3]bool{false, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := spool.New(t.TempDir(), spool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f := New(Options{Spool: files,
				Resolver: resolverFunc(func(string) ([]netip.Addr, error) {
					if c.lookup != nil {
						return nil, c.lookup
					}
					return []netip.Addr{netip.MustParseAddr(c.addr)}, nil
				}),
				Dial: func(context.Context, string, string) (net.Conn, error) { return nil, c.dial }})
			defer f.Close()
			for _, scheme := range []string{"http", "https", "ftp"} {
				ex, err := f.Fetch(t.Context(), Request{URL: scheme + "://data.example.org/a.csv"})
				var own *OwnTrouble
				switch {
				case c.want != "":
					if !errors.As(err, &own) || own.Kind != c.want || ex != nil {
						t.Errorf("%s: %+v, %v; want %q", scheme, ex, err, c.want)
					}
				case err != nil:
					t.Errorf("%s: %v; want an outcome of class %s", scheme, err, c.class)
				case ex.ErrorClass != c.class || [3]bool{!ex.Reached.IsZero(), ex.Unreachable, ex.NoRoute} != c.reaching:
					t.Errorf("%s: class %s, reached %v, unreachable %v, no route %v; want %s, %v", scheme, ex.ErrorClass, ex.Reached,
						ex.Unreachable, ex.NoRoute, c.class, c.reaching)
				}
			}
		})
	}
}

func TestAnAnswerSaysThatTheNetworkWorks(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	files, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Spool: files, AllowPrivateHosts: true})
	t.Cleanup(f.Close)
	for _, path := range []string{"/gone", "/broken"} {
		if ex, err := f.Fetch(t.Context(), Request{URL: s.URL + path}); err != nil || ex.Reached.IsZero() || ex.Unreachable {
			t.Errorf("%s: %+v, %v", path, ex, err)
		}
	}
}

func TestASpoolThatCannotBeWrittenIsTheTroubleOfThisMachine(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(strings.Repeat("some bytes ", 1000)))
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir() + "/spool"
	files, err := spool.New(dir, spool.Options{MemoryPerFile: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	f := New(Options{Spool: files, AllowPrivateHosts: true})
	t.Cleanup(f.Close)
	var own *OwnTrouble
	if ex, err := f.Fetch(t.Context(), Request{URL: s.URL}); !errors.As(err, &own) || own.Kind != TroubleDisk {
		t.Errorf("%+v, %v", ex, err)
	}
}

func TestNoMoreConnectionsAreOpenThanAllowed(t *testing.T) {
	t.Parallel()
	const most, hosts = 4, 40
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("a,b\n")) }))
	t.Cleanup(s.Close)
	files, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var open, highest atomic.Int64
	f := New(Options{Spool: files, AllowPrivateHosts: true, MaxConns: most,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
			if err != nil {
				return nil, err
			}
			now := open.Add(1)
			for old := highest.Load(); now > old && !highest.CompareAndSwap(old, now); old = highest.Load() {
			}
			return closing{conn, sync.OnceFunc(func() { open.Add(-1) })}, nil
		}})
	t.Cleanup(f.Close)
	var group sync.WaitGroup
	for i := range hosts {
		group.Go(func() {
			ex, err := f.Fetch(t.Context(), Request{URL: fmt.Sprintf("http://127.0.0.%d/", i+1)})
			if err != nil || ex.Body == nil {
				t.Errorf("host %d: %+v, %v", i, ex, err)
				return
			}
			_ = ex.Body.Remove()
		})
	}
	group.Wait()
	if n := highest.Load(); n > most {
		t.Errorf("%d connections were open at a time, want at most %d", n, most)
	}
}

type closing struct {
	net.Conn
	closed func()
}

func (c closing) Close() error { c.closed(); return c.Conn.Close() }

func TestFewDescriptorsMeanFewConnections(t *testing.T) {
	t.Parallel()
	for limit, want := range map[uint64]int{0: 0, 8: 4, 64: 16, 256: 64, 1024: 0, 1 << 20: 0} {
		if got := connsFor(limit); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", limit, got, want)
		}
	}
}
