package disk

import (
	"fmt"
	"path"
	"slices"
	"sync"
	"time"
)

// Damage is a place where stored bytes differ from their checksum, or a missing file. Its JSON form is part of reports.
type Damage struct {
	File   string    `json:"file"`   // relative to the data directory, with slashes
	Offset int64     `json:"offset"` // in bytes; -1 if the damage is not at one place
	Why    string    `json:"why"`
	Found  time.Time `json:"found"`
	Mended time.Time `json:"mended,omitzero"` // zero until the file is whole again or no longer needed
	How    string    `json:"how,omitempty"`   // source of the repair: parity, log, snapshot, ...
	Lost   string    `json:"lost,omitempty"`  // what could not be restored; empty if nothing is lost
}

// String describes the damage and its repair in one line.
func (d Damage) String() string {
	s := d.File
	if d.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", d.Offset)
	}
	s += ": " + d.Why
	if !d.Mended.IsZero() {
		s += "; mended from " + d.How
	}
	if d.Lost != "" {
		s += "; lost: " + d.Lost
	}
	return s
}

// Round is the progress of a scrub: the current pass over everything stored, and the number of earlier ones. Its JSON
// form is part of reports.
type Round struct {
	Began    time.Time `json:"began,omitzero"`    // start of the current round; zero before the first
	Done     int64     `json:"done"`              // bytes read in the current round
	Total    int64     `json:"total"`             // bytes to read
	Finished time.Time `json:"finished,omitzero"` // end of the last complete round; zero before the first
	Rounds   int       `json:"rounds"`            // complete rounds since the process started
}

// maxDamages is the number of damages that a Fixity keeps. It drops the oldest.
const maxDamages = 100

// Fixity records the damage found in a set of files and the progress of their scrub. The zero value is ready for use.
// All methods may be called concurrently.
type Fixity struct {
	mu      sync.Mutex // guards the fields below
	damages []Damage
	round   Round
	wake    chan struct{} // holds a value after Wake; created on first use
}

// Note records a damage and reports whether it is new. It is not new if the same place is recorded and not mended yet.
// If d.Found is zero, Note sets it to the current time.
func (f *Fixity) Note(d Damage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.damages, func(o Damage) bool { return o.File == d.File && o.Offset == d.Offset && o.Mended.IsZero() }) {
		return false
	}
	if d.Found.IsZero() {
		d.Found = time.Now()
	}
	if f.damages = append(f.damages, d); len(f.damages) > maxDamages {
		f.damages = slices.Delete(f.damages, 0, 1)
	}
	return true
}

// Mended marks the damages of a file, or of the files in a directory, as mended and returns them. lost, if not empty,
// says what could not be restored; it is recorded with the first of them.
func (f *Fixity) Mended(name, how, lost string) (mended []Damage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.damages {
		d := &f.damages[i]
		if d.Mended.IsZero() && (d.File == name || path.Dir(d.File) == name) {
			d.Mended, d.How, d.Lost = time.Now(), how, lost
			lost = ""
			mended = append(mended, *d)
		}
	}
	return mended
}

// Rename moves the damages of a file to its new name.
func (f *Fixity) Rename(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.damages {
		if f.damages[i].File == from {
			f.damages[i].File = to
		}
	}
}

// Damages returns the last hundred damages found at and since opening, mended ones included.
func (f *Fixity) Damages() []Damage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.damages)
}

// Scrubbed returns the progress of the scrub.
func (f *Fixity) Scrubbed() Round {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.round
}

// BeginRound records that a round of the scrub begins over total bytes, as far as known. It cancels earlier calls of
// Wake, since the round reads everything.
func (f *Fixity) BeginRound(total int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.wakes():
	default:
	}
	f.round.Began, f.round.Done, f.round.Total = time.Now(), 0, total
}

// Progress records how many bytes of the round have been read and how many there are in total.
func (f *Fixity) Progress(done, total int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.round.Done, f.round.Total = done, total
}

// EndRound records that the round has read everything.
func (f *Fixity) EndRound() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.round.Done, f.round.Finished = f.round.Total, time.Now()
	f.round.Rounds++
}

// Wake asks the scrub to begin its next round soon, because something looks damaged.
func (f *Fixity) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case f.wakes() <- struct{}{}:
	default:
	}
}

// Woken returns a channel that receives a value after a call of Wake.
func (f *Fixity) Woken() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wakes()
}

func (f *Fixity) wakes() chan struct{} {
	if f.wake == nil {
		f.wake = make(chan struct{}, 1)
	}
	return f.wake
}
