package fetch

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"odarchive/triplestore/compression"
)

// decodeError marks what is wrong with a content encoding.
type decodeError struct{ error }

// maxLayers is the maximum number of content encodings of a response.
const maxLayers = 3

// decoder returns a reader of the decoded body of a response (RFC 9110 §8.4), and the encodings that it decodes.
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
		return src, "", nil // a .gz file that the server declares as encoded; browsers do not decode it either
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
	return faulty{r}, strings.Join(layers, ", "), nil
}

// notEncodings are words that servers put into Content-Encoding by mistake.
var notEncodings = []string{"identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked", "chunked"}

func isGzip(e string) bool { return e == "gzip" || e == "x-gzip" }

func isGzipType(contentType string) bool {
	t, _, _ := mime.ParseMediaType(contentType)
	return slices.Contains([]string{"application/gzip", "application/x-gzip", "application/x-tgz", "application/x-gtar"}, t)
}

// codings are the content codings that undo decodes.
var codings = map[string]compression.Format{
	"gzip": compression.Gzip, "x-gzip": compression.Gzip, "deflate": compression.Deflate, "br": compression.Brotli,
	"zstd": compression.Zstd,
}

// undo returns a reader that decodes one encoding.
func undo(encoding string, src io.Reader) (io.Reader, error) {
	format, ok := codings[encoding]
	if !ok {
		return nil, errors.New("unknown")
	}
	return compression.Open(src, format, compression.Options{Lenient: true, MaxWindow: 8 << 20}) // RFC 9659
}

// faulty makes the errors of a decoder *decodeErrors.
type faulty struct{ r io.Reader }

func (f faulty) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		err = &decodeError{err}
	}
	return n, err
}
