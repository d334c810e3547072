package faces

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"odarchive/ui"
)

// Bounds of what is measured for the page of operation.
const (
	measuredFor = 30 * time.Second // how long sizes are used before they are measured again
	maxMeasured = 200_000          // files
)

// measuredParts are the directories below the data directory whose sizes are shown.
var measuredParts = []struct{ dir, what string }{
	{"packs", "files"}, {"db", "database"}, {"log", "write-ahead log"}, {"snapshots", "state files"}, {"dumps", "dumps"},
	{"answers", "answers of interfaces"}, {"audit", "audit log"}, {"spool", "files being fetched"},
}

// space measures what the archive takes of the disk, at most every measuredFor.
type space struct {
	mu   sync.Mutex
	at   time.Time
	last ui.Space
}

// diskSpace returns what the archive takes of the disk, and what is left.
func (a *Faces) diskSpace() (ui.Space, error) {
	a.space.mu.Lock()
	defer a.space.mu.Unlock()
	if time.Since(a.space.at) < measuredFor {
		return a.space.last, nil
	}
	var s ui.Space
	left := maxMeasured
	for _, part := range measuredParts {
		bytes, err := sizeBelow(filepath.Join(a.store.Config.Data, part.dir), &left)
		if err != nil {
			return s, err
		}
		if bytes > 0 {
			s.Parts = append(s.Parts, ui.SpacePart{Name: part.what, Bytes: bytes})
		}
	}
	s.Incomplete = left <= 0
	s.Free, s.Known = freeSpace(a.store.Config.Data)
	if err := a.store.DB.Room(); err != nil {
		s.Full = firstUpper(err.Error()) + "."
	}
	a.space.last, a.space.at = s, time.Now()
	return s, nil
}

// sizeBelow sums the sizes of the files below a directory, of at most left files. Files come and go meanwhile.
func sizeBelow(dir string, left *int) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		if *left--; *left <= 0 {
			return filepath.SkipAll
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
