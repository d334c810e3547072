package sparqlapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// bodyWait is how long a client may take to send a piece of a request.
const bodyWait = 30 * time.Second

var errSlowBody = problem.New(http.StatusRequestTimeout, "The request came too slowly",
	"a request must be sent at 1 KiB a second or faster")

// paceBodies ends requests of clients without a token that send their bodies slower than minRate, which would keep
// handlers and connections for as long as they like. SPARQL has a stricter limit of its own.
func paceBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := access.Of(r.Context())
		if r.Body == nil || r.ContentLength == 0 || caller.Known() || r.URL.Path == "/sparql" || r.URL.Path == "/api/v1/sparql" {
			next.ServeHTTP(w, r)
			return
		}
		r2 := *r
		r2.Body = &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
		next.ServeHTTP(w, &r2)
	})
}

// pacedBody is a body whose reader gives up on a slow client.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	waited  time.Duration // in Read since the rate was last checked
	got     int64         // bytes in that time
	slow    bool
}

func (b *pacedBody) Read(p []byte) (n int, err error) {
	if b.slow {
		return 0, errSlowBody
	}
	began := time.Now()
	if b.control.SetReadDeadline(began.Add(bodyWait)) == nil { // fails for bodies that are in memory
		// The connection is read on behind the body to notice that the client leaves, for which there is no limit.
		defer b.control.SetReadDeadline(time.Time{})
	}
	n, err = b.ReadCloser.Read(p)
	b.waited += time.Since(began)
	b.got += int64(n)
	if b.waited >= bodyWait {
		b.slow = float64(b.got) < minRate*b.waited.Seconds()
		b.waited, b.got = 0, 0
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || b.slow && err == nil {
		b.slow = true
		return n, errSlowBody
	}
	return n, err
}
