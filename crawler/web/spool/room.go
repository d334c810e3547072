package spool

import (
	"fmt"
	"sync"
	"time"
)

// Room watches the free space of the disk with a directory. Its methods may be called concurrently, and often: they
// read the free space at most once a second.
type Room struct {
	dir string
	min int64 // bytes that must stay free

	mu      sync.Mutex // guards what follows
	checked time.Time
	why     string
}

// NewRoom returns a Room that wants minFree bytes to stay free, or 3/8 of a small disk.
func NewRoom(dir string, minFree int64) *Room { return &Room{dir: dir, min: minFree} }

// Short returns why nothing more should be fetched now, "" while there is room. It is meant for frontier.Options.Hold.
func (r *Room) Short() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.checked) >= time.Second {
		r.checked, r.why = now, ""
		n, total, err := Free(r.dir)
		minFree := min(r.min, total/8*3)
		switch {
		case err != nil:
			r.why = fmt.Sprintf("the free space of %s is not known: %v", r.dir, err)
		case n < minFree:
			r.why = fmt.Sprintf("the disk is nearly full: %d MiB are free, and %d MiB must stay free", n>>20, minFree>>20)
		}
	}
	return r.why
}

// Refused makes the next Short read the free space at once, because a write failed for lack of room.
func (r *Room) Refused() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checked = time.Time{}
}
