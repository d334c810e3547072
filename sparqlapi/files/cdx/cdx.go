package cdx

import (
	"bufio"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Archive lists captures.
type Archive interface {
	// Captures calls f with the captures whose key begins with prefix, in order, from the key after on, until f returns
	// false.
	Captures(ctx context.Context, prefix, after string, f func(catalog.Capture) (more bool, err error)) error
}

// Handler serves GET and HEAD /cdx.
type Handler struct {
	Archive Archive
	// URLOf returns the URL of the file that has a version, for the version's IRI, and every other address as it is;
	// may be nil.
	URLOf func(address string) string
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { problem.Handler(h.serve)(w, r) }

// portion is how many captures are read at a time, together with all others of the last address. No snapshot of the
// archive is held between portions, however slow the client is.
const portion = 1000

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	asked := r.URL.Query()
	if h.URLOf != nil {
		asked.Set("url", h.URLOf(target.Parameter(r, "url")))
	}
	q, err := parse(asked)
	if err != nil {
		return err
	}
	if _, err := parseMark(q.resume); err != nil {
		return err
	}
	if q.pages.count {
		return h.countPages(w, r, q)
	}
	out := bufio.NewWriterSize(w, 32<<10)
	lines := newWriter(out, q)
	w.Header().Set("Content-Type", lines.contentType())
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		return nil
	}
	next, err := h.answer(r.Context(), q, func(c catalog.Capture) { lines.capture(c) })
	if err != nil {
		if lines.lines > 0 {
			panic(http.ErrAbortHandler) // part of the answer is sent: it must not look complete
		}
		return err
	}
	if !q.showResume {
		next = ""
	}
	lines.end(next)
	out.Flush() // an error means that the client has left
	return nil
}

// answer calls give with the captures of a request, in its order. next is the key to continue after, or "" at the end.
func (h *Handler) answer(ctx context.Context, q request, give func(catalog.Capture)) (next string, err error) {
	if !q.reverse && !q.last && q.closest.IsZero() {
		return h.stream(ctx, q, give)
	}
	limit := q.limit
	q.limit = MaxLines
	var held []catalog.Capture
	if _, err := h.stream(ctx, q, func(c catalog.Capture) {
		if held = append(held, c); len(held) == 2*maxHeld {
			q.order(held)
			held = held[:maxHeld]
		}
	}); err != nil {
		return "", err
	}
	q.order(held)
	held = held[:min(limit, len(held))]
	if q.last {
		slices.Reverse(held)
	}
	for _, c := range held {
		give(c)
	}
	return "", nil
}

// order sorts captures if the request's order is not the index's. The last lines are found as the first ones in
// reverse.
func (q request) order(list []catalog.Capture) {
	slices.SortStableFunc(list, func(a, b catalog.Capture) int {
		if !q.closest.IsZero() {
			return cmp.Compare(distance(a, q.closest), distance(b, q.closest))
		}
		return cmp.Or(strings.Compare(b.Key, a.Key), b.At.Compare(a.At), strings.Compare(b.ID, a.ID))
	})
}

func distance(c catalog.Capture, t time.Time) time.Duration { return c.At.Sub(t).Abs() }

// mark is a position in the index: the last capture before the continuation.
type mark struct{ key, timestamp, id string }

func (m mark) String() string {
	return url.QueryEscape(m.key + " " + m.timestamp + " " + m.id)
}

func parseMark(s string) (m mark, err error) {
	if s == "" {
		return m, nil
	}
	if plain, err := url.QueryUnescape(s); err == nil && !strings.Contains(s, " ") {
		s = plain
	}
	parts := strings.Split(s, " ")
	if len(parts) != 3 {
		return m, bad("resumeKey=%q was not issued by this server", s)
	}
	return mark{parts[0], parts[1], parts[2]}, nil
}

// stream reads portions, and calls give with the captures that the request selects.
func (h *Handler) stream(ctx context.Context, q request, give func(catalog.Capture)) (next string, err error) {
	at, err := parseMark(q.resume)
	if err != nil {
		return "", err
	}
	given, last, collapsed, place := 0, mark{}, "", 0
	for _, prefix := range q.prefixes {
		for more := true; more; {
			var read []catalog.Capture
			more = false
			skip := at
			err := h.Archive.Captures(ctx, prefix, at.key, func(c catalog.Capture) (bool, error) {
				if skip.key == c.Key { // captures of this key up to the mark were given before
					if skip.id == c.ID {
						skip = mark{}
					}
					return true, nil
				}
				if len(read) >= portion && c.Key != read[len(read)-1].Key {
					more = true
					return false, nil
				}
				read = append(read, c)
				return true, nil
			})
			if err != nil {
				return "", err
			}
			for _, c := range read {
				at = mark{c.Key, c.At.UTC().Format(timestampLayout), c.ID}
				if place++; q.pages.behind(place - 1) {
					return "", nil
				}
				if q.pages.before(place-1) || !q.wants(c) {
					continue
				}
				if q.collapse != nil {
					same := q.collapse(c)
					if same == collapsed {
						continue
					}
					collapsed = same
				}
				if given == q.limit {
					return last.String(), nil
				}
				give(c)
				given++
				last = at
			}
		}
	}
	return "", q.pages.past(place)
}

func (q request) wants(c catalog.Capture) bool {
	if q.from != "" || q.to != "" {
		t := c.At.UTC().Format(timestampLayout)
		if q.from != "" && t < q.from || q.to != "" && t > q.to {
			return false
		}
	}
	for _, f := range q.filters {
		if f.match(value(c, f.field)) == f.not {
			return false
		}
	}
	return true
}
