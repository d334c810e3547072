package kv

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/disk"
)

// Hold says how far a named reader of the log is. The log behind that is not trimmed, within Options.HoldBytes.
type Hold struct {
	Name   string    `json:"name"`
	Number uint64    `json:"number"` // of the last write set that the reader has
	Seen   time.Time `json:"seen"`   // time of the last call of DB.Hold
}

// holdFor is how long a hold lasts that is not renewed.
const holdFor = 24 * time.Hour

// holdsFile is the name of the file that holds survive a restart in. It is written when a hold is new or ends, at most
// once a minute when one moves, and at Close.
const (
	holdsFile    = "readers.json"
	holdsRest    = time.Minute
	maxHoldsFile = 1 << 20 // bytes
)

// maxHolds is the maximum number of holds. The one that was renewed least recently goes first.
const maxHolds = 1000

const defaultHoldBytes = 256 << 20

// holds are the readers for whom the log is kept. The zero value is ready for use.
type holds struct {
	mu      sync.Mutex // guards the fields below
	list    []Hold
	stored  time.Time     // time of the last attempt to write holdsFile
	changed chan struct{} // closed and replaced when a hold moves; nil if nobody waits
}

// Hold keeps the log behind a write set from being trimmed for a named reader. The reader calls it again as it
// advances. A hold ends after a day without a call, by Release, when the log kept for it exceeds Options.HoldBytes, or
// when the disk is full. Then Records returns ErrLogTrimmed, and the reader begins again with OpenState. Holds survive
// a restart, with a number that may be a minute old.
//
// Purge waits a few seconds for readers that called Hold recently, and then trims the log regardless.
func (db *DB) Hold(name string, number uint64) {
	h := &db.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.list)
	h.list = slices.DeleteFunc(h.list, func(o Hold) bool { return o.Name == name })
	isNew := len(h.list) == before
	h.list = append(h.list, Hold{Name: name, Number: number, Seen: time.Now()}) // the latest call last
	if len(h.list) > maxHolds {
		h.list = h.list[1:]
	}
	h.wake()
	if isNew || time.Since(h.stored) >= holdsRest {
		db.storeHolds()
	}
}

// Release ends a hold. It is no error if there is none.
func (db *DB) Release(name string) {
	h := &db.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = slices.DeleteFunc(h.list, func(o Hold) bool { return o.Name == name })
	h.wake()
	db.storeHolds()
}

// storeHolds writes holdsFile. The caller holds holds.mu. Without the file the log may be trimmed after a restart, and
// readers begin again.
func (db *DB) storeHolds() {
	if db.log == nil || db.opts.CacheInMemory {
		return
	}
	h := &db.holds
	h.stored = time.Now()
	var err error
	if path := db.path(holdsFile); len(h.list) == 0 {
		err = db.opts.FS.Remove(path)
	} else if b, err2 := json.Marshal(h.list); err2 == nil {
		err = disk.WriteFile(db.opts.FS, path, b, 0o644)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		db.opts.Log.Warn("cannot store how far readers of the log are", "error", err)
	}
}

// loadHolds reads holdsFile.
func (db *DB) loadHolds() {
	b, err := disk.ReadFile(db.opts.FS, db.path(holdsFile), maxHoldsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = json.Unmarshal(b, &db.holds.list)
	}
	if err != nil {
		db.opts.Log.Warn("cannot read how far readers of the log are", "error", err)
	}
}

// Holds returns the holds in force, by name.
func (db *DB) Holds() []Hold {
	h := &db.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire()
	list := slices.Clone(h.list)
	slices.SortFunc(list, func(a, b Hold) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (h *holds) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

func (h *holds) expire() {
	h.list = slices.DeleteFunc(h.list, func(o Hold) bool { return time.Since(o.Seen) > holdFor })
}

// trimLog removes the log up to a write set, as far as the holds allow.
func (db *DB) trimLog(upTo uint64) error {
	bound := db.opts.HoldBytes
	if db.checkSpace() != nil {
		bound = 0
	}
	h := &db.holds
	h.mu.Lock()
	h.expire()
	h.list = slices.DeleteFunc(h.list, func(o Hold) bool {
		ended := o.Number < upTo && db.log.SizeFrom(o.Number+1) > bound
		if ended {
			db.opts.Log.Warn("the log is not kept any longer for a reader that is too far behind", "reader", o.Name, "number", o.Number)
		}
		return ended
	})
	for _, o := range h.list {
		upTo = min(upTo, o.Number)
	}
	h.mu.Unlock()
	return db.log.Trim(upTo)
}

// How long Purge waits for readers of the log, and which it waits for.
const (
	readersWait   = 5 * time.Second
	readersRecent = 40 * time.Second // since the last call of Hold
)

// waitForReaders waits until the readers of the log that are still there have a write set, but not long.
func (db *DB) waitForReaders(ctx context.Context, number uint64) {
	late := time.NewTimer(readersWait)
	defer late.Stop()
	h := &db.holds
	for {
		h.mu.Lock()
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		behind := slices.ContainsFunc(h.list, func(o Hold) bool { return o.Number < number && time.Since(o.Seen) < readersRecent })
		h.mu.Unlock()
		if !behind {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
