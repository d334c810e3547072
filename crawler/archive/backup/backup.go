// Package backup copies a data directory while it is in use, wholly or what is new since an earlier copy, and makes a data
// directory of such copies.
//
// A backup is one stream: first an unchanging state of the database (triplestore/kv), then the packs that this state
// needs (crawler/archive/content), then a list of all packs. Packs never change once they are closed, so an incremental backup
// holds only new ones. Every byte is covered by a checksum. FORMAT.md has the details.
//
// ToFile gives a backup its name when it is complete and on disk; Restore makes the directory aside and renames it. So
// what has its name is whole, whenever the process or the machine may have stopped.
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

// What lies where in a data directory.
const (
	packsDir     = "packs"
	closedSuffix = ".pack"
)

// What a caller may want to decide on.
var (
	ErrBroken = errors.New("the backup is cut off or changed")
	ErrChain  = errors.New("the backup does not follow on the one before")
	ErrExists = errors.New("there is something already")
	ErrNewer  = errors.New("the backup was written by a newer program")
)

// Source is what a backup is made of.
type Source struct {
	DB      *kv.DB
	Content *content.Store
	Dir     string       // the data directory; only Files are read from it
	Files   []string     // small files of it that are copied, too, by their names
	Log     *slog.Logger // logs damaged packs; may be nil
}

// Info describes a backup.
type Info struct {
	ID      string    `json:"id"`
	Base    string    `json:"base,omitempty"` // ID of the backup this one follows on; "": it is a full one
	Time    time.Time `json:"time"`
	Version uint64    `json:"version"`           // of the database: where the next one goes on
	Lineage string    `json:"lineage,omitempty"` // the history that Version counts in; "": not known
	Packs   []Pack    `json:"packs"`             // all packs of this state
	Damaged []string  `json:"damaged,omitempty"` // names of packs in this backup that were damaged already
}

// Pack of a state.
type Pack struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Contains bool   `json:"contains,omitempty"` // it is in this backup; else in one before
}

// Progress is told bytes that have been written or read; nil for nobody.
type Progress func(n int64)

// followedBy refuses an archive of another history: its numbers mean other changes.
func (base *Info) followedBy(lineage string) error {
	if base.Lineage == "" || base.Lineage == lineage {
		return nil
	}
	return fmt.Errorf("%w: the archive has been restored, or has lost something, since then, or is another one; a full backup is needed", ErrChain)
}

// Write writes a backup: a full one, or with since what is new since that one.
func Write(ctx context.Context, src Source, w io.Writer, since *Info, p Progress) (Info, error) {
	info := Info{ID: rand.Text(), Time: time.Now().UTC().Truncate(time.Second), Lineage: src.DB.Lineage()}
	var version uint64
	if since != nil {
		if err := since.followedBy(info.Lineage); err != nil {
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
	release := src.Content.KeepPacks() // whatever the state of the database names stays
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

// packs writes the packs that the backup before does not have whole, or had unfinished.
func (out *writer) packs(src Source, since *Info, info *Info) error {
	list, err := src.Content.Packs()
	if err != nil {
		return err
	}
	for _, p := range list {
		if since != nil && p.Closed && since.hasWhole(p.Name) {
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

func (base *Info) hasWhole(name string) bool {
	return !slices.Contains(base.Damaged, name) && slices.ContainsFunc(base.Packs, func(p Pack) bool { return p.Name == name })
}

// errDamaged says that a pack was copied, and is not what it was.
var errDamaged = errors.New("the pack is damaged")

// pack writes one pack, healed through its parity where that is possible, and returns how many bytes it has.
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
	if err == nil && damage == nil && p.Closed && !namedBy(p.Name, sum) {
		damage = fmt.Errorf("%w beyond its parity: its content is not what its name says", errDamaged)
	}
	if err != nil {
		return n, err
	}
	return n, damage
}

// namedBy reports whether a closed pack's name is of the bytes that were summed.
func namedBy(name string, sum hash.Hash) bool {
	_, text, _ := strings.Cut(strings.TrimSuffix(name, closedSuffix), "-")
	return strings.HasPrefix(hexOf(sum.Sum(nil)), text)
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

// ToFile writes a backup to a file that does not exist yet. sincePath names the backup it follows on; "" makes a full one.
func ToFile(ctx context.Context, src Source, path, sincePath string, p Progress) (info Info, err error) {
	if _, err := os.Lstat(path); err == nil {
		return info, fmt.Errorf("backup: %w: %s", ErrExists, path)
	}
	var since *Info
	if sincePath != "" {
		base, err := Inspect(sincePath)
		if err != nil {
			return info, err
		}
		since = &base
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if info, err = Write(ctx, src, f, since, p); err != nil {
		return info, err
	}
	if err = f.Sync(); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	return info, nil
}

// Inspect reads what a complete backup says of itself, without reading all of it.
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

func hexOf(sum []byte) string { return hex.EncodeToString(sum) }
