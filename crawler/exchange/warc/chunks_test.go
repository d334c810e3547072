package warc

import (
	"bytes"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

// unchunk feeds a body in pieces of a size.
func unchunk(body string, size int) (data string, used int, c Chunks) {
	var out strings.Builder
	for len(body) > 0 {
		piece := body[:min(size, len(body))]
		n := c.Write([]byte(piece), &out)
		used += n
		if n < len(piece) {
			break
		}
		body = body[n:]
	}
	return out.String(), used, c
}

func TestTheEndOfChunksIsFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*maxChunkLine)
	for body, want := range map[string]string{
		"2\r\nab\r\n0\r\n\r\n":                   "ab",
		"2;x=y\nab\n1\nc\n0\n\n":                 "abc",
		"1\r\na\r\n0\r\nX: y\r\nZ: 0\r\n\r\n":    "a",
		"1\r\na\r\n0\r\nX: " + long + "\r\n\r\n": "a",
		"0\r\n\r\n":                              "",
	} {
		for _, size := range []int{1, 3, 4096, 1 << 20} {
			got, used, c := unchunk(body+"surplus 5\r\n", size)
			if got != want || used != len(body) || !c.Complete() {
				t.Errorf("%.40q in pieces of %d: %q, %d of %d bytes, complete %v", body, size, got, used, len(body), c.Complete())
			}
		}
	}
	for _, body := range []string{"2\r\nab", "x\r\nab", "2\r\nabc\r\n0\r\n\r\n", long, "0\r\nX: y\r\n"} {
		if _, used, _ := unchunk(body, 5); used != len(body) {
			t.Errorf("%.40q has no end, yet ends after %d bytes", body, used)
		}
	}
}

func FuzzChunks(f *testing.F) {
	f.Add("2\r\nab\r\n0\r\nX: y\r\n\r\nmore", 3)
	f.Fuzz(func(t *testing.T, body string, size int) {
		size = max(size, 1)
		got, used, c := unchunk(body, size)
		if whole, n, _ := unchunk(body, len(body)+1); whole != got || n != used {
			t.Fatalf("%q and %d bytes in pieces, %q and %d at once", got, used, whole, n)
		}
		if !c.Complete() {
			return
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader([]byte(body))))
		if err == nil && string(want) != got {
			t.Fatalf("%q, net/http reads %q", got, want)
		}
	})
}
