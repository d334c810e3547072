package faces

import (
	"net/http"
	"sync/atomic"
	"time"

	"odarchive/sparqlapi/problem"
)

// watched is how long after a request for /readyz a load balancer is taken to look at it.
const watched = 2 * time.Minute

// readiness answers /readyz with 503 once the server is about to stop.
type readiness struct {
	next    http.Handler
	asked   atomic.Int64 // when /readyz was last asked for, in nanoseconds since 1970; 0 for never
	leaving atomic.Bool
}

// leave makes the server unready, and reports whether anybody looks.
func (h *readiness) leave() bool {
	h.leaving.Store(true)
	at := h.asked.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < watched
}

func (h *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isReadiness := r.URL.Path == "/readyz"
	if isReadiness {
		h.asked.Store(time.Now().UnixNano())
	}
	if h.leaving.Load() {
		w.Header().Set("Connection", "close") // the client's next request goes by another connection, and so elsewhere
		if isReadiness {
			problem.Send(w, r,
				problem.With(http.StatusServiceUnavailable, "Not ready", problem.ErrStopping, "state", "stopping").(*problem.Error))
			return
		}
	}
	h.next.ServeHTTP(w, r)
}
