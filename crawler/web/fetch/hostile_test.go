package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/webtest"
)

// quick are short time limits, so that hanging servers do not hang the tests.
var quick = Timeouts{Connect: 5 * time.Second, TLS: 5 * time.Second, Header: 400 * time.Millisecond, Idle: 400 * time.Millisecond,
	Total:   20 * time.Second,
	MinRate: 1000, Grace: 500 * time.Millisecond}

func hostileWeb(t testing.TB) *webtest.Web {
	t.Helper()
	archive, err := os.ReadFile("testdata/hostile.txtar")
	if err != nil {
		t.Fatal(err)
	}
	headers := "HTTP/1.1 200 OK\n" + strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\n", 400)
	continues := "-- h.example/continue-for-ever @1 --\n> raw crlf\n" +
		strings.Repeat("HTTP/1.1 100 Continue\nX-Filler: "+strings.Repeat("x", 1000)+"\n\n", 400)
	archive = slices.Concat(archive, []byte("-- h.example/huge-header --\n> want no-version header-too-large\n> raw\n"+headers+"\nx\n"),
		[]byte(continues))
	w, err := webtest.Start(archive, webtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.SetState(1)
	t.Cleanup(w.Close)
	return w
}

func onWeb(w *webtest.Web, o Options) Options {
	o.Resolver, o.Dial, o.RootCAs = w, w.Dial, w.RootCAs()
	o.AllowNets = []netip.Prefix{}
	if o.Timeouts == (Timeouts{}) {
		o.Timeouts = quick
	}
	return o
}

func TestNoMisbehaviourBreaksTheFetcher(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	hurried := newFetcher(t, onWeb(w, Options{MaxBody: 1 << 20}))
	patient := quick // on a busy machine, only what shall run out of time does
	patient.Header, patient.Idle = 10*time.Second, 10*time.Second
	waiting := newFetcher(t, onWeb(w, Options{MaxBody: 1 << 20, Timeouts: patient}))
	wants := w.Wants()
	if len(wants) < 70 {
		t.Fatalf("only %d misbehaviours are tried", len(wants))
	}
	t.Run("all", func(t *testing.T) {
		for _, url := range slices.Sorted(maps.Keys(wants)) {
			want := wants[url]
			t.Run(strings.TrimPrefix(url, "http://h.example/"), func(t *testing.T) {
				f := waiting
				if strings.Contains(want, "timeout") {
					f = hurried
				}
				ex, err := f.Fetch(t.Context(), Request{URL: url})
				if err != nil {
					t.Fatalf("it was taken for our own fault: %v", err)
				}
				got := strings.TrimSpace(string(ex.Outcome) + " " + string(ex.ErrorClass))
				if ex.Body != nil {
					got = strings.TrimSpace("ok " + got)
				}
				if got != want {
					t.Errorf("got %q (%s), want %q", got, ex.Why, want)
				}
				if ex.Outcome != "" && ex.Why == "" {
					t.Error("no reason is given")
				}
				if err := ex.Body.Remove(); err != nil {
					t.Error(err)
				}
			})
		}
	})
	for _, r := range w.Requests() {
		if r.Host == "inside.example" || r.Host == "rebound.example" || r.Host == "metadata.example" || r.Host == "six.example" ||
			r.Host == "shared.example" {
			t.Errorf("%s%s was asked for", r.Host, r.Path)
		}
	}
}

func TestALongerBodyCanBeCutOff(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	f := newFetcher(t, onWeb(w, Options{}))
	for _, page := range []string{"endless", "too-large", "gzip-bomb"} {
		ex := get(t, f, Request{URL: "http://h.example/" + page, MaxBody: 1000, CutOff: true})
		if ex.Body == nil || ex.Body.Size() != 1000 {
			t.Errorf("%s: %+v", page, ex)
		}
	}
}

func TestRetryAfterIsPassedOn(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	f := newFetcher(t, onWeb(w, Options{}))
	if ex := get(t, f, Request{URL: "http://h.example/unavailable"}); ex.RetryAfter != 2*time.Minute {
		t.Errorf("got %v", ex.RetryAfter)
	}
}

func TestEveryRedirectIsAnnounced(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	f := newFetcher(t, onWeb(w, Options{}))
	var told []string
	ex := get(t, f, Request{URL: "http://h.example/many/8", Check: func(u string) error { told = append(told, u); return nil }})
	want := []string{"http://h.example/many/9", "http://h.example/many/10", "http://h.example/many/11", "http://h.example/ok"}
	if !slices.Equal(told, want) || ex.FinalURL != "http://h.example/ok" || len(ex.Redirects) != 4 || text(t, ex) != "fine\n" {
		t.Errorf("told of %v; %+v", told, ex)
	}
	ex = get(t, f, Request{URL: "http://h.example/many/8", Check: func(u string) error {
		return &Refused{Outcome: catalog.RobotsDenied, Why: "no"}
	}})
	if ex.Outcome != catalog.RobotsDenied || ex.Why != "no" {
		t.Errorf("a refused redirect: %+v", ex)
	}
	boom := fmt.Errorf("our own fault")
	if _, err := f.Fetch(t.Context(), Request{URL: "http://h.example/many/8", Check: func(string) error { return boom }}); err == nil ||
		!strings.Contains(err.Error(), "our own fault") {
		t.Errorf("an error of ours: %v", err)
	}
}

func TestCertificatesNeedNotBeGoodWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	f := newFetcher(t, onWeb(w, Options{UnverifiedHosts: []string{"self.example"}}))
	ex := get(t, f, Request{URL: "https://self.example/"})
	if text(t, ex) != "secret\n" || !strings.Contains(ex.TLS, "not verified") {
		t.Errorf("got %+v", ex)
	}
	good := get(t, f, Request{URL: "https://good.example/"})
	if good.TLS != "TLS 1.3" || !strings.HasSuffix(good.RequestLine, "HTTP/2.0") || good.RequestHeader.Get("Host") != "good.example" {
		t.Errorf("got %q %q %v", good.TLS, good.RequestLine, good.RequestHeader)
	}
}

func TestCookiesLiveForOneFetchAndOneHost(t *testing.T) {
	t.Parallel()
	var seen []string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, "other:"+r.Header.Get("Cookie"))
		io.WriteString(w, "x")
	})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+":"+r.Header.Get("Cookie"))
		switch {
		case r.URL.Path == "/leave":
			http.Redirect(w, r, other, http.StatusFound)
		case r.Header.Get("Cookie") == "":
			http.SetCookie(w, &http.Cookie{Name: "visit", Value: "1"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			http.Redirect(w, r, "/leave", http.StatusFound)
		}
	})
	f := newFetcher(t, Options{})
	for range 2 {
		if ex := get(t, f, Request{URL: url + "/a"}); ex.Body == nil {
			t.Fatalf("got %+v", ex)
		}
	}
	want := []string{"/a:", "/a:visit=1", "/leave:visit=1", "other:"}
	if !slices.Equal(seen, append(want, want...)) {
		t.Errorf("seen %v", seen)
	}
}

func TestEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	zip := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, s)
		z.Close()
		return b.Bytes()
	}
	for _, c := range []struct {
		name, encoding, contentType string
		body                        []byte
		want, class                 string
	}{
		{"gzip", "gzip", "text/csv", zip("a"), "a", ""},
		{"two members", "gzip", "text/csv", append(zip("a"), zip("b")...), "ab", ""},
		{"padding behind", "x-gzip", "text/csv", append(zip("a"), 0, 0, 0, 0), "a", ""},
		{"twice", "gzip, gzip", "text/csv", zip(string(zip("a"))), "a", ""},
		{"cut off inside", "gzip", "text/csv", zip("hello, hello")[:20], "", "decode"},
		{"a wrong checksum", "gzip", "text/csv", bytes.Replace(zip("hello"), zip("hello")[len(zip("hello"))-8:], make([]byte, 8), 1), "",
			"decode"},
		{"nothing", "gzip", "text/csv", nil, "", "empty-body"},
		{"a gzip file stays one", "gzip", "application/gzip", zip("a"), string(zip("a")), ""},
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", c.encoding)
			w.Header().Set("Content-Type", c.contentType)
			w.Write(c.body)
		})
		ex := get(t, newFetcher(t, Options{}), Request{URL: url})
		if text(t, ex) != c.want || string(ex.ErrorClass) != c.class {
			t.Errorf("%s: %q, %s (%s)", c.name, text(t, ex), ex.ErrorClass, ex.Why)
		}
	}
}

func TestACancelledFetchIsOurOwnFault(t *testing.T) {
	t.Parallel()
	w := hostileWeb(t)
	f := newFetcher(t, onWeb(w, Options{Timeouts: Timeouts{Header: time.Hour, Idle: time.Hour}}))
	for _, page := range []string{"never-answers", "stops-in-the-middle", "endless-slow"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := f.Fetch(ctx, Request{URL: "http://h.example/" + page})
		cancel()
		if page != "endless-slow" && err == nil {
			t.Errorf("%s: no error", page)
		}
	}
}

func TestBandwidthIsShared(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 96<<10)) })
	f := newFetcher(t, Options{Bandwidth: 64 << 10})
	begin := time.Now()
	get(t, f, Request{URL: url})
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("96 KiB at 64 KiB/s (of which the first second's are free) took %v", took)
	}
}

func TestOnlyPublicAddressesMayBeFetched(t *testing.T) {
	t.Parallel()
	g := guard{nets: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "10.1.2.3": true, "64:ff9b::808:808": true, "2002:808:808::1": true,
		"::ffff:0:8.8.8.8": true, "::ffff:8.8.8.8": true,
		"10.2.0.1": false, "127.0.0.1": false, "0.0.0.0": false, "::": false, "::1": false, "169.254.169.254": false, "fe80::1": false,
		"224.0.0.1":       false,
		"255.255.255.255": false, "192.168.0.1": false, "172.16.0.1": false, "100.100.100.200": false, "168.63.129.16": false,
		"fd00::1":         false,
		"::ffff:10.2.0.1": false, "::7f00:1": false, "64:ff9b::7f00:1": false, "::ffff:0:127.0.0.1": false, "::ffff:0:10.0.0.1": false,
		"192.88.99.1": false, "2002:7f00:1::": false, "2001:0:4136:e378::1": false, "fec0::1": false,
		"192.0.2.1": false, "198.18.0.1": false, "ff02::1": false, "2001:db8::1": false,
	} {
		if got := g.allows(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s may be fetched: %v", addr, got)
		}
	}
}

// FuzzResponse gives the fetcher any bytes as a response.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08",
		"HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 503 X\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"../../x\"\r\nSet-Cookie: a=b\r\n\r\nx", "HTTP/1.0 200\r\n\r\nx",
		"\x00",
		"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\x04\x00\x01",
		"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x0b\x02\x80",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		fetcher := newFetcher(t,
			Options{MaxBody: 1 << 16, Timeouts: quick, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() {
					defer server.Close()
					server.SetDeadline(time.Now().Add(2 * time.Second))
					buf := make([]byte, 4096)
					if _, err := server.Read(buf); err != nil {
						return
					}
					server.Write(answer)
				}()
				return client, nil
			}})
		ex, err := fetcher.Fetch(t.Context(), Request{URL: "http://127.0.0.1/"})
		if err != nil {
			t.Fatal(err)
		}
		if (ex.Body == nil) == (ex.Outcome == "") || strings.ContainsAny(ex.FileName, "/\\\x00\n") {
			t.Fatalf("%+v", ex)
		}
		ex.Body.Remove()
	})
}
