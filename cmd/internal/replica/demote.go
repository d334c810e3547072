package replica

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// Demote makes the directory of an archive, which no process uses, that of a replica of the archive at an address: of one
// that was the writer, and was replaced. What it has that the other archive lacks is dropped when it follows. Packs that are
// only in the bucket of the archive are read from there, also before the other archive is reached.
func Demote(dir, writer string) error {
	for _, name := range descriptionFiles {
		raw, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, name), maxMark)
		if err != nil {
			continue
		}
		created, archive, err := archiveOf(string(raw))
		if err != nil {
			continue
		}
		m := newMark(writer)
		m.Created, m.Archive = created, archive
		var described struct {
			Bytes, Base string
			Former      []string
		}
		if err := json.Unmarshal(raw, &described); err != nil { // archiveOf has read it, too
			return fmt.Errorf("%s: %w", dir, err)
		}
		if m.Bytes = described.Bytes; len(described.Former) == 0 { // else the other one says which of the bases is in use
			m.Base = described.Base
		}
		return m.write(disk.OS{}, dir)
	}
	return fmt.Errorf("%s: its description cannot be read", dir)
}
