package sparqlapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// trickle is a body that gives a piece of its bytes now and then.
type trickle struct {
	piece, left int
	every       time.Duration
	fails       error // instead of the second piece
}

func (d *trickle) Read(p []byte) (int, error) {
	time.Sleep(d.every)
	if d.left -= d.piece; d.left <= 0 {
		return 0, io.EOF
	}
	if d.fails != nil && d.left < d.piece*9 {
		return 0, d.fails
	}
	return min(d.piece, len(p)), nil
}

func (d *trickle) Close() error { return nil }

func TestABodyThatIsSentTooSlowlyEndsTheRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   trickle
		path   string
		caller access.Caller
		slow   bool
	}{
		"a byte a second": {trickle{piece: 1, left: 1000, every: time.Second}, "/get/files", access.Caller{}, true},
		"with a token": {trickle{piece: 1, left: 1000, every: time.Second}, "/get/files",
			access.Caller{Name: "me", Rights: access.Read}, false},
		"SPARQL":                     {trickle{piece: 1, left: 1000, every: time.Second}, "/sparql", access.Caller{}, false},
		"fast":                       {trickle{piece: 2048, left: 200 * 2048, every: time.Second}, "/get/files", access.Caller{}, false},
		"nothing until the deadline": {trickle{piece: 1, left: 10, fails: os.ErrDeadlineExceeded}, "/get/files", access.Caller{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var err error
				h := paceBodies(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, err = io.Copy(io.Discard, r.Body) }))
				r := httptest.NewRequest("POST", c.path, &c.body)
				h.ServeHTTP(httptest.NewRecorder(), r.WithContext(access.With(r.Context(), c.caller)))
				var e *problem.Error
				if slow := errors.As(err, &e) && e.Status == http.StatusRequestTimeout; slow != c.slow || !slow && err != nil {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
