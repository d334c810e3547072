package store

import (
	"context"

	"odarchive/triplestore/disk"
)

// Scrubbed is a part of the archive that is read in rounds to find damage: the database, the packs, the dumps.
type Scrubbed struct {
	Name string
	scrubber
}

type scrubber interface {
	Scrub(ctx context.Context, bytesPerSecond int64) error
	Scrubbed() disk.Round
	Damages() []disk.Damage
}

// ScrubbedParts returns the parts that are scrubbed.
func (s *Store) ScrubbedParts() []Scrubbed {
	return []Scrubbed{{"database", s.DB}, {"packs", s.Content}, {"dumps", s.Dumps}}
}

// ScrubRate returns how many bytes of each part are read a second; 0 if none are.
func (s *Store) ScrubRate() int64 {
	if s.DB.ReadOnly() {
		return 0
	}
	return int64(s.Config.Serve.ScrubRate) / int64(len(s.ScrubbedParts()))
}
