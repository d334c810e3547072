package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// decodeError marks what is wrong with a content encoding.
type decodeError struct{ error }

// maxLayers of encodings: more than two are never honest.
const maxLayers = 3

// decoder undoes the content encodings of a response (RFC 9110 §8.4). What it returns reads until the decoded end.
func decoder(src io.Reader, h http.Header) (r io.Reader, encoding string, err error) {
	var layers []string
	for _, e := range strings.Split(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if e = strings.ToLower(strings.TrimSpace(e)); e != "" && !slices.Contains(notEncodings, e) {
			layers = append(layers, e)
		}
	}
	if len(layers) > maxLayers {
		return nil, "", &decodeError{fmt.Errorf("%d layers of content encoding", len(layers))}
	}
	if len(layers) == 1 && isGzip(layers[0]) && isGzipType(h.Get("Content-Type")) {
		return src, "", nil // a .gz file whose server calls its own compression an encoding; browsers keep the file too
	}
	r = src
	for _, e := range slices.Backward(layers) {
		if r, err = undo(e, r); err != nil {
			return nil, "", &decodeError{fmt.Errorf("content encoding %s: %w", e, err)}
		}
	}
	if len(layers) == 0 {
		return src, "", nil
	}
	return &guarded{r}, strings.Join(layers, ", "), nil
}

// notEncodings are words that servers put there by mistake.
var notEncodings = []string{"identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked", "chunked"}

func isGzip(e string) bool { return e == "gzip" || e == "x-gzip" }

func isGzipType(contentType string) bool {
	t, _, _ := mime.ParseMediaType(contentType)
	return slices.Contains([]string{"application/gzip", "application/x-gzip", "application/x-tgz", "application/x-gtar"}, t)
}

func undo(encoding string, src io.Reader) (io.Reader, error) {
	switch encoding {
	case "gzip", "x-gzip":
		return &gunzip{src: bufio.NewReader(src)}, nil
	case "deflate":
		return &inflate{src: bufio.NewReader(src)}, nil
	case "br":
		return brotli.NewReader(src), nil
	case "zstd":
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20)) // RFC 9659
		if err != nil {
			return nil, err
		}
		return &unzstd{d}, nil
	}
	return nil, errors.New("unknown")
}

// guarded holds the decoders to the rule that a stranger's bytes never panic, and names their errors.
type guarded struct{ r io.Reader }

func (g *guarded) Read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, &decodeError{fmt.Errorf("the decoder gave up: %.200v", r)}
		}
	}()
	n, err = g.r.Read(p)
	if err != nil && err != io.EOF {
		err = &decodeError{err}
	}
	return n, err
}

// gunzip reads all members and stops at whatever follows them: some servers pad.
type gunzip struct {
	src *bufio.Reader
	z   *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.src)
		if err != nil {
			if err == io.EOF { // nothing at all
				return 0, io.EOF
			}
			return 0, err
		}
		z.Multistream(false)
		g.z = z
	}
	for {
		n, err := g.z.Read(p)
		if n > 0 && err == io.EOF {
			err = nil
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if magic, err := g.src.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
			return 0, io.EOF
		}
		if err := g.z.Reset(g.src); err != nil {
			return 0, err
		}
		g.z.Multistream(false)
	}
}

// inflate reads "deflate", which is zlib by the standard and raw deflate from some servers.
type inflate struct {
	src *bufio.Reader
	z   io.Reader
}

func (i *inflate) Read(p []byte) (int, error) {
	if i.z == nil {
		head, err := i.src.Peek(2)
		if len(head) == 0 {
			return 0, err
		}
		if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			if i.z, err = zlib.NewReader(i.src); err != nil {
				return 0, err
			}
		} else {
			i.z = flate.NewReader(i.src)
		}
	}
	return i.z.Read(p)
}

// unzstd gives the decoder's memory back at the end.
type unzstd struct{ d *zstd.Decoder }

func (u *unzstd) Read(p []byte) (int, error) {
	n, err := u.d.Read(p)
	if err != nil {
		u.d.Close()
	}
	return n, err
}
