package fileserve

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
)

// sendGzip sends the version in gzip coding: a header, the stored segments, their end, CRC-32 and length (RFC 1952). It
// compresses nothing.
func (h *Handler) sendGzip(w http.ResponseWriter, r *http.Request, v catalog.Version) error {
	d, err := h.Contents.Deflated(v.Digests.SHA256, content.Current)
	if err != nil {
		return h.lost(w, v, err)
	}
	defer d.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("ETag", tag(v, fmt.Sprintf("-gzip%d", d.Ref().Layout))) // each layout has other segments
	zipped := newGzip(d)
	body := &watched{ReadSeeker: zipped}
	http.ServeContent(&encoded{w, zipped.size()}, r, "", v.At, body)
	return h.brokenOff(r, v, body.err)
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
	d    *content.Deflated
	tail string
	pos  int64
}

func newGzip(d *content.Deflated) *gzipped {
	end := binary.LittleEndian.AppendUint32([]byte(content.Tail), d.Ref().CRC32)
	end = binary.LittleEndian.AppendUint32(end, uint32(d.Ref().Size)) // modulo 2^32
	return &gzipped{d: d, tail: string(end)}
}

func (g *gzipped) size() int64 { return int64(len(gzipHead)) + g.d.Size() + int64(len(g.tail)) }

// Seek implements io.Seeker.
func (g *gzipped) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += g.pos
	case io.SeekEnd:
		offset += g.size()
	}
	if offset < 0 {
		return 0, errors.New("fileserve: seek before the beginning")
	}
	g.pos = offset
	return offset, nil
}

// Read implements io.Reader.
func (g *gzipped) Read(p []byte) (n int, err error) {
	head, body := int64(len(gzipHead)), g.d.Size()
	switch {
	case len(p) == 0:
	case g.pos < head:
		n = copy(p, gzipHead[g.pos:])
	case g.pos < head+body:
		if _, err = g.d.Seek(g.pos-head, io.SeekStart); err == nil {
			n, err = g.d.Read(p)
		}
	case g.pos < g.size():
		n, err = strings.NewReader(g.tail[g.pos-head-body:]).Read(p)
	default:
		err = io.EOF
	}
	g.pos += int64(n)
	return n, err
}
