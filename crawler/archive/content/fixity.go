package content

import (
	"path/filepath"

	"odarchive/triplestore/disk"
)

// Damages returns the last hundred damages found at and since opening, mended ones included.
func (s *Store) Damages() []disk.Damage { return s.fixity.Damages() }

// Scrubbed returns the progress of the scrub.
func (s *Store) Scrubbed() disk.Round { return s.fixity.Scrubbed() }

// fileName returns the name that reports use for a file of the store.
func (s *Store) fileName(name string) string { return filepath.Base(s.dir) + "/" + name }

// noteFile records that a file is damaged.
func (s *Store) noteFile(name string, offset int64, why string) {
	s.note(disk.Damage{File: s.fileName(name), Offset: offset, Why: why})
}

// note records and logs a damage and wakes the scrub, unless the damage is known already.
func (s *Store) note(d disk.Damage) {
	if s.fixity.Note(d) {
		s.log.Error("damage found", "file", d.File, "offset", d.Offset, "why", d.Why)
		s.fixity.Wake()
	}
}

// mended records that a file is whole again or no longer needed.
func (s *Store) mended(name, how string) {
	for _, d := range s.fixity.Mended(s.fileName(name), how, "") {
		s.log.Info("damage mended", "file", d.File, "offset", d.Offset, "from", how)
	}
}

// renamedFile moves the damages of a file to its new name.
func (s *Store) renamedFile(from, to string) { s.fixity.Rename(s.fileName(from), s.fileName(to)) }
