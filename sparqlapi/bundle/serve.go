package bundle

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"odarchive/sparqlapi/byterange"
)

// LeftOutHeader is the number of selected files that are not in the zip. The zip's manifest.json lists them with
// reasons.
const LeftOutHeader = "Odarchive-Left-Out"

// Serve answers a GET or HEAD request, or a POST for the same, with the zip: Content-Length, ETag, Last-Modified,
// ranges, conditions. The caller must hold the contents (Contents.Hold) since before it looked the entries up. If an
// entry turns out to be damaged, Serve cuts the connection, so that the client does not take the answer for complete.
func (p *Plan) Serve(w http.ResponseWriter, r *http.Request, c Contents, log *slog.Logger) {
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="odarchive-`+strings.Trim(p.etag, `"`)[:8]+`.zip"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", p.etag)
	h.Set(LeftOutHeader, strconv.Itoa(len(p.leftOut)))
	body := &reader{Seeker: byterange.Seeker{Size: p.size}, plan: p, contents: c}
	r = r.Clone(r.Context())
	if r.Method == http.MethodPost { // http.ServeContent handles conditions and ranges of GET and HEAD only
		r.Method = http.MethodGet
	}
	byterange.Serve(&sender{ResponseWriter: w, body: body}, r, p.modified, body)
	if body.err != nil {
		if r.Context().Err() == nil && log != nil {
			log.ErrorContext(r.Context(), "zip cut off", "path", r.URL.Path, "err", body.err)
		}
		panic(http.ErrAbortHandler)
	}
}

// reader is the zip for byterange.Serve. In most cases nothing is read from it, because sender writes a whole section.
type reader struct {
	byterange.Seeker
	plan     *Plan
	contents Contents
	err      error
}

// Read is for callers that do not copy to a sender.
func (z *reader) Read(b []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.Pos >= z.plan.size {
		return 0, io.EOF
	}
	buf := fixed{b: b}
	n, err := z.plan.WriteRange(&buf, z.contents, z.Pos, int64(len(b)))
	z.Pos += n
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

// sender writes sections of the zip into the answer directly, with the store's own buffers.
type sender struct {
	http.ResponseWriter
	body *reader
}

// ReadFrom implements io.ReaderFrom. The io.CopyN of http.ServeContent calls it.
func (s *sender) ReadFrom(src io.Reader) (int64, error) {
	if l, ok := src.(*io.LimitedReader); ok && l.R == io.Reader(s.body) && s.body.err == nil {
		n, err := s.body.plan.WriteRange(s.ResponseWriter, s.body.contents, s.body.Pos, l.N)
		s.body.Pos += n
		l.N -= n
		s.body.err = err
		return n, err
	}
	return io.Copy(struct{ io.Writer }{s.ResponseWriter}, src)
}

// Unwrap supports http.ResponseController.
func (s *sender) Unwrap() http.ResponseWriter { return s.ResponseWriter }
