package protocol

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
)

// incoming is the body of a request. What clients without the token send is limited together, in memory and in time, so
// that many slow ones cannot hold more than the server has.
type incoming struct {
	w      http.ResponseWriter
	r      *http.Request
	limit  int64 // bytes of the text
	max    int64 // bytes of the body, also when decompressed
	update bool  // the limit is that of updates
	budget *access.Budget
	held   int64 // bytes reserved in budget
}

// bodyWait is how long a client without the token may take to send its request.
const bodyWait = 30 * time.Second

// bodyStep is how many bytes are reserved at a time.
const bodyStep = 32 << 10

// receive prepares to read the body of a request. An update that its sender may not make is refused before its body is
// read.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (*incoming, error) {
	in := &incoming{w: w, r: r, limit: h.o.MaxQuery, budget: h.o.Places.Bodies}
	if r.Method != http.MethodPost {
		return in, nil
	}
	mt, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mt == "application/sparql-update" {
		if err := h.mayUpdate(r); err != nil {
			unread(w)
			return nil, err
		}
	}
	if mt != "application/sparql-query" && h.authorised(r) {
		in.limit, in.update = h.o.MaxUpdate, true
	}
	if h.authorised(r) {
		in.budget = nil
	}
	if in.max = in.limit; mt == "application/x-www-form-urlencoded" {
		in.max *= 3 // a form may escape every byte; the text itself is measured later
	}
	return in, nil
}

// unread closes the connection after the answer, because the body was not read. Otherwise net/http would wait for the
// rest of the body before it answers.
func unread(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// read reads the body and decompresses it if it has a Content-Encoding (RFC 9110 §8.4).
func (in *incoming) read() (text []byte, err error) {
	r := in.r
	defer func() {
		if err != nil {
			unread(in.w)
		}
	}()
	if r.ContentLength > in.max {
		return nil, in.tooLarge()
	}
	if in.budget != nil {
		control := http.NewResponseController(in.w)
		if control.SetReadDeadline(time.Now().Add(bodyWait)) == nil { // fails for bodies that are in memory already
			defer control.SetReadDeadline(time.Time{})
		}
	}
	limited := http.MaxBytesReader(in.w, r.Body, in.max)
	var body io.Reader = limited
	compressed := false
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip", "x-gzip", "zstd":
		plain, err := rdfio.Decompression{Max: in.max}.Open(limited, "the request")
		if err != nil {
			return nil, badRequest("The compressed text cannot be read: %v.", err)
		}
		defer plain.Close()
		body, compressed = plain, true
	default:
		return nil, unsupported(r, "The Content-Encoding must be gzip, zstd or none.")
	}
	text, err = io.ReadAll(&metered{in: in, r: body})
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	full, isFull := errors.AsType[*access.Full](err)
	switch {
	case tooLong, errors.Is(err, rdfio.ErrLimit):
		return nil, in.tooLarge()
	case isFull:
		return nil, bodiesFull(full)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problem.Newf(http.StatusRequestTimeout, "The request came too slowly", "A request must be sent within %s.", bodyWait)
	case err != nil && compressed:
		return nil, badRequest("The compressed text cannot be read: %v.", err)
	case err != nil:
		return nil, fmt.Errorf("protocol: read the request: %w", err)
	}
	return text, nil
}

func (in *incoming) tooLarge() error {
	if in.update {
		return tooLarge("update", in.limit)
	}
	return tooLarge("query", in.limit)
}

// tooLarge is the error of a query or update that is longer than its limit.
func tooLarge(what string, limit int64) error {
	return problem.Newf(http.StatusRequestEntityTooLarge, "The request is too large", "The text of %s may have at most %d bytes here.",
		article(what), limit)
}

func article(what string) string {
	if what == "update" {
		return "an update"
	}
	return "a " + what
}

func bodiesFull(full *access.Full) error {
	full.After = 5 * time.Second
	e := Refused(full).(*problem.Error)
	e.Title, e.Detail = "Too many long requests at a time", "The memory for requests is in use; try again soon, or send a shorter one."
	return e
}

// release gives back the memory of the body.
func (in *incoming) release() {
	if in.held > 0 {
		in.budget.Release(access.ClientOf(in.r.Context()), in.held)
		in.held = 0
	}
}

// metered reserves the memory of what it reads.
type metered struct {
	in *incoming
	r  io.Reader
	n  int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	if in := m.in; in.budget != nil && m.n > in.held {
		step := max(bodyStep, m.n-in.held)
		if err := in.budget.Reserve(access.ClientOf(in.r.Context()), step); err != nil {
			return 0, err
		}
		in.held += step
	}
	return n, err
}
