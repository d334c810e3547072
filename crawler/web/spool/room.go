package spool

import (
	"fmt"
	"sync"
	"time"
)

// Room watches the free space of the disk that holds a directory. Its methods may be called concurrently, and often: the
// disk is asked at most once a second.
type Room struct {
	dir   string
	least int64

	mu    sync.Mutex // guards what follows
	asked time.Time
	why   string
}

// NewRoom watches for less than so many free bytes, or 3/8 of a small disk.
func NewRoom(dir string, least int64) *Room { return &Room{dir: dir, least: least} }

// Short says why nothing more should be fetched for now, "" while there is room. It fits frontier.Options.Hold.
func (r *Room) Short() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.asked) >= time.Second {
		r.asked, r.why = now, ""
		n, total, err := free(r.dir)
		least := min(r.least, total/8*3)
		switch {
		case err != nil:
			r.why = fmt.Sprintf("the free space of %s is not known: %v", r.dir, err)
		case n < least:
			r.why = fmt.Sprintf("the disk is nearly full: %d MiB are free, and %d MiB must stay free", n>>20, least>>20)
		}
	}
	return r.why
}

// Refused has the next Short ask the disk at once: somebody was refused for want of room.
func (r *Room) Refused() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Time{}
}
