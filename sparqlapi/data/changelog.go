// Serves the log of changes of the triple store: GET /changes/rdf?after=POSITION&wait=SECONDS.
//
// The response is RDF Patch. Each commit after the position is one transaction; its headers name the transaction and
// the previous one. The field Odarchive-Position is the position of the last commit in the response, which the client
// passes as after in its next request. Odarchive-Newest is the position of the newest commit, which may be later. If
// there is no later commit, the response is 204 No Content, after waiting for one for the given time. If the log does
// not reach back to the position, or the position is of another log, the response is 410 Gone. The client then starts
// over with the whole dataset from /rdf-graph-store, whose response states its position.

package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
)

// Fields of responses. HeaderLog identifies the log to which positions belong. A restored archive has another log.
const (
	HeaderPosition = "Odarchive-Position"
	HeaderNewest   = "Odarchive-Newest"
	HeaderLog      = "Odarchive-Log"
)

// Log is the log of changes. *triplestore.Store implements it, and documents the methods.
type Log interface {
	Position() uint64
	Changes(ctx context.Context, since uint64, f func(triplestore.Commit) error) (last uint64, err error)
}

// LogOptions configure a Handler.
type LogOptions struct {
	Log  Log
	ID   string       // of the log
	Base string       // base IRI of the names of patches
	Logs *slog.Logger // for responses that are cut off by an error
}

// Limits of requests.
const (
	maxWait    = 60 * time.Second
	maxWaiting = 100                    // requests that wait for a commit at the same time
	lookEvery  = 100 * time.Millisecond // between two looks at the newest position
	enough     = 1 << 20                // bytes; a longer response ends after its current commit
)

// LogHandler answers requests. Use New.
type LogHandler struct {
	o       LogOptions
	waiting chan struct{}
}

// NewLog returns a Handler.
func NewLog(o LogOptions) *LogHandler {
	return &LogHandler{o: o, waiting: make(chan struct{}, maxWaiting)}
}

// Changes answers GET and HEAD requests for /changes/rdf.
func (h *LogHandler) Changes(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	after, wait, err := parameters(q.Get("after"), q.Get("wait"))
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set(HeaderLog, h.o.ID)
	newest := h.o.Log.Position()
	if id := q.Get("log"); id != "" && id != h.o.ID {
		return gone(newest, "the log is another one, such as after a restore from a backup")
	}
	if after > newest {
		return gone(newest, fmt.Sprintf("the log ends at position %d, before %d", newest, after))
	}
	if after == newest && wait > 0 && r.Method != http.MethodHead {
		if newest, err = h.await(r.Context(), after, wait); err != nil {
			return err
		}
	}
	header.Set(HeaderNewest, strconv.FormatUint(newest, 10))
	header.Set(HeaderPosition, strconv.FormatUint(after, 10))
	if after == newest || r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return h.send(w, r, after, newest)
}

func parameters(after, wait string) (position uint64, seconds time.Duration, err error) {
	if after != "" {
		if position, err = strconv.ParseUint(after, 10, 64); err != nil {
			return 0, 0, problem.New(http.StatusBadRequest, "Not a position", fmt.Sprintf("after=%.40q is not a number", after))
		}
	}
	if wait != "" {
		n, err := strconv.ParseFloat(wait, 64)
		if err != nil || n < 0 || n != n {
			return 0, 0, problem.New(http.StatusBadRequest, "Not a time", fmt.Sprintf("wait=%.40q is not a number of seconds", wait))
		}
		seconds = time.Duration(min(n, maxWait.Seconds()) * float64(time.Second))
	}
	return position, seconds, nil
}

func gone(newest uint64, why string) error {
	return problem.With(http.StatusGone, "The log of changes does not reach back",
		fmt.Errorf("%s: start over with the whole dataset, /rdf-graph-store", why), "newest", newest)
}

// await waits until there is a commit after a position, and returns the newest position. It returns after if there is
// none within the given time.
func (h *LogHandler) await(ctx context.Context, after uint64, wait time.Duration) (uint64, error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return 0, &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many requests wait for changes",
			Detail: "ask again without wait=, or later", RetryAfter: 10 * time.Second}
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if newest := h.o.Log.Position(); newest > after {
			return newest, nil
		}
		select {
		case <-look.C:
		case <-end.C:
			return after, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// errLogEnough ends the reading of the log.
var errLogEnough = errors.New("enough for one answer")

// send answers with the commits after a position. Since a field must name the last one, the response is buffered until
// that is known: at the end, or when the buffer is so long that no further commit will be added to the current one.
func (h *LogHandler) send(w http.ResponseWriter, r *http.Request, after, newest uint64) error {
	out := &response{w: w}
	patch := rdfio.NewPatchWriter(out)
	last, within := after, false
	_, err := h.o.Log.Changes(r.Context(), after, func(c triplestore.Commit) error {
		if !within {
			if c.Position > newest || last > after && out.n > enough {
				return errLogEnough
			}
			if err := h.begin(patch, last, c.Position); err != nil {
				return err
			}
			last = c.Position
		}
		within = c.More
		if err := errors.Join(patch.Quads(c.Removed, true), patch.Quads(c.Added, false)); err != nil {
			return err
		}
		if !within {
			if err := patch.Commit(); err != nil {
				return err
			}
		}
		if err := patch.Flush(); err != nil {
			return err
		}
		if within && out.n > enough {
			return out.start(last)
		}
		return nil
	})
	if errors.Is(err, errLogEnough) {
		err = nil
	}
	if err == nil {
		if err = patch.Flush(); err == nil {
			err = out.start(last)
		}
	}
	if err == nil {
		return nil
	}
	if out.started {
		h.o.Logs.WarnContext(r.Context(), "changes cut off", "after", after, "err", err)
		panic(http.ErrAbortHandler)
	}
	if errors.Is(err, triplestore.ErrTrimmed) {
		return gone(newest, err.Error())
	}
	return fmt.Errorf("changelog: %w", err)
}

// begin writes the headers of a patch and begins its transaction.
func (h *LogHandler) begin(p *rdfio.PatchWriter, prev, position uint64) error {
	return errors.Join(p.Header("id", h.name(position)), p.Header("prev", h.name(prev)), p.Begin())
}

// name returns the IRI of the patch of the commit at a position.
func (h *LogHandler) name(position uint64) string {
	return h.o.Base + "changes/rdf#" + strconv.FormatUint(position, 10)
}

// response buffers what is written until start is called.
type response struct {
	w       http.ResponseWriter
	held    bytes.Buffer
	n       int64 // bytes written, buffered or not
	started bool
}

func (a *response) Write(b []byte) (int, error) {
	a.n += int64(len(b))
	if a.started {
		return a.w.Write(b)
	}
	return a.held.Write(b)
}

// start sends the header, with the position of the last commit, and the buffer. Later calls do nothing.
func (a *response) start(last uint64) error {
	if a.started {
		return nil
	}
	a.started = true
	a.w.Header().Set("Content-Type", rdfio.PatchMediaType+"; charset=utf-8")
	a.w.Header().Set(HeaderPosition, strconv.FormatUint(last, 10))
	_, err := io.Copy(a.w, &a.held)
	return err
}
