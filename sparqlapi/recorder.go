package sparqlapi

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// writeWait is how long a client may take to accept one piece of an answer before the connection is closed. A
	// slower one would hold memory of queries and open files for too long.
	writeWait = 2 * time.Minute
	// minRate is how many bytes a second a client has to accept, measured over rateWindow in which the server has
	// waited for it. So a client that takes a few bytes now and then is slow, too.
	minRate    = 1 << 10
	rateWindow = 30 * time.Second
	// writePiece is how much is written with one deadline. A client may be this much slower than minRate allows.
	writePiece = 64 << 10
)

// errSlowClient is the error of writing to a client that is slower than minRate.
var errSlowClient = errors.New("sparqlapi: the client reads too slowly")

// recorder records the status and length of an answer, and extends the write deadline while the client keeps reading.
type recorder struct {
	http.ResponseWriter
	root     string // path of the archive's base (below)
	status   int
	bytes    int64
	deadline time.Time
	private  bool // no cache that others share may keep the answer

	waited time.Duration // time in Write since the rate was last checked
	passed int64         // bytes written in it
	slow   bool
}

func (w *recorder) WriteHeader(status int) {
	if w.status < 200 {
		if w.status = status; status >= 200 {
			place(w.Header(), w.root)
			w.restrict()
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (total int, err error) {
	for {
		piece := p[total:min(total+writePiece, len(p))]
		began, err := w.begin()
		if err != nil {
			return total, err
		}
		n, err := w.ResponseWriter.Write(piece)
		w.end(began, int64(n))
		if total += n; err != nil || total == len(p) {
			return total, err
		}
	}
}

// ReadFrom allows sendfile. It copies in pieces, each with its own deadline.
func (w *recorder) ReadFrom(src io.Reader) (total int64, err error) {
	from, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	const piece = 8 * writePiece
	for {
		began, err := w.begin()
		if err != nil {
			return total, err
		}
		n, err := from.ReadFrom(io.LimitReader(src, piece))
		w.end(began, n)
		total += n
		if err != nil || n < piece {
			return total, err
		}
	}
}

// Flush and Unwrap support http.ResponseController.
func (w *recorder) Flush() {
	began, err := w.begin()
	if err != nil {
		return
	}
	http.NewResponseController(w.ResponseWriter).Flush()
	w.end(began, 0)
}
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// restrict changes what the header allows caches, if the answer is not for everybody.
func (w *recorder) restrict() {
	if !w.private {
		return
	}
	h := w.Header()
	switch allowed := h.Get("Cache-Control"); {
	case allowed == "":
		h.Set("Cache-Control", "private")
	case strings.Contains(allowed, "public"):
		h.Set("Cache-Control", strings.Replace(allowed, "public", "private", 1))
	case !strings.Contains(allowed, "private") && !strings.Contains(allowed, "no-store"):
		h.Set("Cache-Control", "private, "+allowed)
	}
	addVary(h, "Authorization")
	addVary(h, "Cookie")
}

// begin prepares to write a piece. It returns errSlowClient if the client has been too slow.
func (w *recorder) begin() (now time.Time, err error) {
	if w.status < 200 {
		w.status = http.StatusOK
		place(w.Header(), w.root)
		w.restrict()
	}
	if w.slow {
		return now, errSlowClient
	}
	now = time.Now()
	if now.After(w.deadline.Add(-writeWait / 2)) {
		w.deadline = now.Add(writeWait)
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline) // fails for writers without deadlines
	}
	return now, nil
}

// end counts a piece of n bytes that began at some time.
func (w *recorder) end(began time.Time, n int64) {
	w.bytes += n
	w.passed += n
	w.waited += time.Since(began)
	if w.waited < rateWindow {
		return
	}
	if w.slow = float64(w.passed) < minRate*w.waited.Seconds(); w.slow {
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(began) // what is buffered is not sent either
	}
	w.waited, w.passed = 0, 0
}
