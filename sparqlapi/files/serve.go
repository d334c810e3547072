package files

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"odarchive/sparqlapi/answer"
)

// LeftOutHeader is the number of selected files that are not in the zip. The zip's manifest.json lists them with
// reasons.
const LeftOutHeader = "Odarchive-Left-Out"

// container is a file of many versions whose bytes are all determined: a zip, a WARC or a WACZ.
type container interface {
	// WriteRange writes length bytes from offset on, or fewer at the end. It returns the number of bytes written.
	WriteRange(w io.Writer, c BundleContents, offset, length int64) (int64, error)
	Size() int64
	ETag() string        // strong: the same tag means the same bytes
	Modified() time.Time // of the newest entry
	LeftOut() []Entry
	form() form
}

var _, _, _ container = (*Plan)(nil), (*WARC)(nil), (*WACZ)(nil)

// form is what HTTP says of a kind of container.
type form struct{ mediaType, extension string }

func (p *Plan) form() form { return form{"application/zip", ".zip"} }

// Serve answers a GET or HEAD request, or a POST for the same, with the zip: Content-Length, ETag, Last-Modified,
// ranges, conditions. The caller must hold the contents (Contents.Hold) since before it looked the entries up. If an
// entry turns out to be damaged, Serve cuts the connection, so that the client does not take the answer for complete.
func (p *Plan) Serve(w http.ResponseWriter, r *http.Request, c BundleContents, log *slog.Logger) {
	send(w, r, p, c, log)
}

// send is Serve for any container.
func send(w http.ResponseWriter, r *http.Request, file container, c BundleContents, log *slog.Logger) {
	h := w.Header()
	h.Set("Content-Type", file.form().mediaType)
	h.Set("Content-Disposition", `attachment; filename="odarchive-`+strings.Trim(file.ETag(), `"`)[:8]+file.form().extension+`"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", file.ETag())
	h.Set(LeftOutHeader, strconv.Itoa(len(file.LeftOut())))
	body := &reader{RangeSeeker: answer.RangeSeeker{Size: file.Size()}, file: file, contents: c}
	r = r.Clone(r.Context())
	if r.Method == http.MethodPost { // http.ServeContent handles conditions and ranges of GET and HEAD only
		r.Method = http.MethodGet
	}
	answer.ServeRanges(&sender{ResponseWriter: w, body: body}, r, file.Modified(), body)
	if body.err != nil {
		if r.Context().Err() == nil && log != nil {
			log.ErrorContext(r.Context(), "download cut off", "path", r.URL.Path, "err", body.err)
		}
		panic(http.ErrAbortHandler)
	}
}

// reader is a container for byterange.Serve. In most cases nothing is read from it, because sender writes a whole
// section.
type reader struct {
	answer.RangeSeeker
	file     container
	contents BundleContents
	err      error
}

// Read is for callers that do not copy to a sender.
func (z *reader) Read(b []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.Pos >= z.file.Size() {
		return 0, io.EOF
	}
	buf := fixed{b: b}
	n, err := z.file.WriteRange(&buf, z.contents, z.Pos, int64(len(b)))
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

// sender writes sections of the file into the answer directly, with the store's own buffers.
type sender struct {
	http.ResponseWriter
	body *reader
}

// ReadFrom implements io.ReaderFrom. The io.CopyN of http.ServeContent calls it.
func (s *sender) ReadFrom(src io.Reader) (int64, error) {
	if l, ok := src.(*io.LimitedReader); ok && l.R == io.Reader(s.body) && s.body.err == nil {
		n, err := s.body.file.WriteRange(s.ResponseWriter, s.body.contents, s.body.Pos, l.N)
		s.body.Pos += n
		l.N -= n
		s.body.err = err
		return n, err
	}
	return io.Copy(struct{ io.Writer }{s.ResponseWriter}, src)
}

// Unwrap supports http.ResponseController.
func (s *sender) Unwrap() http.ResponseWriter { return s.ResponseWriter }
