// Decodes the transfer and content codings of HTTP bodies in WARC records.

package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"slices"
	"strings"

	"odarchive/triplestore/compression"
)

// maxCodings is the maximum number of content codings of a body.
const maxCodings = 3

// ignored has words that servers put into Content-Encoding by mistake.
var ignored = []string{"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked", "chunked"}

var formats = map[string]compression.Format{
	"gzip": compression.Gzip, "x-gzip": compression.Gzip, "deflate": compression.Deflate, "br": compression.Brotli,
	"zstd": compression.Zstd,
}

// DecodePayload returns the body of a message without chunks and content codings. body is the body in the record. Many
// programs decode bodies without changing the head; a body that does not begin as its head says is therefore returned
// unchanged. The length of the decoded body is not bounded.
func DecodePayload(m *Message, body io.Reader) (io.Reader, error) {
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

// CodedPayload reports whether a body, which must not be in chunks, certainly has the content coding that its head
// states. It also returns a reader of the whole body.
func CodedPayload(m *Message, body io.Reader) (io.Reader, bool) {
	format := formats[strings.ToLower(strings.TrimSpace(m.Header.Get("Content-Encoding")))]
	if format != compression.Gzip && format != compression.Zstd {
		return body, false // other formats cannot be recognised by their first bytes
	}
	in := bufio.NewReaderSize(body, 512)
	return in, begins(in, format)
}

// begins reports whether the first bytes of a stream permit it to be of a format.
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

// dechunk returns a body without its chunks, or unchanged if it does not begin with a chunk.
func dechunk(body io.Reader) io.Reader {
	in := bufio.NewReaderSize(body, 4<<10)
	head, _ := in.Peek(24)
	line, _, found := bytes.Cut(head, []byte("\n"))
	line, _, _ = bytes.Cut(bytes.TrimRight(line, "\r"), []byte(";"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 || len(line) > 16 || !found && len(line) == len(head) ||
		len(bytes.Trim(bytes.ToLower(line), "0123456789abcdef")) > 0 {
		return in
	}
	return httputil.NewChunkedReader(in)
}
