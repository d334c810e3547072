package store

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/fields"
)

// formatVersion is the layout of a data directory that this program reads and writes. Before release 1.0.0 it may
// change without a road from one to the next (CONTRIBUTING.md).
const formatVersion = 1

// directory is the content of odarchive.json at the root of a data directory.
type directory struct {
	Format   int       `json:"format"`
	Created  time.Time `json:"created"`
	ID       string    `json:"id,omitempty"`       // random; with Created, tells archives apart
	Base     string    `json:"base,omitempty"`     // of the first IRIs
	Former   []string  `json:"former,omitempty"`   // other bases of IRIs, in the order of their first use
	Rebasing string    `json:"rebasing,omitempty"` // the base that all IRIs are being moved to
	Bytes    string    `json:"bytes,omitempty"`    // URL of the bucket of closed packs; without secrets
}

func (d directory) equal(o directory) bool {
	return d.Format == o.Format && d.Created.Equal(o.Created) && d.ID == o.ID && d.Base == o.Base && d.Rebasing == o.Rebasing &&
		d.Bytes == o.Bytes && slices.Equal(d.Former, o.Former)
}

// addBase adds a base unless it is known. The first one becomes Base.
func (d *described) addBase(base string) {
	switch {
	case d.Base == "":
		d.Base, d.stale = base, true
	case d.Base != base && !slices.Contains(d.Former, base):
		d.Former, d.stale = append(d.Former, base), true
	}
}

// BaseOf returns the base with which the archive in a directory began, or was moved to; "" if there is none, or both
// copies of its description are damaged.
func BaseOf(dir string) string {
	d, err := describe(disk.OS{}, dir, time.Time{})
	if err != nil {
		return ""
	}
	return d.Base
}

// bases returns all bases below which the archive minted IRIs.
func (d directory) bases() []string {
	if d.Base == "" {
		return d.Former
	}
	return append([]string{d.Base}, d.Former...)
}

// The description of a data directory is stored twice. The first file is written first, and wins if both are sound.
const (
	directoryFile = "odarchive.json"
	directoryCopy = "odarchive.json.copy"
)

// maxDirectoryFile is the most bytes of a description that are read.
const maxDirectoryFile = 64 << 10

// checksumMark starts the last member of a description, and of a note: the CRC-32C of every byte before the mark.
const checksumMark = `,"crc32c":"`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal encodes an object as JSON with a checksum as its last member.
func seal(object any) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimSuffix(raw, []byte("}"))
	return append(raw, sealOf(raw)...), nil
}

// sealOf returns the last member, and the end, of an object that begins so.
func sealOf(raw []byte) string {
	return fmt.Sprintf("%s%08x\"}\n", checksumMark, crc32.Checksum(raw, castagnoli))
}

// checkSeal reports whether a text has a checksum as seal writes it, and whether that is right.
func checkSeal(raw []byte) (has, right bool) {
	at := bytes.LastIndex(raw, []byte(checksumMark))
	return at >= 0, at >= 0 && string(raw[at:]) == sealOf(raw[:at])
}

var errDescription = errors.New("checksum does not match, or not a description of an archive")

// decodeDirectory decodes a description.
func decodeDirectory(raw []byte) (d directory, err error) {
	if json.Unmarshal(raw, &d) != nil || d.Format < 1 {
		return directory{}, errDescription
	}
	if _, right := checkSeal(raw); !right {
		return directory{}, errDescription
	}
	return d, nil
}

// write replaces both copies, the first one first.
func (d directory) write(fsys disk.FS, dir string) error {
	raw, err := seal(d)
	if err != nil {
		return err
	}
	for _, name := range []string{directoryFile, directoryCopy} {
		if err := disk.WriteFile(fsys, filepath.Join(dir, name), raw, 0o600); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// described is the description of a data directory, and the state of its two files.
type described struct {
	directory
	exists  bool          // the directory holds an archive
	stale   bool          // the files must be rewritten
	damages []disk.Damage // of the files; Mended is set once they are rewritten
}

// describe reads the description of a data directory and writes nothing. If one copy is damaged or missing, the other
// is used. If both are, and the directory holds an archive, Base is empty: the caller finds it in the archive. A
// directory that holds other files is an error.
func describe(fsys disk.FS, dir string, now time.Time) (d described, err error) {
	var sound []directory
	for _, name := range []string{directoryFile, directoryCopy} {
		raw, err := disk.ReadFile(fsys, filepath.Join(dir, name), maxDirectoryFile)
		if err == nil {
			var one directory
			if one, err = decodeDirectory(raw); err == nil {
				sound = append(sound, one)
				d.stale = d.stale || !one.equal(sound[0])
				continue
			}
		}
		if errors.Is(err, fs.ErrPermission) {
			return d, fmt.Errorf("data directory %s: %w", dir, err)
		}
		d.damages = append(d.damages, disk.Damage{File: name, Offset: -1, Why: missingOr(err), Found: now})
	}
	switch {
	case len(sound) > 0:
		d.directory, d.exists = sound[0], true
		d.stale = d.stale || len(d.damages) > 0
	default:
		if d.exists, err = holdsArchive(fsys, dir); err != nil {
			return d, err
		}
		if !d.exists {
			d.damages = nil
			return d, checkEmpty(fsys, dir)
		}
		d.directory = directory{Format: formatVersion, Created: now.UTC().Truncate(time.Second)}
		d.stale = true
	}
	if d.Format != formatVersion {
		return d, fields.OtherFormat("data directory "+dir, uint64(d.Format), formatVersion)
	}
	return d, nil
}

func missingOr(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	return err.Error()
}

// createDirectory creates a data directory, or makes an empty directory one.
func createDirectory(fsys disk.FS, dir, base string, now time.Time) (described, error) {
	d := described{directory: directory{Format: formatVersion, Created: now.UTC().Truncate(time.Second), ID: rand.Text(), Base: base},
		exists: true}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return d, fmt.Errorf("data directory: %w", err)
	}
	if err := d.write(fsys, dir); err != nil {
		return d, err
	}
	return d, fsys.SyncDir(filepath.Dir(filepath.Clean(dir)))
}

// store rewrites the description if a copy is damaged or missing, or if it has changed.
func (d *described) store(fsys disk.FS, dir string, now time.Time) error {
	if d.stale {
		if err := d.write(fsys, dir); err != nil {
			return err
		}
		d.stale = false
	}
	for i := range d.damages {
		d.damages[i].Mended, d.damages[i].How = now, "the other copy"
		if len(d.damages) == 2 {
			d.damages[i].How = "the contents of the archive"
		}
	}
	return removeUnfinished(fsys, dir)
}

// removeUnfinished removes the temporary files of an interrupted write.
func removeUnfinished(fsys disk.FS, dir string) error {
	for _, name := range []string{directoryFile, directoryCopy} {
		if err := fsys.Remove(filepath.Join(dir, name+".new")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// holdsArchive reports whether a directory without a description contains a database, a log or packs.
func holdsArchive(fsys disk.FS, dir string) (bool, error) {
	for part, marks := range map[string][]string{
		"db":        {"KEYREGISTRY", "MANIFEST", "OWNER"},
		"packs":     {".pack", ".open"},
		"log":       {"0.log", "1.log", "2.log", "3.log", "4.log", "5.log", "6.log", "7.log", "8.log", "9.log"}, // numbered
		"snapshots": {".state"},
	} {
		entries, err := fsys.ReadDir(filepath.Join(dir, part))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return false, fmt.Errorf("data directory %s: %w", dir, err)
		}
		for _, e := range entries {
			if slices.ContainsFunc(marks, func(mark string) bool { return strings.HasSuffix(e.Name(), mark) }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// checkEmpty returns an error if a directory exists and contains files of others.
func checkEmpty(fsys disk.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains([]string{directoryFile + ".new", directoryCopy + ".new", "lost+found"}, e.Name())
	})
	if len(entries) > 0 {
		return fmt.Errorf("%s is not an archive: it contains other files (%s, ...); name another directory with --data", dir,
			entries[0].Name())
	}
	return nil
}
