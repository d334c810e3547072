package warc

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"
)

func packedAs(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

func TestBodiesAreDecodedAsTheirHeadsSayUnlessTheyAreNotSo(t *testing.T) {
	t.Parallel()
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	io.WriteString(z, "abc")
	z.Close()
	for name, c := range map[string]struct{ head, body, want string }{
		"plain":  {"", "abc", "abc"},
		"chunks": {"Transfer-Encoding: chunked\r\n", "1\r\na\r\n2;x=y\r\nbc\r\n0\r\n\r\n", "abc"},
		"gzip":   {"Content-Encoding: gzip\r\n", packedAs("abc"), "abc"},
		"gzip in chunks": {"Content-Encoding: GZIP\r\nTransfer-Encoding: Chunked\r\n",
			"3\r\n" + packedAs("abc")[:3] + "\r\n" + "40\r\n" + packedAs("abc")[3:] + strings.Repeat("\x00", 64-len(packedAs("abc"))+3) +
				"\r\n0\r\n\r\n", "abc"},
		"deflate":            {"Content-Encoding: deflate\r\n", deflated.String(), "abc"},
		"undone before":      {"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "plain text", "plain text"},
		"empty":              {"Content-Encoding: gzip\r\n", "", ""},
		"not a coding":       {"Content-Encoding: utf-8, identity\r\n", "abc", "abc"},
		"twice":              {"Content-Encoding: gzip, gzip\r\n", packedAs(packedAs("abc")), "abc"},
		"begins as a number": {"Transfer-Encoding: chunked\r\n", "12", "12"},
	} {
		m, rest, err := ReadMessage(strings.NewReader("HTTP/1.1 200 OK\r\n" + c.head + "\r\n" + c.body))
		if err != nil {
			t.Fatal(err)
		}
		r, err := DecodePayload(m, rest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	m, rest, _ := ReadMessage(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: compress\r\n\r\nabc"))
	if _, err := DecodePayload(m, rest); err == nil {
		t.Error("an unknown coding is taken for none")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n" + packedAs("abc"))
	f.Add("HTTP/1.1 200 OK\r\nContent-Encoding: br, zstd, deflate\r\n\r\nabc")
	f.Fuzz(func(t *testing.T, s string) {
		m, rest, err := ReadMessage(strings.NewReader(s))
		if err != nil {
			return
		}
		if r, err := DecodePayload(m, rest); err == nil {
			io.Copy(io.Discard, io.LimitReader(r, 1<<20)) // errors are those of strangers' bytes
		}
	})
}
