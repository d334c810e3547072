package content

import (
	"math"
	"sync"
)

// unfinished records in which packs something may still be committed. It has a lock of its own, which is never held
// while anything waits: the writer's is held while a pack is closed, or its number is reserved by a commit, and that
// commit may wait until a backup has it; the backup asks for the lowest unfinished pack.
//
// The order in which changes are published makes that safe without the writer's lock:
//
//   - A pack is current here before it is registered or its file exists. So a pack that packs.numbers returns is either
//     current, closed, or that of an earlier process.
//   - A Put is in here before its first byte is written, with the pack that is current then, which is still current
//     here;
//     and until its transaction is committed, or never will be. So a pack is never in neither place while a Put that
//     has
//     bytes in it may commit them.
//
// Hence what lowest returns only grows, apart from Puts that end, and every commit in a lower pack is visible to a
// transaction that begins later. Nothing of this is on disk: after a crash, no Put is in progress, and the packs that
// were not closed are current or closed when the store is opened again.
type unfinished struct {
	mu      sync.Mutex       // guards the fields below; no other lock is taken while it is held
	current uint64           // the pack that is appended to or being made, 0 if there is none
	newest  uint64           // the newest pack that there has been
	in      map[*byte]uint64 // the current pack at the start of each Put in progress
}

// begin makes a pack the current one.
func (u *unfinished) begin(num uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current, u.newest = num, max(u.newest, num)
}

// end says that nobody appends to the current pack any more.
func (u *unfinished) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current = 0
}

// enter registers a Put in progress. A pack must be current.
func (u *unfinished) enter() (leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	me := new(byte)
	u.in[me] = u.current
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.in, me)
	}
}

// lowestInUse returns the number of the lowest pack to which a Put in progress may have written, MaxUint64 without
// Puts.
func (u *unfinished) lowestInUse() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lowestIn()
}

func (u *unfinished) lowestIn() uint64 {
	lowest := uint64(math.MaxUint64)
	for _, num := range u.in {
		lowest = min(lowest, num)
	}
	return lowest
}

// lowest returns the number of the lowest pack in which something may still be committed. Lower packs are final. If
// there is none, it is a number that no pack has had.
func (u *unfinished) lowest() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	next := u.newest + 1
	if u.current != 0 {
		next = u.current
	}
	return min(next, u.lowestIn())
}
