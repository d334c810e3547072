package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/triplestore/bucket"
)

// sendGzip sends the version in gzip coding: a header, the stored segments, their end, CRC-32 and length (RFC 1952). It
// compresses nothing.
func (h *FileHandler) sendGzip(w http.ResponseWriter, r *http.Request, v catalog.Version) error {
	d, err := h.Contents.Deflated(v.Digests.SHA256, content.Current)
	if err != nil {
		return h.lost(w, v, err)
	}
	defer d.Close()
	if err := d.Ready(); errors.Is(err, bucket.ErrUnavailable) {
		return h.lost(w, v, err)
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("ETag", tag(v, fmt.Sprintf("-gzip%d", d.Ref().Layout))) // each layout has other segments
	zipped := newGzip(d)
	body := &watched{ReadSeeker: zipped}
	http.ServeContent(&encoded{w, zipped.Size}, r, "", v.At, body)
	return h.cutOff(r, v, body.err)
}

// encoded sets Content-Length, which net/http omits from answers with a Content-Encoding.
type encoded struct {
	http.ResponseWriter
	size int64
}

// WriteHeader implements http.ResponseWriter.
func (e *encoded) WriteHeader(status int) {
	if status == http.StatusOK {
		e.Header().Set("Content-Length", strconv.FormatInt(e.size, 10))
	}
	e.ResponseWriter.WriteHeader(status)
}

// Unwrap supports http.ResponseController.
func (e *encoded) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// gzipHead is a gzip header: deflate, no name, no time, unknown system (RFC 1952 §2.3).
const gzipHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// gzipped is a gzip file: header, stored segments, and tail.
type gzipped struct {
	answer.RangeSeeker
	d    *content.Deflated
	tail string
}

func newGzip(d *content.Deflated) *gzipped {
	end := binary.LittleEndian.AppendUint32([]byte(content.Tail), d.Ref().CRC32)
	end = binary.LittleEndian.AppendUint32(end, uint32(d.Ref().Size)) // modulo 2^32
	return &gzipped{answer.RangeSeeker{Size: int64(len(gzipHead)) + d.Size() + int64(len(end))}, d, string(end)}
}

// Read implements io.Reader.
func (g *gzipped) Read(p []byte) (n int, err error) {
	head, body := int64(len(gzipHead)), g.d.Size()
	switch {
	case len(p) == 0:
	case g.Pos < head:
		n = copy(p, gzipHead[g.Pos:])
	case g.Pos < head+body:
		if _, err = g.d.Seek(g.Pos-head, io.SeekStart); err == nil {
			n, err = g.d.Read(p)
		}
	case g.Pos < g.Size:
		n, err = strings.NewReader(g.tail[g.Pos-head-body:]).Read(p)
	default:
		err = io.EOF
	}
	g.Pos += int64(n)
	return n, err
}
