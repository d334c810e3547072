package sparqlapi

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"odarchive/sparqlapi/conneg"

	"github.com/klauspost/compress/gzip"
)

// minCompressed is the size from which answers are compressed. Smaller ones fit in one network packet anyway.
const minCompressed = 1400

// compress gzips generated text for clients that accept it. It must not wrap handlers of archived bytes, whose lengths,
// ranges and ETags are those of the stored bytes.
func compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addVary(w.Header(), "Accept-Encoding")
		if r.Method == http.MethodHead || r.Header.Get("Range") != "" || !conneg.AcceptsGzip(r, true) {
			next.ServeHTTP(w, r)
			return
		}
		cw := &compressor{ResponseWriter: w}
		next.ServeHTTP(cw, r)
		cw.finish() // not deferred: after a panic the stream must stay incomplete
	})
}

// compressed answers as compress does, for a handler of one of the faces of an address that has others.
func compressed(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter, *http.Request) error) (err error) {
	compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { err = answer(w, r) })).ServeHTTP(w, r)
	return err
}

func addVary(h http.Header, name string) {
	for _, line := range h.Values("Vary") {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), name) {
				return
			}
		}
	}
	h.Add("Vary", name)
}

// compressor decides whether to compress when the body reaches minCompressed, when the handler flushes, or at the end.
type compressor struct {
	http.ResponseWriter
	status  int
	held    []byte // body until the decision
	decided bool
	gz      *gzip.Writer
}

var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, 5) // the level is valid
	return z
}}

func (c *compressor) WriteHeader(status int) {
	if status < 200 {
		c.ResponseWriter.WriteHeader(status)
		return
	}
	if c.status == 0 {
		c.status = status
	}
}

func (c *compressor) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	if !c.decided {
		if len(c.held)+len(p) < minCompressed {
			c.held = append(c.held, p...)
			return len(p), nil
		}
		if err := c.decide(true); err != nil {
			return 0, err
		}
	}
	return c.put(p)
}

func (c *compressor) put(p []byte) (int, error) {
	if c.gz != nil {
		return c.gz.Write(p)
	}
	return c.ResponseWriter.Write(p)
}

// decide sends the header and the held body. big reports that the body is worth compressing.
func (c *compressor) decide(big bool) error {
	c.decided = true
	h := c.Header()
	if h.Get("Content-Type") == "" && len(c.held) > 0 {
		h.Set("Content-Type", http.DetectContentType(c.held))
	}
	if big && c.status == http.StatusOK && h.Get("Content-Encoding") == "" && h.Get("Content-Range") == "" &&
		isText(h.Get("Content-Type")) {
		h.Set("Content-Encoding", "gzip")
		h.Del("Content-Length")
		h.Del("Accept-Ranges")
		if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
			h.Set("ETag", "W/"+tag)
		}
		c.gz = gzipWriters.Get().(*gzip.Writer)
		c.gz.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(c.status)
	if len(c.held) == 0 {
		return nil
	}
	held := c.held
	c.held = nil
	_, err := c.put(held)
	return err
}

// Flush sends what has been written. A handler that flushes is streaming, so its answer counts as big.
func (c *compressor) Flush() {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	if !c.decided && c.decide(true) != nil {
		return
	}
	if c.gz != nil && c.gz.Flush() != nil {
		return
	}
	http.NewResponseController(c.ResponseWriter).Flush() // errors are ignored, as http.Flusher does
}

// Unwrap supports http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressor) finish() {
	if !c.decided && (c.status != 0 || len(c.held) > 0) {
		if c.decide(false) != nil {
			return
		}
	}
	if c.gz != nil {
		if c.gz.Close() == nil { // a writer that failed is not reused
			gzipWriters.Put(c.gz)
		}
		c.gz = nil
	}
}

func isText(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") ||
		slices.Contains([]string{"application/json", "application/xml", "application/javascript", "application/n-triples",
			"application/n-quads", "application/trig", "application/link-format", "image/svg+xml", "application/x-ndjson"}, t)
}
