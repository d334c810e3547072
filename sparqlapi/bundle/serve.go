package bundle

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"odarchive/sparqlapi/byterange"
)

// LeftOutHeader counts the selected files that a zip does not hold; its manifest.json says which, and why.
const LeftOutHeader = "Odarchive-Left-Out"

// Serve answers a GET or HEAD (or a POST that asks for the same) with the zip: Content-Length, ETag, Last-Modified,
// ranges, conditions. The caller holds the contents (Hold) since before the entries were looked up. Where an entry turns
// out to be damaged the connection is cut, so that nobody takes the rest for the whole.
func (p *Plan) Serve(w http.ResponseWriter, r *http.Request, c Contents, log *slog.Logger) {
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="odarchive-`+strings.Trim(p.etag, `"`)[:8]+`.zip"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", p.etag)
	h.Set(LeftOutHeader, strconv.Itoa(len(p.leftOut)))
	body := &reader{plan: p, contents: c}
	r = r.Clone(r.Context())
	if r.Method == http.MethodPost { // http.ServeContent knows conditions and ranges of GET and HEAD only
		r.Method = http.MethodGet
	}
	byterange.Serve(&sender{ResponseWriter: w, body: body}, r, p.modified, body)
	if body.err != nil {
		if r.Context().Err() == nil && log != nil {
			log.ErrorContext(r.Context(), "zip broken off", "path", r.URL.Path, "err", body.err)
		}
		panic(http.ErrAbortHandler)
	}
}

// reader is the zip as byterange.Serve wants it. It is hardly read: sender takes a section of it at once.
type reader struct {
	plan     *Plan
	contents Contents
	pos      int64
	err      error
}

func (z *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += z.pos
	case io.SeekEnd:
		offset += z.plan.size
	}
	if offset < 0 {
		return 0, errors.New("bundle: seek before the beginning")
	}
	z.pos = offset
	return offset, nil
}

// Read is for whoever does not copy through sender.
func (z *reader) Read(b []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.pos >= z.plan.size {
		return 0, io.EOF
	}
	buf := fixed{b: b}
	n, err := z.plan.WriteRange(&buf, z.contents, z.pos, int64(len(b)))
	z.pos += n
	z.err = err
	return int(n), err
}

type fixed struct {
	b []byte
	n int
}

func (f *fixed) Write(p []byte) (int, error) {
	f.n += copy(f.b[f.n:], p)
	return len(p), nil
}

// sender lets a section of the zip write itself into the answer, with the store's own buffers.
type sender struct {
	http.ResponseWriter
	body *reader
}

// ReadFrom is io.ReaderFrom; the io.CopyN of who serves it ends here.
func (s *sender) ReadFrom(src io.Reader) (int64, error) {
	if l, ok := src.(*io.LimitedReader); ok && l.R == io.Reader(s.body) && s.body.err == nil {
		n, err := s.body.plan.WriteRange(s.ResponseWriter, s.body.contents, s.body.pos, l.N)
		s.body.pos += n
		l.N -= n
		s.body.err = err
		return n, err
	}
	return io.Copy(struct{ io.Writer }{s.ResponseWriter}, src)
}

// Unwrap lets http.ResponseController reach deadlines.
func (s *sender) Unwrap() http.ResponseWriter { return s.ResponseWriter }
