package replica

import (
	"fmt"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// Demote makes the directory of an archive, which no process uses, that of a replica of the archive at an address: of one
// that was the writer, and was replaced. What it has that the other archive lacks is dropped when it follows.
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
		return m.write(disk.OS{}, dir)
	}
	return fmt.Errorf("%s: its description cannot be read", dir)
}
