package fetch

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestWhoHasNoContactIsToldOnceBeforeAStrangerIsVisited(t *testing.T) {
	t.Parallel()
	told := 0
	f := New(Options{AllowPrivateHosts: true, Nameless: func() { told++ }})
	refused := func(netip.Addr) (net.Conn, bool, error) { return nil, true, errors.New("refused") }
	for _, c := range []struct {
		addr string
		want int
	}{{"127.0.0.1", 0}, {"10.1.2.3", 0}, {"93.184.216.34", 1}, {"93.184.216.35", 1}} {
		if _, err := f.firstAllowed(t.Context(), target{host: "a.example", addrs: []netip.Addr{netip.MustParseAddr(c.addr)}},
			refused); err == nil || told != c.want {
			t.Errorf("%s: told %d times, want %d (%v)", c.addr, told, c.want, err)
		}
	}
}
