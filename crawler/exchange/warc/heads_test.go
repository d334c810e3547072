package warc

import (
	"bytes"
	"net/http"
	"reflect"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)

// fetched returns an exchange of a head, behind a redirect and over TLS.
func fetched(head string) *catalog.Exchange {
	return &catalog.Exchange{
		Head: []byte(head), RemoteAddr: "[2001:db8::7]:8443", Encoded: 345,
		TLS: &catalog.TLS{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", Certificate: [32]byte{1, 2}},
		Hops: []catalog.Hop{{URL: "http://a.example/old", Status: 302, At: at.Add(-time.Second)},
			{URL: "https://a.example/new", Status: 200, At: at}},
	}
}

func TestAHeadIsThatWhichWasReceivedExceptForWhatIsNotTrueOfTheBytes(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"HTTP/1.1 200 Fine\r\nx-lower: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX-Latin: K\xf6ln\r\ncontent-LENGTH: 7\r\n\r\n": "HTTP/1.1 " +
			"200 Fine\r\nx-lower: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX-Latin: K\xf6ln\r\ncontent-LENGTH: 7\r\n\r\n",
		"HTTP/1.1 200 OK\r\ncontent-encoding : gzip\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n": "HTTP/1.1 " +
			"200 OK\r\nX-Orig-content-encoding : gzip\r\nX-Orig-Content-Length: 12\r\nX-Orig-Transfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.0 200 OK\nx-orig-content-length: 12\n Content-Encoding: folded\nno colon\n\n": "HTTP/1.0 " +
			"200 OK\nX-Orig-x-orig-content-length: 12\n Content-Encoding: folded\nno colon\n\n",
		"HTTP/1.1 200 OK\r\n: no name\r\n:\r\n\r\n": "HTTP/1.1 " +
			"200 OK\r\n: no name\r\n:\r\n\r\n",
		// not the head of this response
		"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n": "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n",
		// cut off
		"HTTP/1.1 200 OK\r\nA: b\r\nC": "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n",
		"": "HTTP/1.1 " +
			"200 OK\r\nContent-Type: text/csv\r\n\r\n",
	} {
		r := ResponseHead{Status: 200, Size: 7, Exchange: fetched(head),
			Header: http.Header{"Content-Type": {"text/csv"}, "Bad Name": {"x"}}}
		got := string(r.HTTP())
		if got != want {
			t.Errorf("%q became %q, want %q", head, got, want)
		}
		if r.received() && string(UndoHeads([]byte(got))) != head {
			t.Errorf("%q was undone to %q", head, UndoHeads([]byte(got)))
		}
	}
	if got := (ResponseHead{Exchange: fetched("HTTP/1.1 200 OK\r\n\r\n")}).HTTP(); got != nil {
		t.Errorf("a version without HTTP has the head %q", got)
	}
}

// recordOf returns the record of an export for a version with an exchange.
func recordOf(e *catalog.Exchange, status int) (*Record, *Message) {
	rec := &Record{Header: append(Header{{Name: "WARC-Date", Value: "2026-03-04T05:06:09Z"}}, HeaderFields(e, "https://a.example/new")...)}
	head := ResponseHead{Status: status, Size: 7, Exchange: e, Header: http.Header{"A": {"b"}}}.HTTP()
	if head == nil {
		return rec, nil
	}
	m, _, err := ReadMessage(bytes.NewReader(head))
	if err != nil {
		panic(err)
	}
	return rec, m
}

func TestAnExchangeIsReadAsItWasExported(t *testing.T) {
	t.Parallel()
	plain := &catalog.Exchange{Head: []byte("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n"), RemoteAddr: "192.0.2.1:0"}
	two := fetched("HTTP/1.1 200 OK\r\n\r\n")
	two.HTTP2 = true
	for name, e := range map[string]*catalog.Exchange{
		"all of it": fetched("HTTP/1.1 200 OK\r\nX-Orig-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"), "HTTP/2": two, "little": plain,
		"nothing": nil,
	} {
		rec, m := recordOf(e, 200)
		if got := ExchangeHeads(rec, m, true, "https://a.example/new", nil); !reflect.DeepEqual(got, e) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, e)
		}
	}
	ftp := &catalog.Exchange{RemoteAddr: "192.0.2.1:21", Encoded: 7}
	rec, _ := recordOf(ftp, 0)
	if got := ExchangeHeads(rec, nil, true, "ftp://a.example/x", nil); !reflect.DeepEqual(got, ftp) {
		t.Errorf("ftp: got %+v", got)
	}
}

func TestAnExchangeIsReadFromFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	m, _, err := ReadMessage(bytes.NewReader([]byte("HTTP/1.1 200 OK\r\nX-Orig-Content-Encoding: gzip")))
	if err != nil {
		t.Fatal(err)
	}
	rec := &Record{Header: Header{{Name: "WARC-Date", Value: "2026-03-04T05:06:07.089Z"}, {Name: "WARC-IP-Address", Value: "192.0.2.9"},
		{Name: "WARC-Protocol", Value: "h2"}, {Name: "WARC-Protocol", Value: "tls/1.2"}}}
	got := ExchangeHeads(rec, m, false, "https://a.example/new",
		[]catalog.Hop{{URL: "http://a.example/", Status: 301, At: at}, {URL: "http://long.ago", At: at.AddDate(-1, 0, 0)}})
	want := &catalog.Exchange{Head: []byte("HTTP/1.1 200 OK\r\nX-Orig-Content-Encoding: gzip\r\n\r\n"), HTTP2: true,
		RemoteAddr: "192.0.2.9:0", TLS: &catalog.TLS{Version: "TLS 1.2"},
		Hops: []catalog.Hop{{URL: "http://a.example/", Status: 301, At: at}, {URL: "https://a.example/new", Status: 200, At: at}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := ExchangeHeads(&Record{}, nil, false, "urn:x", nil); got != nil {
		t.Errorf("a resource record that says nothing of an exchange has %+v", got)
	}
}

func FuzzHeads(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nX-Orig-A: b\r\n c\r\nContent-Length: 7\r\n\r\n"), "192.0.2.1", "tls/1.3",
		"302 2026-01-01T00:00:00Z http://a/")
	f.Fuzz(func(t *testing.T, head []byte, ip, protocol, redirect string) {
		r := ResponseHead{Status: 200, Size: 7, Exchange: &catalog.Exchange{Head: head}}
		if r.received() {
			if got := UndoHeads(r.HTTP()); !bytes.Equal(got, head) {
				t.Fatalf("%q was undone to %q", head, got)
			}
		}
		m, _, err := ReadMessage(bytes.NewReader(head))
		if err != nil {
			return
		}
		rec := &Record{
			Header: Header{{Name: "WARC-Date", Value: "2026-01-01T00:00:00Z"}, {Name: "WARC-IP-Address", Value: ip},
				{Name: "WARC-Protocol", Value: protocol}, {Name: fieldRedirect, Value: redirect}}}
		e := ExchangeHeads(rec, m, false, "http://a/", nil)
		h := HeaderFields(e, "http://a/")
		first := ResponseHead{Status: m.Status(), Size: 7, Exchange: e}.HTTP()
		m2, _, err := ReadMessage(bytes.NewReader(first))
		if err != nil {
			return // of status 0
		}
		again := ExchangeHeads(&Record{Header: append(Header{{Name: "WARC-Date", Value: "2027-01-01T00:00:00Z"}}, h...)}, m2, true,
			"http://a/", nil)
		if got := HeaderFields(again, "http://a/"); !reflect.DeepEqual(got, h) {
			t.Fatalf("%v became %v", h, got)
		}
		if second := (ResponseHead{Status: m.Status(), Size: 7, Exchange: again}).HTTP(); !bytes.Equal(second, first) {
			t.Fatalf("%q became %q", first, second)
		}
	})
}
