package records

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/warc"
	"odarchive/testdata/shared"
)

// exchange returns the exchange of a head over TLS, after no redirect.
func exchange(head string) *catalog.Exchange {
	at := time.UnixMilli(1790000000123).UTC()
	e := &catalog.Exchange{
		Hops: []catalog.Hop{{URL: "https://data.example.org/a.csv", Status: 200, At: at}}, Head: []byte(head),
		RemoteAddr: "192.0.2.7:443", TLS: &catalog.TLS{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256"}, Encoded: 12345,
	}
	random := rand.New(rand.NewPCG(1, uint64(len(head))))
	for i := range e.TLS.Certificate {
		e.TLS.Certificate[i] = byte(random.Uint32())
	}
	return e
}

func TestAnExchangeIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	const url = "https://data.example.org/a.csv"
	sha := [32]byte{1, 2, 3}
	at := time.UnixMilli(1790000000123).UTC()
	full := exchange("HTTP/1.1 200 OK\r\nx-lower: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX-Latin: K\xf6ln\r\n\r\n")
	full.Hops = slices.Insert(full.Hops, 0,
		catalog.Hop{URL: "http://www.example.org/old", Status: 301, At: at.Add(-1500 * time.Millisecond)})
	full.WARC = &catalog.WARCRecord{ID: [16]byte{5: 9}, Date: at, Payload: [32]byte{7}}
	six := exchange("HTTP/1.0 200 Fine\n\n")
	six.RemoteAddr, six.TLS, six.WARC = "[2001:db8::7]:8080", nil,
		&catalog.WARCRecord{ID: [16]byte{1}, Date: at.Add(time.Second), Payload: sha}
	for name, e := range map[string]*catalog.Exchange{
		"all of it": full, "IPv6": six,
		"HTTP/2": {HTTP2: true, Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Hops: []catalog.Hop{{URL: url, Status: 200, At: at}}},
		"ftp":    {Encoded: 5, RemoteAddr: "192.0.2.7:21"},
	} {
		stored := *e
		if e.WARC != nil && e.WARC.Payload == sha {
			w := *e.WARC
			w.Payload, stored.WARC = [32]byte{}, &w
		}
		raw, err := PackExchange(&stored, url)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := unpackExchange(raw, url, sha)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", name, got, err, e)
		}
	}
	if raw, err := PackExchange(nil, url); raw != nil || err != nil {
		t.Errorf("no exchange: %v, %v", raw, err)
	}
}

func TestAHeadThatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	raw, err := PackExchange(exchange("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)), "u")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := unpackExchange(raw, "u", [32]byte{}); err != nil || len(e.Head) != catalog.MaxExchangeHead {
		t.Errorf("%d bytes, %v", len(e.Head), err)
	}
}

// FuzzExchange packs exchanges of whatever strangers sent: the record can be read, and has the head.
func FuzzExchange(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\n\r\n", "http://data.example/a", "TLS 1.3", "TLS_AES_128_GCM_SHA256", 200, int64(1790000000123), int64(5), 1)
	f.Add("\n\n", "http://data.example/\n\nHTTP/1.1 200", "a\n\n", "\n", -1, int64(-1<<62), int64(1<<63-1), 200)
	f.Add("", "", "", "", 0, int64(1<<62), int64(-1), 1)
	f.Fuzz(func(t *testing.T, head, url, version, cipher string, status int, at, encoded int64, hops int) {
		e := &catalog.Exchange{Head: []byte(head), TLS: &catalog.TLS{Version: version, Cipher: cipher}, Encoded: encoded,
			WARC: &catalog.WARCRecord{Date: time.UnixMilli(encoded)}}
		for i := range min(hops, 300) {
			e.Hops = append(e.Hops, catalog.Hop{URL: strings.Repeat(url, i), Status: status, At: time.UnixMilli(at >> i)})
		}
		raw, err := PackExchange(e, "http://data.example/a")
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackExchange(raw, "http://data.example/a", [32]byte{})
		if err != nil || string(got.Head) != head[:min(len(head), catalog.MaxExchangeHead)] {
			t.Errorf("%q is read as %+v, %v", head, got, err)
		}
	})
}

// realHeads returns the heads of responses in the WARC files that others publish.
func realHeads(t testing.TB) (heads []string) {
	dir := shared.Data(t, "warc")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".warc") {
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		r := warc.NewReader(file, warc.Limits{})
		for {
			rec, err := r.Next()
			if err == io.EOF {
				return nil
			}
			if errors.As(err, new(*warc.Fault)) {
				continue
			}
			if err != nil {
				return err
			}
			if m, _, err := warc.ReadMessage(rec.Block); rec.Type == warc.Response && err == nil && m.Status() == 200 {
				heads = append(heads, string(m.Head))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(heads)
	return slices.Compact(heads)
}

func TestExchangesOfRealHeadsTakeAtMost250BytesInTheMiddle(t *testing.T) {
	t.Parallel()
	var sizes, plain []int
	for _, h := range realHeads(t) {
		raw, err := PackExchange(exchange(h), "https://data.example.org/a.csv")
		if err != nil {
			t.Fatal(err)
		}
		sizes, plain = append(sizes, len(raw)), append(plain, len(h))
	}
	if len(sizes) == 0 {
		t.Skip("no heads")
	}
	slices.Sort(sizes)
	slices.Sort(plain)
	middle := sizes[len(sizes)/2]
	t.Logf("%d heads of %d bytes in the middle: records of %d bytes in the middle, %d at 90 %%", len(sizes), plain[len(plain)/2], middle,
		sizes[len(sizes)*9/10])
	if middle > 250 {
		t.Errorf("the middle record has %d bytes", middle)
	}
}

func FuzzUnpackExchange(f *testing.F) {
	raw, err := PackExchange(exchange("HTTP/1.1 200 OK\r\n\r\n"), "u")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := unpackExchange(raw, "u", [32]byte{})
		if err != nil {
			return
		}
		if _, err := PackExchange(e, "u"); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains([]byte(e.StatusLine()), []byte("\n")) {
			t.Fatalf("status line %q", e.StatusLine())
		}
	})
}

func BenchmarkPackExchange(b *testing.B) {
	e := exchange(
		"HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 10:11:12 GMT\r\nServer: nginx/1.24.0\r\nContent-Type: text/csv; " +
			"charset=utf-8\r\nContent-Length: 51234\r\nLast-Modified: Fri, 20 Nov 2026 01:02:03 GMT\r\nETag: " +
			"\"5f3c-61a2b3c4d5e6f\"\r\nX-Content-Type-Options: nosniff\r\nAccept-Ranges: bytes\r\n\r\n")
	for b.Loop() {
		if _, err := PackExchange(e, "https://data.example.org/a.csv"); err != nil {
			b.Fatal(err)
		}
	}
}
