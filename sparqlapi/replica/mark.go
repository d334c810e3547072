package replica

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// mark is the content of replica.json, which makes a data directory that of a replica.
type mark struct {
	Writer  string `json:"writer"`            // address of the writer
	ID      string `json:"id"`                // random name of the replica
	Base    string `json:"base"`              // of the archive's IRIs
	Created string `json:"created"`           // of the archive; with Archive, tells archives apart
	Archive string `json:"archive,omitempty"` // id in the archive's description; "" if it was made by an older program
	Bytes   string `json:"bytes,omitempty"`   // URL of the bucket from which closed packs are read; "" if they are all copied
}

const maxMark = 64 << 10 // bytes

func newMark(writer string) mark { return mark{Writer: writer, ID: "replica-" + rand.Text()[:10]} }

// readMark reads the mark of a directory. It is zero if there is none.
func readMark(fsys disk.FS, dir string) (m mark, err error) {
	raw, err := disk.ReadFile(fsys, filepath.Join(dir, kv.ReplicaFile), maxMark)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err == nil && m.ID == "" {
		err = errors.New("it names no replica")
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, kv.ReplicaFile), err)
	}
	return m, nil
}

// write replaces the mark of a directory if it has changed.
func (m mark) write(fsys disk.FS, dir string) error {
	if old, err := readMark(fsys, dir); err == nil && old == m {
		return nil
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(fsys, filepath.Join(dir, kv.ReplicaFile), append(raw, '\n'), 0o644)
}

// The description of an archive, which is stored twice.
var descriptionFiles = []string{"odarchive.json", "odarchive.json.copy"}

// description is what a replica reads of the description of an archive.
type description struct {
	Created, ID, Base, Bytes string
	Former                   []string // other bases of its IRIs
}

func readDescription(text string) (d description, err error) {
	if err := json.Unmarshal([]byte(text), &d); err != nil || d.Created == "" {
		return d, fmt.Errorf("the writer's description of the archive cannot be read: %w", err)
	}
	return d, nil
}

// base returns the base of all IRIs of the archive; "" if there are several.
func (d description) base() string {
	if len(d.Former) > 0 {
		return ""
	}
	return d.Base
}

// archiveOf returns what tells the archive of a description from others: when it was created, and its id, which is ""
// if an older program made it.
func archiveOf(text string) (created, id string, err error) {
	d, err := readDescription(text)
	return d.Created, d.ID, err
}

// isOf reports whether the mark is that of a replica of an archive.
func (m mark) isOf(created, id string) bool {
	return m.Created == created && (m.Archive == id || m.Archive == "" || id == "")
}

// writeDescription writes the description of an archive, where it has changed.
func writeDescription(fsys disk.FS, dir, description string) error {
	for _, name := range descriptionFiles {
		path := filepath.Join(dir, name)
		if old, err := disk.ReadFile(fsys, path, maxMark); err == nil && string(old) == description {
			continue
		}
		if err := disk.WriteFile(fsys, path, []byte(description), 0o640); err != nil {
			return err
		}
	}
	return nil
}

// lastContact returns when the state in a directory was the writer's newest; zero if that is unknown. It is the time of
// the file that changes when something is applied.
func lastContact(dir string) time.Time {
	info, err := os.Stat(tipOf(dir))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// keepContact sets what lastContact returns: opening and closing a database writes that file, too.
func keepContact(dir string, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	err := os.Chtimes(tipOf(dir), at, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func tipOf(dir string) string { return filepath.Join(dir, "log", "tip") }
