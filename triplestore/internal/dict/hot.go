package dict

import (
	"sync"

	"odarchive/triplestore/term"
)

// hot caches terms in blocks that commits look up frequently: types, properties, media types. It has two generations. A
// term that is looked up moves to the young one; when that is full, it replaces the old one. Views with the same terms
// share a hot, so a Sweep creates a new one.
type hot struct {
	mu         sync.Mutex // guards young, old
	young, old map[term.Key]term.ID
}

const (
	hotTerms = 2048 // per generation
	hotTerm  = 256  // maximum length of a cached term, in bytes
)

func newHot() *hot { return &hot{young: map[term.Key]term.ID{}} }

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
	if len(h.young) >= hotTerms {
		h.old, h.young = h.young, make(map[term.Key]term.ID, hotTerms)
	}
	h.young[k] = id
}

func (h *hot) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.young, h.old = map[term.Key]term.ID{}, nil
}
