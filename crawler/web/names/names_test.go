package names

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// book is a Resolver whose answers a test sets. It counts questions.
type book struct {
	mu    sync.Mutex
	addrs []netip.Addr
	life  time.Duration
	err   error
	asked int
	gate  chan struct{} // if not nil, answers wait for it
}

func (b *book) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	addrs, _, err := b.LookupTimed(ctx, network, host)
	return addrs, err
}

func (b *book) LookupTimed(ctx context.Context, _, _ string) ([]netip.Addr, time.Duration, error) {
	b.mu.Lock()
	b.asked++
	gate := b.gate
	b.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.addrs), b.life, b.err
}

func (b *book) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

type clock struct{ now time.Time }

func newCache(of Resolver, max int) (*Cache, *clock) {
	c := &clock{time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)}
	return NewCache(of, Options{Max: max, Now: func() time.Time { return c.now }}), c
}

var (
	first  = netip.MustParseAddr("203.0.113.1")
	second = netip.MustParseAddr("203.0.113.2")
)

func lookup(t *testing.T, c *Cache, host string) []netip.Addr {
	t.Helper()
	addrs, err := c.LookupNetIP(t.Context(), "ip", host)
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}

func TestAnAnswerIsRememberedAsLongAsItIsValid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ life, want time.Duration }{
		{0, time.Minute}, {time.Second, 5 * time.Second}, {10 * time.Minute, 10 * time.Minute}, {48 * time.Hour, time.Hour},
	} {
		b := &book{addrs: []netip.Addr{first}, life: test.life}
		c, clock := newCache(b, 10)
		lookup(t, c, "a.example")[0] = second // the caller's copy
		b.set(func() { b.addrs = []netip.Addr{second} })
		clock.now = clock.now.Add(test.want - time.Millisecond)
		if got := lookup(t, c, "A.example"); got[0] != first || b.asked != 1 {
			t.Errorf("lifetime %v: %v after %d questions, want the first answer", test.life, got, b.asked)
		}
		clock.now = clock.now.Add(2 * time.Millisecond)
		if got := lookup(t, c, "a.example"); got[0] != second || b.asked != 2 {
			t.Errorf("lifetime %v: afterwards %v after %d questions, want the second answer", test.life, got, b.asked)
		}
	}
}

func TestThatANameDoesNotExistIsRememberedBrieflyAndOtherFailuresNotAtAll(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err   error
		asked int
	}{
		{&net.DNSError{Err: "no such host", IsNotFound: true}, 1},
		{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, 3},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, 3},
		{errors.New("dial udp: connection refused"), 3},
	} {
		b := &book{err: test.err}
		c, clock := newCache(b, 10)
		for range 3 {
			if _, err := c.LookupNetIP(t.Context(), "ip", "a.example"); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
		}
		if b.asked != test.asked {
			t.Errorf("%v: asked %d times, want %d", test.err, b.asked, test.asked)
		}
		b.set(func() { b.addrs, b.err = []netip.Addr{first}, nil })
		clock.now = clock.now.Add(31 * time.Second)
		if got := lookup(t, c, "a.example"); got[0] != first {
			t.Errorf("after %v: %v", test.err, got)
		}
	}
}

func TestManyWhoAskAtOnceAskOnceAndOneMayLeave(t *testing.T) {
	t.Parallel()
	b := &book{addrs: []netip.Addr{first}, gate: make(chan struct{})}
	c, _ := newCache(b, 10)
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.LookupNetIP(leaving, "ip", "a.example")
		left <- err
	}()
	for asked := 0; asked == 0; {
		b.set(func() { asked = b.asked })
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves gets %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := lookup(t, c, "a.example"); got[0] != first {
				t.Errorf("got %v", got)
			}
		})
	}
	close(b.gate)
	all.Wait()
	if b.asked != 1 {
		t.Errorf("asked %d times, want once", b.asked)
	}
}

func TestTheCacheIsBoundedAndForgets(t *testing.T) {
	t.Parallel()
	b := &book{addrs: []netip.Addr{first}}
	c, _ := newCache(b, 100)
	for i := range 1000 {
		lookup(t, c, fmt.Sprintf("h%d.example", i))
		if len(c.known) > 100 {
			t.Fatalf("%d names are known", len(c.known))
		}
	}
	lookup(t, c, "h999.example")
	if b.asked != 1000 {
		t.Errorf("asked %d times, want 1000: the last name is known", b.asked)
	}
	c.Forget("H999.example")
	lookup(t, c, "h999.example")
	if b.asked != 1001 {
		t.Errorf("a forgotten name is not asked for again")
	}
	if got := lookup(t, c, "192.0.2.7"); got[0] != netip.MustParseAddr("192.0.2.7") || b.asked != 1001 {
		t.Errorf("an address is %v after %d questions", got, b.asked)
	}
}

// serveDNS answers questions for IPv4 addresses with a lifetime, and others with nothing, until the test ends.
func serveDNS(t *testing.T, ttl uint32) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: ttl}
				longer := head
				longer.TTL *= 3
				m.Answers = []dnsmessage.Resource{{Header: longer, Body: &dnsmessage.AResource{A: first.As4()}},
					{Header: head, Body: &dnsmessage.AResource{A: second.As4()}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func TestAServerTellsHowLongItsAnswersAreValid(t *testing.T) {
	t.Parallel()
	addrs, life, err := NewServer(serveDNS(t, 77)).LookupTimed(t.Context(), "ip", "a.example")
	if err != nil || life != 77*time.Second || len(addrs) != 2 {
		t.Errorf("%v for %v, %v; want two addresses for 77 s", addrs, life, err)
	}
	if _, life, err := NewServer(serveDNS(t, 0)).LookupTimed(t.Context(), "ip", "a.example"); err != nil || life <= 0 ||
		life > time.Second {
		t.Errorf("lifetime %v, %v; want the shortest that is known", life, err)
	}
}

func FuzzLifetimes(f *testing.F) {
	f.Add([]byte("\x00\x01\x80\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04abcd"))
	f.Fuzz(func(t *testing.T, message []byte) {
		var l lifetime
		l.observe(message)
		if l.get() < 0 {
			t.Errorf("lifetime %v", l.get())
		}
	})
}
