package sparqlapi

import (
	"io"
	"net/http"
	"time"
)

// writeWait is how long a client may take to accept one write before the connection is closed. A slower one would hold
// memory of queries and open files for too long.
const writeWait = 2 * time.Minute

// recorder records the status and length of an answer, and extends the write deadline while the client keeps reading.
type recorder struct {
	http.ResponseWriter
	status   int
	bytes    int64
	deadline time.Time
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 || w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom allows sendfile. It copies in pieces, each with its own deadline.
func (w *recorder) ReadFrom(src io.Reader) (total int64, err error) {
	from, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	const piece = 4 << 20
	for {
		w.begin()
		n, err := from.ReadFrom(io.LimitReader(src, piece))
		total += n
		w.bytes += n
		if err != nil || n < piece {
			return total, err
		}
	}
}

// Flush and Unwrap support http.ResponseController.
func (w *recorder) Flush()                      { w.begin(); http.NewResponseController(w.ResponseWriter).Flush() }
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) begin() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if now := time.Now(); now.After(w.deadline.Add(-writeWait / 2)) {
		w.deadline = now.Add(writeWait)
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline) // fails for writers without deadlines
	}
}
