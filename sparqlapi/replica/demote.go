package replica

import (
	"fmt"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// Demote makes the directory of an archive, which no process uses, that of a replica of the archive at an address: of
// one that was the writer, and was replaced. What it has that the other archive lacks is dropped when it follows. Packs
// that are only in the bucket of the archive are read from there, also before the other archive is reached.
func Demote(dir, writer string) error {
	for _, name := range descriptionFiles {
		raw, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, name), maxMark)
		if err != nil {
			continue
		}
		d, err := readDescription(string(raw))
		if err != nil {
			continue
		}
		m := newMark(writer)
		m.Created, m.Archive, m.Bytes = d.Created, d.ID, d.Bytes
		m.Base = d.base() // of several, the other one says which is in use
		return m.write(disk.OS{}, dir)
	}
	return fmt.Errorf("%s: its description cannot be read", dir)
}
