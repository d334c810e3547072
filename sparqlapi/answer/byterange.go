// Serves content of known length as http.ServeContent does, and several ranges of it in one answer as
// multipart/byteranges (RFC 9110 §14.6).
//
// It answers so for a few ranges that do not overlap. For other requests with several ranges it sends the whole
// content, which is always a valid answer (§14.2): many small ranges, or the same bytes repeatedly, must not cost more
// than a download. Content is read only during ServeRanges.

package answer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxRanges is the maximum number of ranges that are answered separately.
const MaxRanges = 16

// part is the range of bytes from start up to, but not including, end.
type part struct{ start, end int64 }

// ServeRanges answers a GET or HEAD request: conditions, one range, several ranges, or the whole. The caller sets
// Content-Type, and ETag if it has one. modified may be zero. If reading content fails, the answer ends early without
// an error, so the caller must watch content for that.
func ServeRanges(w http.ResponseWriter, r *http.Request, modified time.Time, content io.ReadSeeker) {
	header := r.Header.Get("Range")
	if !strings.Contains(header, ",") {
		http.ServeContent(w, r, "", modified, content)
		return
	}
	plain := r.Clone(r.Context())
	plain.Header.Del("Range")
	size, err := content.Seek(0, io.SeekEnd)
	if err != nil || r.Method != http.MethodGet || !unchanged(w.Header(), r, modified) {
		http.ServeContent(w, plain, "", modified, content)
		return
	}
	parts, ok := parse(header, size)
	switch {
	case !ok || overlap(parts):
		http.ServeContent(w, plain, "", modified, content)
	case len(parts) == 0: // none is satisfiable: 416
		plain.Header.Set("Range", "bytes="+strconv.FormatInt(size, 10)+"-")
		http.ServeContent(w, plain, "", modified, content)
	case len(parts) == 1:
		plain.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", parts[0].start, parts[0].end-1))
		http.ServeContent(w, plain, "", modified, content)
	default:
		s := newSeveral(w, content, parts, size)
		http.ServeContent(s, plain, "", modified, &length{RangeSeeker{Size: s.total}})
	}
}

// unchanged evaluates If-Range (RFC 9110 §13.1.5).
func unchanged(have http.Header, r *http.Request, modified time.Time) bool {
	want := r.Header.Get("If-Range")
	if want == "" {
		return true
	}
	if strings.HasPrefix(want, `"`) {
		return want == have.Get("ETag")
	}
	t, err := http.ParseTime(want)
	return err == nil && !modified.IsZero() && t.Unix() == modified.Unix()
}

// parse parses a Range header (RFC 9110 §14.1.2) for content of a given size, and drops ranges behind its end. It
// returns false unless the header is a list of at most Max byte ranges.
func parse(header string, size int64) (parts []part, ok bool) {
	list, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.Count(list, ",") >= 2*MaxRanges {
		return nil, false
	}
	n := 0
	for spec := range strings.SplitSeq(list, ",") {
		spec = strings.Trim(spec, " \t")
		if spec == "" { // lists may have empty elements
			continue
		}
		if n++; n > MaxRanges {
			return nil, false
		}
		p, ok := parseOne(spec, size)
		if !ok {
			return nil, false
		}
		if p.start < p.end {
			parts = append(parts, p)
		}
	}
	return parts, n > 0
}

// parseOne parses one range. A range behind the end of the content is empty.
func parseOne(spec string, size int64) (p part, ok bool) {
	first, last, found := strings.Cut(spec, "-")
	if !found {
		return p, false
	}
	if first == "" { // the last n bytes
		n, ok := number(last)
		return part{max(0, size-n), size}, ok
	}
	if p.start, ok = number(first); !ok {
		return p, false
	}
	p.end = size
	if last != "" {
		n, ok := number(last)
		if !ok || n < p.start {
			return p, false
		}
		p.end = min(n, size-1) + 1
	}
	return p, true
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}

// overlap reports whether a byte would be sent twice.
func overlap(parts []part) bool {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b part) int { return int(min(1, max(-1, a.start-b.start))) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].start < sorted[i-1].end {
			return true
		}
	}
	return false
}

// several turns the answer with the whole, which http.ServeContent sends if the request's conditions allow, into one
// with several parts.
type several struct {
	http.ResponseWriter
	content  io.ReadSeeker
	parts    []part
	heads    []string // before each part
	end      string
	boundary string
	total    int64
}

func newSeveral(w http.ResponseWriter, content io.ReadSeeker, parts []part, size int64) *several {
	s := &several{ResponseWriter: w, content: content, parts: parts, boundary: rand.Text()}
	between := ""
	for _, p := range parts {
		head := fmt.Sprintf("%s--%s\r\nContent-Type: %s\r\nContent-Range: bytes %d-%d/%d\r\n\r\n", between, s.boundary,
			w.Header().Get("Content-Type"), p.start, p.end-1, size)
		between = "\r\n"
		s.heads = append(s.heads, head)
		s.total += int64(len(head)) + p.end - p.start
	}
	s.end = "\r\n--" + s.boundary + "--\r\n"
	s.total += int64(len(s.end))
	return s
}

// WriteHeader implements http.ResponseWriter.
func (s *several) WriteHeader(status int) {
	if status == http.StatusOK {
		status = http.StatusPartialContent
		s.Header().Set("Content-Type", "multipart/byteranges; boundary="+s.boundary)
		s.Header().Set("Content-Length", strconv.FormatInt(s.total, 10))
	}
	s.ResponseWriter.WriteHeader(status)
}

// ReadFrom implements io.ReaderFrom. The io.CopyN of http.ServeContent calls it; its argument is a length without
// content.
func (s *several) ReadFrom(io.Reader) (n int64, err error) {
	for i, p := range s.parts {
		k, err := io.WriteString(s.ResponseWriter, s.heads[i])
		if n += int64(k); err != nil {
			return n, err
		}
		if _, err := s.content.Seek(p.start, io.SeekStart); err != nil {
			return n, err
		}
		copied, err := io.CopyN(s.ResponseWriter, s.content, p.end-p.start)
		if n += copied; err != nil {
			return n, err
		}
	}
	k, err := io.WriteString(s.ResponseWriter, s.end)
	return n + int64(k), err
}

// Unwrap supports http.ResponseController.
func (s *several) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// RangeSeeker implements io.Seeker for content that is made while it is read: it keeps the position.
type RangeSeeker struct{ Size, Pos int64 }

// Seek implements io.Seeker.
func (s *RangeSeeker) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.Pos
	case io.SeekEnd:
		offset += s.Size
	}
	if offset < 0 {
		return 0, errors.New("byterange: seek before the beginning")
	}
	s.Pos = offset
	return offset, nil
}

// length is content of which only the length is used.
type length struct{ RangeSeeker }

// Read implements io.Reader. It is never called.
func (l *length) Read([]byte) (int, error) { return 0, io.EOF }
