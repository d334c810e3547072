package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/names"
)

func TestARememberedNameIsCheckedBeforeEachConnection(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "a,b\n1,2\n")
	})
	now := time.Now()
	asked := &turning{
		answers: [][]netip.Addr{{netip.MustParseAddr("8.8.8.8")}, {netip.MustParseAddr("10.0.0.7")}, {netip.MustParseAddr("8.8.4.4")}}}
	cache := names.NewCache(asked, names.Options{Now: func() time.Time { return now }})
	unreachable := false
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{}, Resolver: cache,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if unreachable {
				return nil, &net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF}
			}
			if strings.HasPrefix(address, "10.") {
				t.Errorf("connected to %s", address)
			}
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(url, "http://"))
		}})
	for i, step := range []struct {
		after time.Duration
		want  catalog.Outcome
		asked int
	}{
		{0, "", 1}, {30 * time.Second, "", 1}, {2 * time.Minute, catalog.Blocked, 2}, {0, "", 3}, {0, "", 3},
	} {
		now = now.Add(step.after)
		if ex := get(t, f, Request{URL: "http://turning.example/a.csv"}); ex.Outcome != step.want || asked.asked != step.asked {
			t.Errorf("fetch %d: %q (%s) after %d questions, want %q after %d", i, ex.Outcome, ex.Why, asked.asked, step.want, step.asked)
		}
	}
	unreachable = true
	get(t, f, Request{URL: "http://turning.example/a.csv"})
	unreachable = false
	if get(t, f, Request{URL: "http://turning.example/a.csv"}); asked.asked != 4 {
		t.Errorf("%d questions; want another one after the address could not be reached", asked.asked)
	}
}
