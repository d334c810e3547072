// Package payload undoes the codings of the bodies of HTTP messages in WARC records.
package payload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"slices"
	"strings"

	"odarchive/crawler/warc"
	"odarchive/triplestore/compression"
)

// maxCodings is how many content codings of one body are undone.
const maxCodings = 3

// ignored are words that servers put into Content-Encoding by mistake.
var ignored = []string{"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked", "chunked"}

var formats = map[string]compression.Format{
	"gzip": compression.Gzip, "x-gzip": compression.Gzip, "deflate": compression.Deflate, "br": compression.Brotli, "zstd": compression.Zstd,
}

// Decode returns the body of a message without its chunks and content codings. body is the body as it stands in the
// record. Many programs undo codings without changing the head, so a body that does not begin as its head says is
// returned as it is. The reader's errors are those of decoding or of body; its length is not bounded.
func Decode(m *warc.Message, body io.Reader) (io.Reader, error) {
	if m.Chunked() {
		body = dechunk(body)
	}
	var codings []string
	for _, list := range m.Header.Values("Content-Encoding") {
		for word := range strings.SplitSeq(list, ",") {
			if word = strings.ToLower(strings.TrimSpace(word)); !slices.Contains(ignored, word) {
				codings = append(codings, word)
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings", len(codings))
	}
	for _, coding := range slices.Backward(codings) {
		format, known := formats[coding]
		if !known {
			return nil, fmt.Errorf("the content coding %q is unknown", coding)
		}
		in := bufio.NewReaderSize(body, 512)
		if !begins(in, format) {
			body = in
			continue
		}
		decoded, err := compression.Open(in, format, compression.Options{Lenient: true, MaxWindow: 8 << 20}) // RFC 9659
		if err != nil {
			return nil, fmt.Errorf("content coding %s: %w", coding, err)
		}
		body = decoded
	}
	return body, nil
}

// Coded reports whether a body that is not in chunks certainly has the content coding that its head states. It returns
// a reader of the whole body.
func Coded(m *warc.Message, body io.Reader) (io.Reader, bool) {
	format := formats[strings.ToLower(strings.TrimSpace(m.Header.Get("Content-Encoding")))]
	if format != compression.Gzip && format != compression.Zstd {
		return body, false // the others have no mark at their beginning
	}
	in := bufio.NewReaderSize(body, 512)
	return in, begins(in, format)
}

// begins reports whether a stream can be of a format, as far as its first bytes tell.
func begins(in *bufio.Reader, f compression.Format) bool {
	head, _ := in.Peek(4)
	switch {
	case len(head) == 0:
		return false
	case f == compression.Gzip:
		return bytes.HasPrefix(head, []byte{0x1f, 0x8b})
	case f == compression.Zstd:
		return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
	}
	return true
}

// dechunk returns a body without its chunks, or as it is if it does not begin with one.
func dechunk(body io.Reader) io.Reader {
	in := bufio.NewReaderSize(body, 4<<10)
	head, _ := in.Peek(24)
	line, _, found := bytes.Cut(head, []byte("\n"))
	line, _, _ = bytes.Cut(bytes.TrimRight(line, "\r"), []byte(";"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 || len(line) > 16 || !found && len(line) == len(head) || len(bytes.Trim(bytes.ToLower(line), "0123456789abcdef")) > 0 {
		return in
	}
	return httputil.NewChunkedReader(in)
}
