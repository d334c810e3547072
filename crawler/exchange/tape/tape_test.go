package tape

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/spool"
	"odarchive/crawler/web/webtest"
)

// wire is a server that answers each path with fixed bytes, and keeps the requests as it received them.
type wire struct {
	base    string
	answers map[string]string // an answer that ends in "<close>" closes the connection

	mu       sync.Mutex
	requests []string
}

func listen(t *testing.T, answers map[string]string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{base: "http://" + l.Addr().String(), answers: answers}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.serve(c)
		}
	}()
	return w
}

func (w *wire) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var request strings.Builder
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			request.WriteString(line)
			if line == "\r\n" {
				break
			}
		}
		w.mu.Lock()
		w.requests = append(w.requests, request.String())
		w.mu.Unlock()
		path := strings.Fields(request.String())[1]
		answer, closes := strings.CutSuffix(strings.ReplaceAll(w.answers[path], "<base>", w.base), "<close>")
		if _, err := io.WriteString(c, answer); err != nil || closes {
			return
		}
	}
}

// taping returns a fetcher with a tape, and a function that ends both and reads what was written, without warcinfo.
func taping(t *testing.T, o fetch.Options) (*fetch.Fetcher, *Tape, func() []record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "warc")
	dir, err := warc.OpenDir(path, warc.DirOptions{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	if o.Spool, err = spool.New(t.TempDir(), spool.Options{Reserve: -1, MemoryPerFile: 1 << 10}); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }
	tape := New(dir, now, slog.New(slog.DiscardHandler))
	o.Tape = tape
	f := fetch.New(o)
	t.Cleanup(f.Close)
	return f, tape, func() []record {
		t.Helper()
		if memory, disk := o.Spool.Usage(); memory != 0 || disk != 0 {
			t.Errorf("the spool still holds %d bytes in memory and %d on disk", memory, disk)
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}
		return readAll(t, path)
	}
}

type record struct {
	*warc.Record
	block string
}

func readAll(t *testing.T, path string) (all []record) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(path, "*"))
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := warc.NewReader(f, warc.Limits{})
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(rec.Block)
			if err != nil {
				t.Fatal(err)
			}
			d := warc.NewDigester(rec.Type == warc.Response && rec.Header.Get("Content-Type") == warc.HTTPResponse)
			d.Write(b)
			block, payload := d.Digests()
			if rec.Header.Get("WARC-Block-Digest") != block {
				t.Errorf("%s %s: wrong block digest", rec.Type, rec.URI())
			}
			if p := rec.Header.Get("WARC-Payload-Digest"); rec.Type == warc.Response && p != payload {
				t.Errorf("%s %s: wrong payload digest", rec.Type, rec.URI())
			}
			if rec.Type != warc.Warcinfo {
				all = append(all, record{rec, string(b)})
			}
		}
	}
	return all
}

// get fetches a URL and removes the body.
func get(t *testing.T, f *fetch.Fetcher, req fetch.Request) *fetch.Exchange {
	t.Helper()
	ex, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := ex.Body.Remove(); err != nil {
		t.Fatal(err)
	}
	return ex
}

func TestRequestsAndResponsesAreRecordedByteForByte(t *testing.T) {
	t.Parallel()
	const surplus = "HTTP/1.1 408 Request Timeout\r\n\r\n" // some servers send this before they close a connection
	w := listen(t, map[string]string{
		"/plain":   "HTTP/1.1 200 Fine\r\nx-lower: 1\r\nX-Empty:\r\nContent-Length: 3\r\nx-lower:   2 \r\n\r\na;b",
		"/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\na;\r\n1\r\nb\r\n0\r\nX-Sum: 1\r\n\r\n",
		"/old":     "HTTP/1.0 200 OK\n\nno length<close>",
		"/hints":   "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
		"/large":   "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("large ", 50000),
		"/missing": "HTTP/1.1 404 Not Found\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("none", 5000),
		"/empty":   "HTTP/1.1 204 No Content\r\n\r\n",
		"/excess":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n" + surplus + "<close>",
		"/more":    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na;b" + surplus + "<close>",
	})
	f, tape, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	paths := []string{"/plain", "/chunked", "/old", "/hints", "/large", "/missing", "/empty", "/excess", "/more"}
	for _, p := range paths {
		get(t, f, fetch.Request{URL: w.base + p})
	}
	all := records()
	if len(all) != 2*len(paths) || tape.Missed() != 0 {
		t.Fatalf("%d records, %d missed", len(all), tape.Missed())
	}
	for i, p := range paths {
		answer, ask := all[2*i], all[2*i+1]
		want := strings.TrimSuffix(strings.TrimSuffix(w.answers[p], "<close>"), surplus)
		want = want[max(0, strings.Index(want, "HTTP/1.1 200 OK")):]
		if answer.block != want || answer.Type != warc.Response || answer.URI() != w.base+p {
			t.Errorf("%s: %s of %s: %.200q", p, answer.Type, answer.URI(), answer.block)
		}
		if ask.block != w.requests[i] || ask.Type != warc.Request || ask.Header.Get("WARC-Concurrent-To") != answer.ID() {
			t.Errorf("%s: %s %.200q, was sent %.200q", p, ask.Type, ask.block, w.requests[i])
		}
		_, body, _ := strings.Cut(want, "\r\n\r\n")
		if sum := sha256.Sum256([]byte(body)); p != "/chunked" && p != "/excess" && p != "/old" &&
			answer.Header.Get("WARC-Payload-Digest") != warc.FormatDigest(sum[:]) {
			t.Errorf("%s: payload digest %s", p, answer.Header.Get("WARC-Payload-Digest"))
		}
		if ip, cut := answer.Header.Get("WARC-IP-Address"), answer.Header.Get("WARC-Truncated"); ip != "127.0.0.1" || cut != "" {
			t.Errorf("%s: address %s, truncated %q", p, ip, cut)
		}
		if d := answer.Header.Get("WARC-Date"); !strings.HasPrefix(d, "2026-01-02T03:04:0") || d != ask.Header.Get("WARC-Date") {
			t.Errorf("%s: dates %s and %s", p, d, ask.Header.Get("WARC-Date"))
		}
	}
}

func TestEachHopOfARedirectIsRecorded(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{
		"/1": "HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Length: 5\r\n\r\nmoved",
		"/2": "HTTP/1.1 301 Moved\r\nLocation: <base>/3\r\nContent-Length: 0\r\n\r\n",
		"/3": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
	})
	f, _, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	ex := get(t, f, fetch.Request{URL: w.base + "/1"})
	var uris []string
	for _, r := range records() {
		uris = append(uris, r.Type+" "+strings.TrimPrefix(r.URI(), w.base))
	}
	if want := []string{"response /1", "request /1", "response /2", "request /2", "response /3", "request /3"}; !slices.Equal(uris, want) {
		t.Errorf("%q", uris)
	}
	if len(ex.Hops) != 3 || ex.Hops[0].Status != 302 || ex.Hops[2].URL != w.base+"/3" {
		t.Errorf("%+v", ex.Hops)
	}
}

func TestAResponseThatRepeatsAnEarlierOneIsARevisit(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{
		"/a":   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"/304": "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
	})
	f, _, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	first := get(t, f, fetch.Request{URL: w.base + "/a"}).Taped
	original := &fetch.Original{URL: w.base + "/a", Date: first.Date, Record: first.Record, Payload: first.Payload}
	again := get(t, f, fetch.Request{URL: w.base + "/a", Original: original}).Taped
	get(t, f, fetch.Request{URL: w.base + "/304", ETag: `"x"`, Original: original})
	other := *original
	other.Payload = "sha256:00"
	if taped := get(t, f, fetch.Request{URL: w.base + "/a", Original: &other}).Taped; taped.Revisit || !again.Revisit {
		t.Errorf("%+v, %+v", again, taped)
	}
	all := records()
	for i, want := range []struct{ typ, profile, block string }{
		{warc.Response, "", w.answers["/a"]},
		{warc.Revisit, warc.ProfileIdenticalDigest, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"},
		{warc.Revisit, warc.ProfileNotModified, w.answers["/304"]},
		{warc.Response, "", w.answers["/a"]},
	} {
		got := all[2*i]
		if got.Type != want.typ || got.Header.Get("WARC-Profile") != want.profile || got.block != want.block {
			t.Errorf("%d: %s %s %q", i, got.Type, got.Header.Get("WARC-Profile"), got.block)
		}
		if got.Type == warc.Revisit &&
			(got.Header.Get("WARC-Refers-To") != first.Record || got.Header.Get("WARC-Refers-To-Date") != all[0].Header.Get("WARC-Date") ||
				got.Header.Get("WARC-Refers-To-Target-URI") != w.base+"/a") {
			t.Errorf("%d refers to %v", i, got.Header)
		}
		if all[2*i+1].Header.Get("WARC-Concurrent-To") != got.ID() {
			t.Errorf("%d: the request belongs to %s", i, all[2*i+1].Header.Get("WARC-Concurrent-To"))
		}
	}
}

func TestAResponseThatIsNotWholeSaysWhy(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{
		"/broken": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbroken<close>",
		"/long":   "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 5000) + "<close>",
		"/slow":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nslow",
		"/head":   "HTTP/1.1 200 OK\r\nConte<close>",
	})
	f, _, records := taping(t,
		fetch.Options{AllowPrivateHosts: true, MaxBody: 1000, Timeouts: fetch.Timeouts{Idle: 100 * time.Millisecond}})
	for _, p := range []string{"/broken", "/long", "/slow", "/head"} {
		get(t, f, fetch.Request{URL: w.base + p})
	}
	all := records()
	for i, want := range []string{"disconnect", "length", "time"} {
		if got := all[2*i].Header.Get("WARC-Truncated"); got != want ||
			!strings.HasPrefix(w.answers[strings.TrimPrefix(all[2*i].URI(), w.base)], all[2*i].block) {
			t.Errorf("%s: %q", all[2*i].URI(), got)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d records: an incomplete head is no response", len(all))
	}
}

func TestAPasswordIsNotRecorded(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{"/a": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"})
	f, _, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	get(t, f, fetch.Request{URL: strings.Replace(w.base, "://", "://me:secret@", 1) + "/a"})
	if !strings.Contains(w.requests[0], "Authorization: ") {
		t.Errorf("sent %q", w.requests[0])
	}
	for _, r := range records() {
		if strings.Contains(r.block+string(r.Head), "Authorization") || strings.Contains(r.URI(), "secret") {
			t.Errorf("%s %s: %q", r.Type, r.URI(), r.block)
		}
	}
}

func TestHTTP2IsRecordedInTheStyleOfHTTP1(t *testing.T) {
	t.Parallel()
	web, err := webtest.Start([]byte("-- good.example --\n> tls good\n-- good.example/a.csv --\na;b\n1;2\n"), webtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	f, _, records := taping(t, fetch.Options{Resolver: web, Dial: web.Dial, RootCAs: web.RootCAs()})
	ex := get(t, f, fetch.Request{URL: "https://good.example/a.csv"})
	if len(ex.Hops) != 1 || !ex.Hops[0].HTTP2 || ex.Hops[0].TLS == nil || ex.Hops[0].TLS.Version != "TLS 1.3" ||
		ex.Hops[0].TLS.Certificate == [32]byte{} || ex.TLS != "TLS 1.3" {
		t.Fatalf("%+v %q", ex.Hops, ex.TLS)
	}
	all := records()
	if len(all) != 2 || !strings.HasPrefix(all[0].block, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(all[0].block, "\r\n\r\na;b\n1;2\n") ||
		!strings.HasPrefix(all[1].block, "GET /a.csv HTTP/1.1\r\nHost: good.example\r\n") {
		t.Fatalf("%q\n%q", all[0].block, all[1].block)
	}
	if got := all[0].Header.Values("WARC-Protocol"); !slices.Equal(got, []string{"h2", "tls/1.3"}) ||
		all[0].Header.Get("WARC-Cipher-Suite") == "" {
		t.Errorf("%q", got)
	}
}

func TestAFetchDoesNotDependOnTheTape(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{"/a": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"})
	f, tape, _ := taping(t, fetch.Options{AllowPrivateHosts: true})
	if err := tape.dir.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gone")
	dir, err := warc.OpenDir(path, warc.DirOptions{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	tape.dir = dir
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ex := get(t, f, fetch.Request{URL: w.base + "/a"})
		if ex.Outcome != "" || ex.Taped.Record != "" || ex.Taped.End.IsZero() {
			t.Errorf("%+v", ex)
		}
	}
	if tape.Missed() != 2 {
		t.Errorf("%d missed", tape.Missed())
	}
}

func TestACancelledFetchLeavesNothingInTheSpool(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{"/slow": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nslow"})
	f, _, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := f.Fetch(ctx, fetch.Request{URL: w.base + "/slow"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	records()
}

func TestARecordIDIsItsBytes(t *testing.T) {
	t.Parallel()
	id := warc.NewID()
	if got := RecordID(UUID(id)); got != id {
		t.Errorf("%s, want %s", got, id)
	}
	if UUID("<urn:x>") != [16]byte{} {
		t.Error("not a UUID")
	}
}

// TestAResponseWaitsForItsCompressedBytes holds responses back and writes them with packed bytes, with packed bytes
// that cannot be read, and without.
func TestAResponseWaitsForItsCompressedBytes(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a;b\n", 50_000)
	w := listen(t, map[string]string{
		"/start":  "HTTP/1.1 302 Found\r\nLocation: /plain\r\nContent-Length: 0\r\n\r\n",
		"/plain":  "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + body,
		"/chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
	})
	f, tape, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	pack := func(broken bool) *warc.Packed {
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, 1)
		io.WriteString(z, body)
		z.Flush()
		p := &warc.Packed{Stream: &b, Size: int64(len(body)), CRC: crc32.ChecksumIEEE([]byte(body))}
		if broken {
			p.Stream = io.MultiReader(io.LimitReader(&b, 100), iotest.ErrReader(errors.New("a pack is damaged")))
		}
		return p
	}
	for i, packed := range []*warc.Packed{pack(false), pack(true), nil} {
		ex, err := f.Fetch(t.Context(), fetch.Request{URL: w.base + "/start", Hold: true})
		if err != nil {
			t.Fatal(err)
		}
		if ex.Taped.Write == nil || ex.Taped.Block == "" || !ex.Taped.Write(packed) {
			t.Errorf("%d: not written later: %+v", i, ex.Taped)
		}
		ex.Body.Remove()
	}
	ex, err := f.Fetch(t.Context(), fetch.Request{URL: w.base + "/chunks", Hold: true})
	if err != nil || ex.Taped.Write != nil || ex.Taped.Block != "" {
		t.Errorf("a body with chunks: %+v, %v", ex.Taped, err)
	}
	ex.Body.Remove()
	var got []string
	for _, r := range records() {
		got = append(got, r.Type+" "+strings.TrimPrefix(r.URI(), w.base))
		if r.Type == warc.Response && r.block != w.answers[strings.TrimPrefix(r.URI(), w.base)] {
			t.Errorf("%s: %d bytes, %.100q", r.URI(), len(r.block), r.block)
		}
	}
	one := []string{"response /start", "request /start", "response /plain", "request /plain"}
	if want := slices.Concat(one, one, one, []string{"response /chunks", "request /chunks"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if tape.Missed() != 0 {
		t.Errorf("%d are missing", tape.Missed())
	}
}

func TestARevisitHasAWholeHead(t *testing.T) {
	t.Parallel()
	answer := "HTTP/1.1 304 Not Modified\r\nX-Long: " + strings.Repeat("long ", 20_000) + "\r\n\r\n"
	w := listen(t, map[string]string{"/long": answer})
	f, _, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	get(t, f, fetch.Request{URL: w.base + "/long", ETag: `"v"`, Original: &fetch.Original{URL: w.base + "/long", Date: time.Unix(1e9, 0)}})
	all := records()
	if len(all) != 2 || all[0].Type != warc.Revisit || all[0].block != answer {
		t.Fatalf("%d records, the first is a %s with %d bytes, want %d", len(all), all[0].Type, len(all[0].block), len(answer))
	}
}
