package content

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"odarchive/triplestore/disk"
)

// fixity is what is known of damage in the packs, and how far the scrub is.
type fixity struct {
	mu    sync.Mutex // guards the fields below
	list  []disk.Damage
	round disk.Round
	wakes chan struct{} // holds a token when a reader has met damage
}

// Damages returns what was found damaged since, and at, opening; what has been mended, too. At most the last hundred.
func (s *Store) Damages() []disk.Damage {
	s.fixity.mu.Lock()
	defer s.fixity.mu.Unlock()
	return slices.Clone(s.fixity.list)
}

// Scrubbed returns how far the scrub is.
func (s *Store) Scrubbed() disk.Round {
	s.fixity.mu.Lock()
	defer s.fixity.mu.Unlock()
	return s.fixity.round
}

// fileName returns the name that a file of the store has in reports.
func (s *Store) fileName(name string) string { return filepath.Base(s.dir) + "/" + name }

// noteFile notes that a file is damaged.
func (s *Store) noteFile(name string, offset int64, why string) {
	s.note(disk.Damage{File: s.fileName(name), Offset: offset, Why: why})
}

// note adds a damage to the list, once, and wakes the scrub.
func (s *Store) note(d disk.Damage) {
	s.fixity.mu.Lock()
	defer s.fixity.mu.Unlock()
	for i := range s.fixity.list {
		if o := &s.fixity.list[i]; o.File == d.File && o.Offset == d.Offset && o.Mended.IsZero() {
			return
		}
	}
	s.log.Error("damage found", "file", d.File, "offset", d.Offset, "why", d.Why)
	if d.Found.IsZero() {
		d.Found = time.Now()
	}
	if s.fixity.list = append(s.fixity.list, d); len(s.fixity.list) > damagesKept {
		s.fixity.list = slices.Delete(s.fixity.list, 0, 1)
	}
	select {
	case s.fixity.wakes <- struct{}{}:
	default:
	}
}

// mended notes that a file is whole again, or not needed any more.
func (s *Store) mended(name, how string) {
	s.fixity.mu.Lock()
	defer s.fixity.mu.Unlock()
	for i := range s.fixity.list {
		if d := &s.fixity.list[i]; d.File == s.fileName(name) && d.Mended.IsZero() {
			d.Mended, d.How, d.Lost = time.Now(), how, ""
			s.log.Info("damage mended", "file", d.File, "offset", d.Offset, "from", how)
		}
	}
}

// renamedFile carries the damages of a file to its new name.
func (s *Store) renamedFile(from, to string) {
	s.fixity.mu.Lock()
	defer s.fixity.mu.Unlock()
	for i := range s.fixity.list {
		if d := &s.fixity.list[i]; d.File == s.fileName(from) {
			d.File = s.fileName(to)
		}
	}
}
