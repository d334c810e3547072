package warc

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"
)

func sum(s string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s))) }

// record returns a record to be written.
func record(typ, uri, mime, block string) *Record {
	h := Header{{"WARC-Type", typ}, {"WARC-Record-ID", NewID()}, {"WARC-Date", FormatDate(time.Unix(1700000000, 123e6))},
		{"WARC-Target-URI", uri}, {"Content-Type", mime}}
	return &Record{Header: h, Block: strings.NewReader(block)}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := NewWriter(&file)
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n6\r\n there\r\n0\r\nX: y\r\n\r\n"
	cases := []struct{ typ, mime, block, payload string }{
		{Warcinfo, WarcFields, "software: x\r\n", ""},
		{Response, HTTPResponse, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"},
		{Response, HTTPResponse, chunked, "hi there"},
		{Response, HTTPResponse, chunked[:len(chunked)-12], chunked[strings.Index(chunked, "2;") : len(chunked)-12]},
		{Response, HTTPResponse, "HTTP/1.0 200 OK\n\nLF", "LF"},
		{Resource, "text/csv", "a;b\n", "a;b\n"},
		{Request, HTTPRequest, "GET / HTTP/1.1\r\n\r\n", ""},
	}
	for _, c := range cases {
		rec := record(c.typ, "http://a.example/", c.mime, c.block)
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		if rec.Offset+rec.Length != int64(file.Len()) || w.Offset() != int64(file.Len()) {
			t.Errorf("%d+%d, the file has %d bytes", rec.Offset, rec.Length, file.Len())
		}
	}
	r := NewReader(bytes.NewReader(file.Bytes()), Limits{})
	for _, c := range cases {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rec.Block)
		if err != nil || string(b) != c.block || rec.Type != c.typ || rec.Version != "1.1" {
			t.Errorf("%v %s %s: %q, %v", rec.Version, rec.Type, c.typ, b, err)
		}
		if got := rec.Header.Get("WARC-Block-Digest"); got != sum(c.block) {
			t.Errorf("%q: block digest %s", c.block, got)
		}
		if got := rec.Header.Get("WARC-Payload-Digest"); c.payload != "" && got != sum(c.payload) || c.payload == "" && got != "" {
			t.Errorf("%q: payload digest %s", c.block, got)
		}
		if d, err := rec.Date(); err != nil || d.UnixMilli() != 1700000000123 {
			t.Errorf("date %v, %v", d, err)
		}
		if err := r.Finish(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
}

func TestTheSameRecordGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	rec := record(Resource, "http://a.example/", "text/csv", strings.Repeat("a;b\n", 1000))
	var a, b bytes.Buffer
	for _, file := range []*bytes.Buffer{&a, &b} {
		rec.Block = strings.NewReader(strings.Repeat("a;b\n", 1000))
		if err := NewWriter(file).Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the files differ")
	}
}

func TestARecordThatCannotBeReadBackIsNotWritten(t *testing.T) {
	t.Parallel()
	good := func() *Record { return record(Resource, "http://a.example/", "text/csv", "x") }
	for name, spoil := range map[string]func(*Record){
		"no id":                          func(r *Record) { r.Header[1].Name = "X" },
		"no date":                        func(r *Record) { r.Header[2].Value = "today" },
		"a line end in a value":          func(r *Record) { r.Header[3].Value = "http://a.example/\r\nX: y" },
		"a space in a name":              func(r *Record) { r.Header[3].Name = "WARC Target" },
		"a wrong length":                 func(r *Record) { r.Header.Add("Content-Length", "7") },
		"a block that is read only once": func(r *Record) { r.Block = io.MultiReader(r.Block) },
	} {
		rec := good()
		spoil(rec)
		if err := NewWriter(io.Discard).Write(rec); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDigestsDoNotDependOnHowABlockIsCutIntoPieces(t *testing.T) {
	t.Parallel()
	message := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00a\r\n0123456789\r\n0\r\n\r\n"
	for size := 1; size < len(message); size++ {
		d := NewDigester(true)
		for p := []byte(message); len(p) > 0; p = p[min(size, len(p)):] {
			d.Write(p[:min(size, len(p))])
		}
		if block, payload := d.Digests(); block != sum(message) || payload != sum("abc0123456789") {
			t.Errorf("in pieces of %d: %s %s", size, block, payload)
		}
		if want := int64(strings.Index(message, "3\r\n")); d.HeadSize() != want || d.BodySize() != int64(len(message))-want {
			t.Errorf("in pieces of %d: head %d, body %d", size, d.HeadSize(), d.BodySize())
		}
	}
}

func TestAMessageIsReadAsItWasSent(t *testing.T) {
	t.Parallel()
	m, body, err := ReadMessage(
		strings.NewReader(
			"HTTP/1.1 404 Not Found\r\nx-lower: 1\r\nno colon\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX-Folded: one\r\n two\r\n\r\nbody"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(body)
	if m.Status() != 404 || len(m.Header.Values("set-cookie")) != 2 || m.Header.Get("X-Folded") != "one two" || string(b) != "body" ||
		m.Header[0].Name != "x-lower" {
		t.Errorf("%+v %q", m, b)
	}
	if m, _, err := ReadMessage(strings.NewReader("HTTP/1.1 304 Not Modified\r\nETag: x")); err != nil || m.Status() != 304 ||
		m.Header.Get("etag") != "x" {
		t.Errorf("a head without a blank line: %+v, %v", m, err)
	}
	for _, bad := range []string{"", "\r\n\r\n", strings.Repeat("a", 2<<20)} {
		if _, _, err := ReadMessage(strings.NewReader(bad)); err == nil {
			t.Errorf("%.10q is a message", bad)
		}
	}
}

func FuzzDigester(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), 3)
	f.Fuzz(func(t *testing.T, block []byte, size int) {
		whole, pieces := NewDigester(true), NewDigester(true)
		whole.Write(block)
		for p, n := block, max(1, size%100); len(p) > 0; p = p[min(n, len(p)):] {
			pieces.Write(p[:min(n, len(p))])
		}
		a, b := whole.Digests()
		if x, y := pieces.Digests(); a != x || b != y {
			t.Fatal("the digests differ")
		}
	})
}

// packed returns text as deflate blocks, the last of which is not final.
func packed(t *testing.T, text string) *Packed {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 && err == nil {
		n := min(len(text), 40_000)
		if _, err = io.WriteString(z, text[:n]); err == nil {
			err = z.Flush()
		}
		text = text[n:]
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Packed{Stream: &b}
}

func TestPackedBytesAreCopiedIntoAMember(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 50_000, 500_000} {
		body := strings.Repeat("a;b\n", n/4)
		head := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("long ", n/5) + "\r\n\r\n"
		write := func(length int) ([]byte, error) {
			var file bytes.Buffer
			rec := record(Response, "http://a.example/", HTTPResponse, head)
			rec.Header.Add("WARC-Block-Digest", sum(head+body))
			rec.Header.Add("WARC-Payload-Digest", sum(body))
			rec.Header.Add("Content-Length", fmt.Sprint(length))
			rec.Packed = packed(t, body)
			rec.Packed.Size, rec.Packed.CRC = int64(len(body)), crc32.ChecksumIEEE([]byte(body))
			w := NewWriter(&file)
			err := w.Write(rec)
			if err == nil {
				err = w.Write(record(Request, "http://a.example/", HTTPRequest, "GET / HTTP/1.1\r\n\r\n"))
			}
			return file.Bytes(), err
		}
		file, err := write(len(head) + len(body))
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(file), Limits{})
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(rec.Block); err != nil || string(got) != head+body {
			t.Errorf("%d bytes of %d, %v", len(got), len(head)+len(body), err)
		}
		if rec, err = r.Next(); err != nil || rec.Type != Request || r.Finish() != nil {
			t.Errorf("behind it: %v", err)
		}
		if _, err := write(len(head) + len(body) + 1); err == nil {
			t.Error("a length that is not that of the block was written")
		}
	}
	rec := record(Response, "http://a.example/", HTTPResponse, "HTTP/1.1 200 OK\r\n\r\n")
	rec.Packed = packed(t, "x")
	if err := NewWriter(io.Discard).Write(rec); !errors.Is(err, errPacked) {
		t.Errorf("without digests: %v", err)
	}
}

func TestAFastWriterStoresWhatIsCompressedAlready(t *testing.T) {
	t.Parallel()
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(i * i * i >> 7)
	}
	h := sha256.New()
	for i := 0; i < len(random); i += 32 {
		h.Write(random[i:min(i+32, len(random))])
		copy(random[i:], h.Sum(nil))
	}
	size := func(body string) int {
		var file bytes.Buffer
		w := newFastWriter()
		w.w = &file
		if err := w.Write(record(Response, "http://a.example/", HTTPResponse, "HTTP/1.1 200 OK\r\n\r\n"+body)); err != nil {
			t.Fatal(err)
		}
		r := NewReader(&file, Limits{})
		n := file.Len()
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(rec.Block); err != nil || !strings.HasSuffix(string(got), body) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		return n
	}
	if n := size(string(random)); n < len(random) || n > len(random)+1000 {
		t.Errorf("random bytes take %d", n)
	}
	if n := size(strings.Repeat("year;value\n", 10_000)); n > 10_000 {
		t.Errorf("a table that repeats itself takes %d", n)
	}
}
