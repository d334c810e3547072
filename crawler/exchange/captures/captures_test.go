package captures

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"odarchive/crawler/exchange/warc"
)

// file is a WARC file that grows record by record.
type file struct{ strings.Builder }

func (f *file) add(kind, url, date, contentType, block string, fields ...string) {
	fmt.Fprintf(f,
		"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\nContent-Type: "+
			"%s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, f.Len(), date, url, contentType, strings.Join(append(fields, ""), "\r\n"), len(block), block)
}

func (f *file) response(url, date, head, body string, fields ...string) string {
	id := fmt.Sprintf("<urn:x:%d>", f.Len())
	f.add("response", url, date, "application/http; msgtype=response", head+"\r\n\r\n"+body, fields...)
	return id
}

// shown returns the captures of a file, one a line: date, URL, final URL if elsewhere, status, body.
func shown(t *testing.T, text string) (lines []string, list List) {
	t.Helper()
	list, err := Read(strings.NewReader(text), func(f warc.Fault) { t.Errorf("%v", &f) })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Captures {
		content, err := Open(strings.NewReader(text), int64(len(text)), c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		body, err := io.ReadAll(content.Body)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", c.At.Format("2006-01-02"), c.URL, c.FinalURL, content.Status,
			body)))
	}
	return lines, list
}

const ok = "HTTP/1.1 200 OK"

func TestCapturesComeByDateAndOthersAreCounted(t *testing.T) {
	t.Parallel()
	var f file
	f.add("warcinfo", "", "2026-01-01", "application/warc-fields", "a: b\r\n")
	f.response("http://a.example/late", "2026-03-01", ok+"\r\nTransfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n")
	f.response("http://a.example/early", "2026-01-01", ok, "early")
	f.response("http://a.example/gone", "2026-01-01", "HTTP/1.1 404 Not Found", "no")
	f.response("http://a.example/empty", "2026-01-01", ok, "")
	f.add("resource", "ftp://a.example/x.csv", "2026-02-01", "text/csv", "a,b\n")
	f.add("resource", "urn:x:y", "2026-02-01", "text/csv", "a,b\n")
	f.add("request", "http://a.example/early", "2026-01-01", "application/http", "GET / HTTP/1.1\r\n\r\n")
	lines, list := shown(t, f.String())
	want := []string{"2026-01-01 http://a.example/early  200 early", "2026-02-01 ftp://a.example/x.csv  0 a,b",
		"2026-03-01 http://a.example/late  200 abc"}
	if fmt.Sprint(lines) != fmt.Sprint(want) || list.Others != 5 || list.Shared {
		t.Errorf("%q, %d others; want %q", lines, list.Others, want)
	}
}

func TestACaptureTellsThatItsBodyIsNotWhole(t *testing.T) {
	t.Parallel()
	var f file
	id := f.response("http://a.example/1", "2026-01-01", ok, "one", "WARC-Truncated: Length", "WARC-Payload-Digest: sha1:ONE")
	f.add("revisit", "http://a.example/2", "2026-01-02", "application/http", ok+"\r\n\r\n", "WARC-Truncated: length", "WARC-Refers-To: "+id)
	first := f.response("http://a.example/3", "2026-01-03", ok, "a", "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/3", "2026-01-03", "application/http", "b", "WARC-Segment-Number: 2",
		"WARC-Segment-Origin-ID: "+first, "WARC-Segment-Total-Length: 21", "WARC-Truncated: no word")
	whole := f.response("http://a.example/4", "2026-01-04", ok, "four", "WARC-Payload-Digest: sha1:FOUR")
	f.add("revisit", "http://a.example/5", "2026-01-05", "application/http", ok+"\r\n\r\n", "WARC-Truncated: length",
		"WARC-Refers-To: "+whole)
	_, list := shown(t, f.String())
	var got []string
	for _, c := range list.Captures {
		got = append(got, c.Truncated)
	}
	if want := []string{"length", "length", "unspecified", "", ""}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARevisitHasTheBodyThatItRefersTo(t *testing.T) {
	t.Parallel()
	var f file
	const profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	id := f.response("http://a.example/1", "2026-01-01", ok+"\r\nX-Of: original", "one", "WARC-Payload-Digest: sha1:ONE")
	f.response("http://a.example/2", "2026-01-02", ok, "two", "WARC-Payload-Digest: sha1:TWO")
	f.add("revisit", "http://b.example/id", "2026-02-01", "application/http", "HTTP/1.1 304 Not Modified\r\n\r\n", profile,
		"WARC-Refers-To: "+id)
	f.add("revisit", "http://b.example/digest", "2026-02-02", "application/http", ok+"\r\nX-Of: revisit\r\n\r\n", profile,
		"WARC-Payload-Digest: sha1:two")
	f.add("revisit", "http://b.example/date", "2026-02-03", "application/http", "", profile,
		"WARC-Refers-To-Target-URI: http://a.example/1", "WARC-Refers-To-Date: 2026-01-01T00:00:00Z")
	f.add("revisit", "http://b.example/nothing", "2026-02-04", "application/http", ok+"\r\n\r\n", profile,
		"WARC-Payload-Digest: sha1:OTHER")
	f.add("revisit", "http://b.example/loop", "2026-02-05", "application/http", ok+"\r\n\r\n", profile,
		fmt.Sprintf("WARC-Refers-To: <urn:x:%d>", f.Len()))
	lines, list := shown(t, f.String())
	want := []string{"2026-01-01 http://a.example/1  200 one", "2026-01-02 http://a.example/2  200 two",
		"2026-02-01 http://b.example/id  200 one", "2026-02-02 http://b.example/digest  200 two",
		"2026-02-03 http://b.example/date  200 one"}
	if fmt.Sprint(lines) != fmt.Sprint(want) || list.Others != 2 {
		t.Errorf("%q, %d others; want %q", lines, list.Others, want)
	}
	for i, of := range map[int]string{2: "original", 3: "revisit"} {
		if c, err := Open(strings.NewReader(f.String()), int64(f.Len()), list.Captures[i]); err != nil || c.Header.Get("X-Of") != of {
			t.Errorf("%s: %v, %v", list.Captures[i].URL, c.Header, err)
		}
	}
}

func TestARedirectHasTheBodyThatItsTargetAnsweredWith(t *testing.T) {
	t.Parallel()
	var f file
	const moved = "HTTP/1.1 302 Found\r\nLocation: "
	f.response("http://a.example/target", "2026-01-01T00:00:00Z", ok, "before")
	f.response("http://a.example/start", "2026-01-02T00:00:00Z", moved+"/next#x", "moved")
	f.response("http://a.example/next", "2026-01-02T00:00:01Z", moved+"http://a.example/target", "")
	f.response("http://a.example/target", "2026-01-02T00:00:02Z", ok, "after")
	f.response("http://a.example/loop", "2026-01-03T00:00:00Z", moved+"/loop2", "")
	f.response("http://a.example/loop2", "2026-01-03T00:00:00Z", moved+"/loop", "")
	f.response("http://a.example/away", "2026-01-03T00:00:00Z", moved+"http://elsewhere.example/", "")
	lines, list := shown(t, f.String())
	want := []string{"2026-01-01 http://a.example/target  200 before",
		"2026-01-02 http://a.example/start http://a.example/target 200 after",
		"2026-01-02 http://a.example/next http://a.example/target 200 after", "2026-01-02 http://a.example/target  200 after"}
	if fmt.Sprint(lines) != fmt.Sprint(want) || list.Others != 3 {
		t.Errorf("%q, %d others; want %q", lines, list.Others, want)
	}
}

func TestSegmentsAreReadAsOneBody(t *testing.T) {
	t.Parallel()
	const head = ok + "\r\nContent-Encoding: none\r\n\r\n"
	var f file
	id := f.response("http://a.example/1", "2026-01-01", ok, "one ", "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/1", "2026-01-01", "", "three", "WARC-Segment-Number: 3", "WARC-Segment-Origin-ID: "+id,
		"WARC-Segment-Total-Length: 32")
	f.add("continuation", "http://a.example/1", "2026-01-01", "", "two ", "WARC-Segment-Number: 2", "WARC-Segment-Origin-ID: "+id)
	id = fmt.Sprintf("<urn:x:%d>", f.Len())
	f.add("response", "http://a.example/2", "2026-01-02", "application/http", head, "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/2", "2026-01-02", "", "body", "WARC-Segment-Number: 2", "WARC-Segment-Origin-ID: "+id,
		fmt.Sprint("WARC-Segment-Total-Length: ", len(head)+4))
	if lines, list := shown(t,
		f.String()); fmt.Sprint(lines) != "[2026-01-01 http://a.example/1  200 one two three 2026-01-02 http://a.example/2  200 body]" ||
		list.Others != 3 {
		t.Errorf("%q, %d others", lines, list.Others)
	}
}

func TestOfSegmentsThatAreNotWholeTheBeginningIsKeptAsTruncated(t *testing.T) {
	t.Parallel()
	var f file
	id := f.response("http://a.example/gap", "2026-01-01", ok, "one ", "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/gap", "2026-01-01", "", "three", "WARC-Segment-Number: 3", "WARC-Segment-Origin-ID: "+id,
		"WARC-Segment-Total-Length: 32")
	id = f.response("http://a.example/total", "2026-01-02", ok, "one ", "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/total", "2026-01-02", "", "two", "WARC-Segment-Number: 2", "WARC-Segment-Origin-ID: "+id,
		"WARC-Segment-Total-Length: 3")
	f.response("http://a.example/last", "2026-01-03", ok, "one ", "WARC-Segment-Number: 1")
	f.add("continuation", "http://a.example/first", "2026-01-04", "", "two", "WARC-Segment-Number: 2",
		"WARC-Segment-Origin-ID: <urn:x:nowhere>", "WARC-Segment-Total-Length: 3")
	text := f.String()
	var faults []string
	list, err := Read(strings.NewReader(text), func(f warc.Fault) { faults = append(faults, f.Why) })
	var got []string
	for _, c := range list.Captures {
		content, err := Open(strings.NewReader(text), int64(len(text)), c)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(content.Body)
		got = append(got, fmt.Sprint(c.URL, "=", string(body), c.Truncated, err))
	}
	want := []string{"http://a.example/gap=one unspecified<nil>", "http://a.example/total=one twounspecified<nil>",
		"http://a.example/last=one unspecified<nil>"}
	if err != nil || !slices.Equal(got, want) || len(faults) != 4 {
		t.Errorf("got %q, %v, faults %q; want %q", got, err, faults, want)
	}
}

func TestAnErrorOfReadingIsNoFaultOfTheFile(t *testing.T) {
	t.Parallel()
	var f file
	f.response("http://a.example/1", "2026-01-01", ok, strings.Repeat("one", 100))
	broken := errors.New("the network is down")
	r := io.MultiReader(strings.NewReader(f.String()[:f.Len()-100]), iotest.ErrReader(broken))
	if _, err := Read(r, func(f warc.Fault) { t.Error(f.Error()) }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestAnHTTPHeadThatIsTooLongIsAFault(t *testing.T) {
	t.Parallel()
	var f file
	f.response("http://a.example/1", "2026-01-01", ok+"\r\nX: "+strings.Repeat("x", 2<<20), "one")
	f.response("http://a.example/2", "2026-01-02", ok, "two")
	var faults []string
	list, err := Read(strings.NewReader(f.String()), func(f warc.Fault) { faults = append(faults, f.Error()) })
	if err != nil || len(list.Captures) != 1 || list.Others != 1 || len(faults) != 1 || !strings.Contains(faults[0], "offset 0: ") ||
		!strings.Contains(faults[0], "longer than 1048576 bytes") {
		t.Errorf("%d captures, %d others, %q, %v", len(list.Captures), list.Others, faults, err)
	}
}

func TestWhatAnExportWroteIsReadBack(t *testing.T) {
	t.Parallel()
	var f file
	f.response("http://a.example/x%C3%A4", "2026-01-01T00:00:00.123Z",
		ok+"\r\nX-Orig-Content-Encoding: gzip\r\nX-Orig-Content-Length: 5\r\nX-Orig-Other: y\r\nTransfer-Encoding: chunked", "plain",
		"Odarchive-URL: http://a.example/xä", "Odarchive-Final-URL: http://b.example/", "Odarchive-Format: CSV")
	f.response("http://a.example/y", "2026-01-01T00:00:00.124Z", ok, "plain", "Odarchive-URL: http://evil.example/")
	_, list := shown(t, f.String())
	c := list.Captures[0]
	content, err := Open(strings.NewReader(f.String()), int64(f.Len()), c)
	if err != nil || c.URL != "http://a.example/xä" || c.FinalURL != "http://b.example/" || c.Format != "CSV" ||
		c.At.Nanosecond() != 123e6 {
		t.Errorf("%+v, %v", c, err)
	}
	if got := fmt.Sprint(content.Header); got != "map[Content-Encoding:[gzip] Content-Length:[5] X-Orig-Other:[y]]" {
		t.Error(got)
	}
	if list.Captures[1].URL != "http://a.example/y" {
		t.Errorf("another address was believed: %s", list.Captures[1].URL)
	}
}

func FuzzRead(f *testing.F) {
	var one file
	id := one.response("http://a.example/1", "2026-01-01", ok+"\r\nContent-Encoding: gzip", "one", "WARC-Segment-Number: 1",
		"WARC-Payload-Digest: sha1:ONE")
	one.add("continuation", "http://a.example/1", "2026-01-01", "", "three", "WARC-Segment-Number: 2", "WARC-Segment-Origin-ID: "+id)
	one.add("revisit", "http://a.example/", "2026", "application/http", "", "WARC-Refers-To: "+id)
	one.response("http://a.example/2", "2026-01-01", "HTTP/1.1 301 Moved\r\nLocation: /1", "")
	f.Add([]byte(one.String()))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Read(bytes.NewReader(b), func(warc.Fault) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Captures {
			if content, err := Open(bytes.NewReader(b), int64(len(b)), c); err == nil {
				io.Copy(io.Discard, io.LimitReader(content.Body, 1<<20)) // errors are those of strangers' bytes
			}
		}
	})
}

func TestAFileOfManyRedirectsAndSegmentsIsReadInTime(t *testing.T) {
	t.Parallel()
	var f file
	const n = 20_000
	for i := range n {
		f.response("http://a.example/home", "2026-01-01", "HTTP/1.1 302 Found\r\nLocation: http://a.example/home?x", "")
		f.response("http://a.example/home?x", "2026-01-01", "HTTP/1.1 302 Found\r\nLocation: http://a.example/home", "")
		fmt.Fprint(&f,
			"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:same>\r\nWARC-Date: 2026-01-01\r\nWARC-Target-URI: "+
				"http://a.example/part\r\n"+
				"Content-Type: application/http\r\nWARC-Segment-Number: 1\r\nContent-Length: 20\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx\r\n\r\n")
		f.add("continuation", "http://a.example/part", "2026-01-01", "", "y", fmt.Sprint("WARC-Segment-Number: ", i+2),
			"WARC-Segment-Origin-ID: <urn:x:same>")
	}
	// This takes a second of processor time; it would take longer than a test may if that grew with the square.
	list, err := Read(strings.NewReader(f.String()), func(warc.Fault) {})
	if err != nil || len(list.Captures) != n {
		t.Fatalf("%d captures, error %v", len(list.Captures), err)
	}
}

func TestDigestsThatDifferAreFaults(t *testing.T) {
	t.Parallel()
	hex := func(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) }
	var f file
	const chunked = ok + "\r\nTransfer-Encoding: chunked"
	f.response("http://a.example/right", "2026-01-01", ok, "one", "WARC-Payload-Digest: sha1:"+hex("one"),
		"WARC-Block-Digest: sha1:"+hex(ok+"\r\n\r\none"))
	f.response("http://a.example/sent", "2026-01-02", chunked, "3\r\nabc\r\n0\r\n\r\n",
		"WARC-Payload-Digest: sha1:"+hex("3\r\nabc\r\n0\r\n\r\n"))
	f.response("http://a.example/body", "2026-01-03", chunked, "3\r\nabc\r\n0\r\n\r\n", "WARC-Payload-Digest: sha1:"+hex("abc"))
	f.add("revisit", "http://a.example/again", "2026-01-04", "application/http", ok+"\r\n\r\n", "WARC-Payload-Digest: sha1:"+hex("one"))
	f.add("resource", "ftp://a.example/x.csv", "2026-02-01", "text/csv", "a,b\n", "WARC-Payload-Digest: sha1:"+hex("a,b\n"))
	if lines, _ := shown(t, f.String()); len(lines) != 5 { // which fails for any fault
		t.Errorf("captures: %q", lines)
	}
	payload := f.Len()
	f.response("http://b.example/payload", "2026-03-01", ok, "two", "WARC-Payload-Digest: sha1:"+hex("one"))
	block := f.Len()
	f.response("http://b.example/block", "2026-03-02", ok, "two", "WARC-Block-Digest: sha1:"+hex("one"))
	var faults []int64
	list, err := Read(strings.NewReader(f.String()), func(f warc.Fault) { faults = append(faults, f.Offset) })
	if err != nil || len(list.Captures) != 7 || !slices.Equal(faults, []int64{int64(payload), int64(block)}) {
		t.Errorf("%d captures, faults at %d, %v; want 7, faults at %d and %d", len(list.Captures), faults, err, payload, block)
	}
}
