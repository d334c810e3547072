package dict

import (
	"sync"

	"odarchive/triplestore/term"
)

// hot remembers terms in blocks that commits look up again and again: types, properties, media types. It holds two
// generations; what is asked for moves into the younger, and the older is dropped when that is full. Views that lead to
// the same terms share it, so a Sweep begins another one.
type hot struct {
	mu         sync.Mutex // guards young, old
	young, old map[term.Key]term.ID
}

const (
	hotTerms = 2048 // in a generation
	hotTerm  = 256  // longest that is remembered, in bytes
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
