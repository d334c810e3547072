package kv

import (
	"sync"
	"sync/atomic"
)

// readers counts the readers of each state, so that Badger keeps the versions they see. The zero value is ready for
// use.
type readers struct {
	mu   sync.Mutex // guards open
	open map[uint64]int
}

// begin returns the number of the newest state and keeps that state until end is called.
func (r *readers) begin(visible *atomic.Uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = make(map[uint64]int)
	}
	n := visible.Load()
	r.open[n]++
	return n
}

func (r *readers) end(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[number]--; r.open[number] == 0 {
		delete(r.open, number)
	}
}

// oldest returns the number of the oldest state that is being read or may be read in future.
func (r *readers) oldest(visible *atomic.Uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := visible.Load()
	for number := range r.open {
		n = min(n, number)
	}
	return n
}
