package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/spool"
)

func newFetcher(t *testing.T, o Options) *Fetcher {
	t.Helper()
	s, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.AllowNets == nil {
		o.AllowNets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	o.Spool = s
	f := New(o)
	t.Cleanup(func() {
		f.Close()
		if memory, disk := s.Usage(); memory != 0 || disk != 0 {
			t.Errorf("the spool still holds %d bytes in memory, %d on disk", memory, disk)
		}
	})
	return f
}

func get(t *testing.T, f *Fetcher, req Request) *Exchange {
	t.Helper()
	ex, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ex.Body.Remove() })
	return ex
}

func text(t *testing.T, ex *Exchange) string {
	t.Helper()
	if ex.Body == nil {
		return ""
	}
	b, err := io.ReadAll(ex.Body.Open())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestAFileComesWithItsHeaders(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Type", "text/csv")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, "a,b\n1,2\n")
	})
	f := newFetcher(t, Options{Contact: "https://archive.example/bot"})
	ex := get(t, f, Request{URL: url + "/data.csv?x=%7E"})
	if ex.Outcome != "" || text(t, ex) != "a,b\n1,2\n" || ex.Status != 200 || ex.ContentType != "text/csv" || ex.FileName != "data.csv" {
		t.Errorf("got %+v", ex)
	}
	if got := ex.RequestHeader.Get("User-Agent"); got != "odarchive/1.0 (+https://archive.example/bot)" {
		t.Errorf("User-Agent %q", got)
	}
	if ex.RequestLine != "GET /data.csv?x=%7E HTTP/1.1" || ex.RequestHeader.Get("Host") == "" || ex.RemoteAddr == "" ||
		ex.FirstByte.IsZero() {
		t.Errorf("the request was noted as %q %v to %q", ex.RequestLine, ex.RequestHeader, ex.RemoteAddr)
	}
	again := get(t, f, Request{URL: url + "/data.csv", ETag: ex.ETag})
	if again.Outcome != catalog.Unchanged || again.Status != 304 || again.Body != nil {
		t.Errorf("the second time: %+v", again)
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { t.Error("was asked") })
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{}})
	ex := get(t, f, Request{URL: url})
	if ex.Outcome != catalog.Blocked || ex.ErrorClass != catalog.ErrForbiddenTarget {
		t.Errorf("got %+v", ex)
	}
}

// turning is a Resolver whose answers change with every lookup.
type turning struct {
	answers [][]netip.Addr
	asked   int
}

func (r *turning) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.asked++
	return r.answers[min(r.asked, len(r.answers))-1], nil
}

func TestANameThatTurnsToAPrivateAddressIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that the next fetch needs a new connection
		io.WriteString(w, "a,b\n1,2\n")
	})
	public, private, metadata := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("169.254.169.254")
	names := &turning{answers: [][]netip.Addr{{public}, {private, public}, {metadata}, {private}}}
	var mu sync.Mutex
	var connected []string
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{}, Resolver: names,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			connected = append(connected, address)
			mu.Unlock()
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(url, "http://"))
		}})
	for i, want := range []catalog.Outcome{"", "", catalog.Blocked, catalog.Blocked} {
		if ex := get(t, f, Request{URL: "http://turning.example/a.csv"}); ex.Outcome != want {
			t.Errorf("fetch %d: %+v, want %q", i, ex, want)
		}
	}
	if want := []string{"8.8.8.8:80", "8.8.8.8:80"}; !slices.Equal(connected, want) || names.asked != 4 {
		t.Errorf("connected to %v after %d questions, want %v: the address that was checked is the one that is connected to", connected,
			names.asked, want)
	}
}

func TestLatencyIsThatOfTheLastRequest(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "/b", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "text")
	})
	var waited atomic.Int64
	f := newFetcher(t, Options{Now: func() time.Time { return time.Now().Add(time.Duration(waited.Load())) }})
	ex := get(t, f, Request{URL: url + "/a", Check: func(string) error { waited.Add(int64(time.Hour)); return nil }})
	if d := ex.Latency(); d <= 0 || d > 30*time.Minute {
		t.Errorf("latency %v, where the redirect waited for an hour", d)
	}
}
