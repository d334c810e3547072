package dict

import (
	"sync"

	"odarchive/triplestore/term"
)

// hot caches terms in blocks that are looked up frequently: types, properties, media types. It has two generations. A
// term that is looked up moves to the young one; when that is full, it replaces the old one. Views with the same terms
// share a hot, so a Sweep creates a new one.
type hot struct {
	terms      int        // maximum number of terms in a generation
	mu         sync.Mutex // guards young, old
	young, old map[term.Key]term.ID
}

const (
	hotTerms = 2048    // in a generation, for commits
	hotTerm  = 256     // maximum length of a cached term, in bytes
	loadHot  = 1 << 16 // in a generation, for a load: 2 x 10 MiB of terms of the usual length
)

func newHot(terms int) *hot { return &hot{terms: terms, young: map[term.Key]term.ID{}} }

func (h *hot) get(k term.Key) (term.ID, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id, ok := h.young[k]
	if !ok {
		if id, ok = h.old[k]; ok {
			h.add(k, id)
		}
	}
	return id, ok
}

func (h *hot) put(k term.Key, id term.ID) {
	if len(k) > hotTerm {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(k, id)
}

func (h *hot) add(k term.Key, id term.ID) {
	if len(h.young) >= h.terms {
		h.old, h.young = h.young, make(map[term.Key]term.ID, h.terms)
	}
	h.young[k] = id
}

func (h *hot) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.young, h.old = map[term.Key]term.ID{}, nil
}
