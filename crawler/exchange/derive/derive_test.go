package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"odarchive/crawler/exchange/warc"
)

func sourceRecord(kind, url, block string) string {
	return fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: "+
			"%s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, url, len(block), block)
}

var source = sourceRecord("response", "http://a.example/",
	"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>T</title><meta name=author content=me><p>Hello <a href=/x>you</a>") +
	sourceRecord("request", "http://a.example/", "GET / HTTP/1.1\r\n\r\n") + sourceRecord("response", "http://a.example/t.csv",
	"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\na,b\n")

// made returns the records of a derived file: type, address, block.
func made(t *testing.T, kind Kind) (all [][3]string) {
	t.Helper()
	var out [2]bytes.Buffer
	for i := range out {
		if n, err := Make("f.warc.gz", strings.NewReader(source), warc.NewWriter(&out[i]), kind,
			func(f warc.Fault) { t.Error(&f) }); err != nil || n == 0 {
			t.Fatalf("%d records, %v", n, err)
		}
	}
	if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
		t.Error("the same file gives another one the second time")
	}
	r := warc.NewReader(&out[0], warc.Limits{})
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Block)
		if err != nil || rec.Header.Get("WARC-Refers-To") != "<urn:x:"+rec.URI()+">" {
			t.Errorf("%v, %v", rec.Header, err)
		}
		all = append(all, [3]string{rec.Type, rec.URI(), string(block)})
	}
}

func TestWETHasTheTextOfPages(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprintf("%q", made(t, WET)); got != `[["conversion" "http://a.example/" "T\nHello you\n"]]` {
		t.Error(got)
	}
}

func TestWATDescribesEveryResponse(t *testing.T) {
	t.Parallel()
	all := made(t, WAT)
	if len(all) != 2 || all[0][0] != "metadata" || all[1][1] != "http://a.example/t.csv" {
		t.Fatalf("%q", all)
	}
	var e struct {
		Envelope struct {
			Payload struct {
				HTTP struct {
					Message struct{ Status string } `json:"Response-Message"`
					HTML    struct {
						Head  struct{ Title string }
						Links []struct{ Path, URL, Text string }
					} `json:"HTML-Metadata"`
				} `json:"HTTP-Response-Metadata"`
			} `json:"Payload-Metadata"`
		}
	}
	if err := json.Unmarshal([]byte(all[0][2]), &e); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Envelope.Payload.HTTP); got != "{{200} {{T} [{A@/href /x you}]}}" {
		t.Error(got)
	}
}

func FuzzMake(f *testing.F) {
	f.Add([]byte(source))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []Kind{WAT, WET} {
			if _, err := Make("f", bytes.NewReader(b), warc.NewWriter(io.Discard), kind, func(warc.Fault) {}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
