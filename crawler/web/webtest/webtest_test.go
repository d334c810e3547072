package webtest

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const small = `
-- data.example/robots.txt --
User-agent: *
Disallow: /secret
-- data.example/a.csv --
> etag
a,b
1,2
-- data.example/a.csv @2 --
> etag
a,b
3,4
-- data.example/moved --
> redirect /a.csv 301
-- data.example/later @2030-01-01T00:00:00Z --
late
-- secure.example --
> tls good
-- secure.example/ --
secret
`

func startSmall(t *testing.T, o Options) (*Web, *http.Client) {
	t.Helper()
	w, err := Start([]byte(small), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	tr := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, _ := net.SplitHostPort(address)
		addrs, err := w.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		return w.Dial(ctx, network, net.JoinHostPort(addrs[0].String(), port))
	}, TLSClientConfig: &tls.Config{RootCAs: w.RootCAs()}}
	t.Cleanup(tr.CloseIdleConnections)
	return w, &http.Client{Transport: tr}
}

func get(t *testing.T, c *http.Client, url string, headers ...string) (status int, body string, h http.Header) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func TestPagesChangeWithTheStateAndAnswer304(t *testing.T) {
	t.Parallel()
	w, c := startSmall(t, Options{})
	status, body, h := get(t, c, "http://data.example/moved")
	if status != 200 || body != "a,b\n1,2\n" {
		t.Errorf("got %d %q", status, body)
	}
	if status, _, _ := get(t, c, "http://data.example/a.csv", "If-None-Match", h.Get("ETag")); status != 304 {
		t.Errorf("with the entity tag: %d", status)
	}
	w.SetState(2)
	if _, body, _ := get(t, c, "http://data.example/a.csv", "If-None-Match", h.Get("ETag")); body != "a,b\n3,4\n" {
		t.Errorf("in state 2: %q", body)
	}
	if _, body, _ := get(t, c, "https://secure.example/"); body != "secret\n" {
		t.Errorf("by TLS: %q", body)
	}
	if status, _, _ := get(t, c, "http://data.example/nothing"); status != 404 {
		t.Errorf("an unknown page: %d", status)
	}
	var paths []string
	for _, r := range w.Requests() {
		paths = append(paths, r.Path)
	}
	if want := []string{"/moved", "/a.csv", "/a.csv", "/a.csv", "/", "/nothing"}; !slices.Equal(paths, want) {
		t.Errorf("recorded %v", paths)
	}
}

func TestPagesChangeWithTheClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2029, 12, 31, 0, 0, 0, 0, time.UTC)
	_, c := startSmall(t, Options{Now: func() time.Time { return now }})
	if status, _, _ := get(t, c, "http://data.example/later"); status != 404 {
		t.Errorf("too early: %d", status)
	}
	now = now.AddDate(0, 0, 2)
	if _, body, _ := get(t, c, "http://data.example/later"); body != "late\n" {
		t.Errorf("in time: %q", body)
	}
}

func TestBrokenPromisesAreNamed(t *testing.T) {
	t.Parallel()
	w, c := startSmall(t, Options{})
	get(t, c, "http://data.example/a.csv")
	get(t, c, "http://data.example/secret/x")
	broken := strings.Join(w.Broken(Promises{
		Delay:  func(string) time.Duration { return time.Hour },
		Denied: func(host, path string) bool { return strings.HasPrefix(path, "/secret") },
	}), "\n")
	if !strings.Contains(broken, "less than 1h0m0s") || !strings.Contains(broken, "forbidden") {
		t.Errorf("got %q", broken)
	}
	w.Forget()
	if broken := w.Broken(Promises{}); len(broken) != 0 {
		t.Errorf("after Forget: %v", broken)
	}
}

func TestAMistakeInTheFileIsNamed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"-- a.example/x --\n> nonsense\n", "-- a.example --\n> address x\n", "-- a.example/x @soon --\n"} {
		if w, err := Start([]byte(text), Options{}); err == nil || !strings.Contains(err.Error(), "a.example") {
			t.Errorf("%q: %v", text, err)
			if w != nil {
				w.Close()
			}
		}
	}
}
