// Package backup copies a data directory while it is in use, completely or only what is new since an earlier backup,
// and restores a data directory from such backups.
//
// A backup is one stream: an unchanging state of the database (triplestore/kv), then the packs that this state needs
// (crawler/archive/content), then a list of all packs. Closed packs never change, so an incremental backup contains
// only new ones. Every byte is covered by a checksum. FORMAT.md has the details.
//
// ToFile renames a backup to its name once it is complete and on disk. Restore writes to a temporary directory and
// renames it. So whatever has its name is complete, even if the process or the machine stopped.
package backup

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

// Names in a data directory.
const (
	packsDir     = "packs"
	closedSuffix = ".pack"
)

// Errors that callers decide on.
var (
	ErrBroken = errors.New("the backup is truncated or changed")
	ErrChain  = errors.New("the backup does not continue the one before")
	ErrExists = errors.New("it exists already")
	ErrNewer  = errors.New("the backup was written by a newer program")
)

// Source is what a backup copies.
type Source struct {
	DB      *kv.DB
	Content *content.Store
	Dir     string       // the data directory; only Files are read from it
	Files   []string     // names of small files in Dir to be copied
	Log     *slog.Logger // logs damaged packs; may be nil
	// Rest is called once it is known how many bytes of packs follow what is written; may be nil.
	Rest func(bytes int64)
}

// Info describes a backup.
type Info struct {
	ID      string    `json:"id"`
	Base    string    `json:"base,omitempty"` // ID of the backup that this one continues; "" for a full one
	Time    time.Time `json:"time"`
	Version uint64    `json:"version"`           // of the database, where the next backup continues
	Lineage string    `json:"lineage,omitempty"` // the history in which Version counts; "" if unknown
	Packs   []Pack    `json:"packs"`             // all packs of this state
	Damaged []string  `json:"damaged,omitempty"` // names of packs in this backup that were damaged when they were copied
}

// Pack is a pack of the backed-up state.
type Pack struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Contains bool   `json:"contains,omitempty"` // it is in this backup, not in an earlier one
}

// Progress is called with the number of bytes written or read since the last call. It may be nil.
type Progress func(n int64)

// checkLineage returns an error for an archive with another history, in which versions number other changes.
func (base *Info) checkLineage(lineage string) error {
	if base.Lineage == "" || base.Lineage == lineage {
		return nil
	}
	return fmt.Errorf("%w: since then, the archive was restored or lost data, or this is another archive; a full backup is needed",
		ErrChain)
}

// Write writes a full backup, or, if since is not nil, what is new since that backup.
func Write(ctx context.Context, src Source, w io.Writer, since *Info, p Progress) (Info, error) {
	info := Info{ID: rand.Text(), Time: time.Now().UTC().Truncate(time.Second), Lineage: src.DB.Lineage()}
	var version uint64
	if since != nil {
		if err := since.checkLineage(info.Lineage); err != nil {
			return info, fmt.Errorf("backup: %w", err)
		}
		info.Base, version = since.ID, since.Version
	}
	out := &writer{ctx: ctx, w: w, progress: p}
	if err := out.begin(); err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	for _, name := range src.Files {
		if err := out.file(src.Dir, name); err != nil {
			return info, fmt.Errorf("backup: %w", err)
		}
	}
	release := src.Content.KeepPacks() // so that all packs stay that the state of the database names
	defer release()
	err := out.section(kindDatabase, "", func(w io.Writer) (err error) {
		info.Version, err = src.DB.Backup(w, version)
		return err
	})
	if err == nil {
		err = out.packs(src, since, &info)
	}
	if err == nil {
		err = out.end(info)
	}
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	return info, nil
}

// file writes a small file, if it exists.
func (out *writer) file(dir, name string) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return out.section(kindFile, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// packs writes the packs of which the backup before has no sound, closed copy.
func (out *writer) packs(src Source, since *Info, info *Info) error {
	list, err := src.Content.Packs()
	if err != nil {
		return err
	}
	there := func(p content.Pack) bool { return since != nil && p.Closed && since.hasSound(p.Name) }
	if src.Rest != nil {
		rest := int64(0)
		for _, p := range list {
			if !there(p) {
				rest += p.Size
			}
		}
		src.Rest(rest)
	}
	for _, p := range list {
		if there(p) {
			info.Packs = append(info.Packs, Pack{Name: p.Name, Size: p.Size})
			continue
		}
		n, err := out.pack(src.Content, p)
		if errors.Is(err, errDamaged) {
			info.Damaged = append(info.Damaged, p.Name)
			if src.Log != nil {
				src.Log.Warn("a damaged pack is copied as it is", "pack", p.Name, "error", err)
			}
		} else if err != nil {
			return err
		}
		info.Packs = append(info.Packs, Pack{Name: p.Name, Size: n, Contains: true})
	}
	return nil
}

// hasSound reports whether the backup or one before it has a sound copy of a pack.
func (base *Info) hasSound(name string) bool {
	return !slices.Contains(base.Damaged, name) && slices.ContainsFunc(base.Packs, func(p Pack) bool { return p.Name == name })
}

// errDamaged reports that a pack was copied and is damaged.
var errDamaged = errors.New("the pack is damaged")

// pack writes one pack, healed by its parity if possible, and returns the number of its bytes.
func (out *writer) pack(store *content.Store, p content.Pack) (n int64, err error) {
	var damage error
	sum := sha256.New()
	err = out.section(kindPack, p.Name, func(w io.Writer) error {
		c := &counter{w: io.MultiWriter(w, sum)}
		err := store.CopyPack(c, p)
		n = c.n
		if short := new(content.DamageError); errors.As(err, &short) {
			damage, err = fmt.Errorf("%w: %w", errDamaged, err), nil
		}
		return err
	})
	if err == nil && damage == nil && p.Closed && !nameMatches(p.Name, sum) {
		damage = fmt.Errorf("%w beyond its parity: its content does not match its name", errDamaged)
	}
	if err != nil {
		return n, err
	}
	return n, damage
}

// nameMatches reports whether the hash in a closed pack's name is that of its bytes.
func nameMatches(name string, sum hash.Hash) bool {
	_, text, _ := strings.Cut(strings.TrimSuffix(name, closedSuffix), "-")
	return strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), text)
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ToFile writes a backup to a new file. sincePath is the backup that it continues; "" makes a full one. The error is
// ErrExists if the file exists.
func ToFile(ctx context.Context, src Source, path, sincePath string, p Progress) (info Info, err error) {
	f, err := Create(path)
	if err != nil {
		return info, err
	}
	var since *Info
	if sincePath != "" {
		var base Info
		if base, err = Inspect(sincePath); err != nil {
			return info, f.End(err)
		}
		since = &base
	}
	info, err = Write(ctx, src, f, since, p)
	return info, f.End(err)
}

// File is a backup that is being written. Only its owner may read it: it is the whole archive, also where reading that
// needs a token. Its part has a name of its own, so that two commands with the same name write two files.
type File struct {
	*os.File
	name string
}

// Create makes a file for a backup. The error is ErrExists if there is one of that name.
func Create(name string) (*File, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("backup: %w: %s", ErrExists, name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return &File{f, name}, nil
}

// End makes the file durable and gives it its name, or removes it if err is not nil.
func (f *File) End(err error) error {
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		if err = os.Rename(f.Name(), f.name); err == nil {
			err = syncDir(filepath.Dir(f.name))
		}
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// Inspect returns the description of a complete backup, without reading all of it.
func Inspect(path string) (info Info, err error) {
	f, err := os.Open(path)
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	defer f.Close()
	data, err := readEnd(f)
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		return info, fmt.Errorf("backup: %s: %w", path, err)
	}
	return info, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
