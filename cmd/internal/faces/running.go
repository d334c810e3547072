package faces

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"odarchive/sparqlapi/problem"
)

// running counts the handlers that have not returned. http.Server forgets those whose connection it has closed.
type running struct {
	next http.Handler

	mu     sync.Mutex // guards the fields below
	paths  map[*http.Request]string
	closed bool
	left   chan struct{} // closed when the last handler returns after wait began
}

func newRunning(next http.Handler) *running {
	return &running{next: next, paths: make(map[*http.Request]string), left: make(chan struct{})}
}

func (h *running) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.enter(r) {
		problem.Write(w, r, problem.ErrStopping)
		return
	}
	defer h.leave(r)
	h.next.ServeHTTP(w, r)
}

func (h *running) enter(r *http.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.paths[r] = r.Method + " " + r.URL.Path
	}
	return !h.closed
}

func (h *running) leave(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.paths, r)
	if h.closed && len(h.paths) == 0 {
		close(h.left)
	}
}

func (h *running) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Values(h.paths))
}

// remindEvery is how often wait reports what it waits for.
const remindEvery = 10 * time.Second

// wait refuses new handlers and returns when none runs.
func (h *running) wait(remind func(left []string)) {
	h.mu.Lock()
	h.closed = true
	idle := len(h.paths) == 0
	h.mu.Unlock()
	if idle {
		return
	}
	tick := time.NewTicker(remindEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.left:
			return
		case <-tick.C:
			remind(h.list())
		}
	}
}
