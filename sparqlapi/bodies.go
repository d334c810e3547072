package sparqlapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// Limits of the bodies of requests without a right, in bytes.
const (
	smallBody  = 64 << 10 // of every route that is not named below
	largeBody  = 16 << 20 // of postReads, whose questions can be long
	heldBodies = 64 << 20 // what those beyond smallBody may take together, until their requests end
)

// bodyLimit returns the maximum length of the body of a request without a right; 0 for those that their handlers bound:
// queries have a memory of their own, and the inputs of commands are not kept.
func bodyLimit(r *http.Request) int64 {
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	switch {
	case path == "/sparql" || strings.HasPrefix(path, "/commands/"):
		return 0
	case slices.Contains(postReads, path):
		return largeBody
	}
	return smallBody
}

// boundBodies bounds the bodies of requests without a right, so that no handler keeps more of them than that. A body
// that cannot be read is the client's fault.
func boundBodies(next http.Handler) http.Handler {
	memory := access.NewBudget(heldBodies, heldBodies/4)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &boundBody{ReadCloser: r.Body, request: r, answer: w.Header(), memory: memory}
		if caller, _ := access.Of(r.Context()); !caller.Known() {
			body.limit = bodyLimit(r)
		}
		defer body.release()
		r2 := *r
		r2.Body = body
		next.ServeHTTP(w, &r2)
	})
}

// boundBody is the body of a request.
type boundBody struct {
	io.ReadCloser
	request *http.Request
	answer  http.Header
	limit   int64 // 0 for none
	got     int64
	memory  *access.Budget
	held    int64 // of memory
}

// Read refuses a body that says that it is too long before any of it is read, and not sooner: a route that wants a
// right says so first.
func (b *boundBody) Read(p []byte) (int, error) {
	if b.limit > 0 && b.request.ContentLength > b.limit {
		b.answer.Set("Connection", "close") // or net/http would read the body before it answers
		return 0, &http.MaxBytesError{Limit: b.limit}
	}
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if b.limit > 0 && b.got > b.limit {
		return 0, &http.MaxBytesError{Limit: b.limit}
	}
	if more := b.got - smallBody - b.held; b.limit > 0 && more > 0 {
		more = max(more, smallBody)
		if err := b.memory.Reserve(access.ClientOf(b.request.Context()), more); err != nil {
			return 0, &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many long requests at a time",
				Detail: "The memory for requests is in use; try again soon, or send a shorter one."}
		}
		b.held += more
	}
	return n, b.blame(err)
}

// blame makes a body that is malformed or breaks off a problem of status 400. What a limit says is left alone.
func (b *boundBody) blame(err error) error {
	_, long := errors.AsType[*http.MaxBytesError](err)
	_, known := errors.AsType[*problem.Error](err)
	if err == nil || errors.Is(err, io.EOF) || long || known || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, http.ErrBodyReadAfterClose) || b.request.Context().Err() != nil {
		return err
	}
	return problem.Wrap(http.StatusBadRequest, "The body could not be read", err)
}

func (b *boundBody) release() {
	if b.held > 0 {
		b.memory.Release(access.ClientOf(b.request.Context()), b.held)
	}
}
