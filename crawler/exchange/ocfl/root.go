// Package ocfl writes and reads storage roots of the Oxford Common File Layout 1.1.
//
// A file of the web is an object, whose id is its URL; version n of the file is version n+1 of the object. The state of
// a version has the file's bytes under its name, odarchive/version.json (preserve.Version) and odarchive/premis.xml
// (PREMIS 3.0). An object is built in full in a staging folder below extensions/, and moves into its place at once, so
// a root is valid at every moment, whenever the program is killed; the next run goes on. Bytes that several versions of
// an object have are there once.
//
// Objects are never changed, but for one reason: if a version was withdrawn, the object is replaced by one whose
// version has no bytes. The version keeps its number; its message and its PREMIS say when and why.
package ocfl

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"odarchive/crawler/exchange/preserve"
)

// stagingName is the folder, below extensions, in which objects are built. Programs that read roots ignore extensions
// that they do not know.
const stagingName = "odarchive-staging"

// Root is a storage root that is written. It is a preserve.Receiver, for one goroutine.
type Root struct {
	Agent string // IRI of the crawler, which the inventories name

	dir     string
	staging string
	lock    *os.File

	current *object   // between Begin and End; nil if the object is refused
	pending []*object // built, and not in their places yet
	bytes   int64     // of the pending
	Written Written
}

// Written counts what a run has done.
type Written struct {
	Objects   int   `json:"objects"`  // new ones, and those that have gained versions
	Versions  int   `json:"versions"` // new ones
	Bytes     int64 `json:"bytes"`    // of the files of new versions, without those that were there
	Rewritten int   `json:"rewritten"`
}

var _ preserve.Receiver = (*Root)(nil)

// Create opens a storage root for writing; an absent or empty folder becomes one. Only one process may write to
// a root: the error says so if another does.
func Create(dir string) (*Root, error) {
	dir = filepath.Clean(dir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ocfl: %w", err)
	}
	if len(entries) == 0 {
		if err := newRoot(dir); err != nil {
			return nil, fmt.Errorf("ocfl: create %s: %w", dir, err)
		}
	}
	if err := checkRoot(dir); err != nil {
		return nil, fmt.Errorf("ocfl: %w", err)
	}
	r := &Root{dir: dir, staging: filepath.Join(dir, extensionsDir, stagingName)}
	if err := os.MkdirAll(r.staging, 0o777); err != nil {
		return nil, fmt.Errorf("ocfl: %w", err)
	}
	if r.lock, err = os.OpenFile(filepath.Join(r.staging, "lock"), os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return nil, fmt.Errorf("ocfl: %w", err)
	}
	if err := lockFile(r.lock); err != nil {
		return nil, errors.Join(fmt.Errorf("ocfl: another process writes to %s: %w", dir, err), r.lock.Close())
	}
	if err := r.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("ocfl: %w", err), r.lock.Close())
	}
	return r, nil
}

// newRoot makes an absent or empty folder a root. If it can, it does so at once, by renaming.
func newRoot(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	made := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"-"+rand.Text()[:8])
	if err := os.Mkdir(made, 0o777); err != nil {
		return writeInPlace(dir)
	}
	if err := errors.Join(writeSkeleton(made), syncAll(made)); err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	if err := os.Rename(made, dir); err != nil { // a mount point, or a system that does not replace empty folders
		return errors.Join(os.RemoveAll(made), writeInPlace(dir))
	}
	return syncAll(filepath.Dir(dir))
}

func writeInPlace(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return errors.Join(writeSkeleton(dir), syncAll(dir))
}

// recover undoes what a killed run left. An object that was taken from its place, on systems that cannot exchange two
// folders at once, is put back.
func (r *Root) recover() error {
	entries, err := os.ReadDir(r.staging)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "lock" {
			continue
		}
		at := filepath.Join(r.staging, e.Name())
		if v, err := readOwn(at, ""); strings.HasPrefix(e.Name(), oldPrefix) && v != nil && err == nil {
			place := filepath.Join(r.dir, pathOf(v.ID))
			if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
				if err := r.moveTo(at, v.ID); err != nil {
					return err
				}
				continue
			}
		}
		if err := os.RemoveAll(at); err != nil {
			return err
		}
	}
	return nil
}

// EachHeld calls f with what the root holds of each file. It leaves out what cannot be read: Begin reports that.
func (r *Root) EachHeld(ctx context.Context, f func(url string, h preserve.Held) error) error {
	return filepath.WalkDir(r.dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || !d.IsDir() {
			return err
		}
		if at == filepath.Join(r.dir, extensionsDir) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(r.dir, at)
		if err != nil || strings.Count(filepath.ToSlash(rel), "/") < tuples {
			return err
		}
		if v, err := readOwn(at, ""); err == nil && v != nil {
			if h, err := held(v); err == nil {
				if err := f(v.ID, *h); err != nil {
					return err
				}
			}
		}
		return fs.SkipDir
	})
}

func held(v *inventory) (*preserve.Held, error) {
	h := &preserve.Held{}
	for n := range len(v.Versions) {
		b := v.Versions[v.directory(n+1)]
		if b == nil {
			return nil, preserve.Badf("its inventory does not have all versions")
		}
		at, err := b.created()
		if err != nil {
			return nil, preserve.Badf("its inventory: %w", err)
		}
		h.Versions = append(h.Versions, preserve.HeldVersion{Time: at.UTC(), Withdrawn: !b.hasBytes()})
	}
	return h, nil
}

// hasBytes reports whether the state of a version has a file beside those that describe it.
func (b *block) hasBytes() bool {
	for _, paths := range b.State {
		for _, p := range paths {
			if !strings.HasPrefix(p, ownFolder) {
				return true
			}
		}
	}
	return false
}

// readOwn reads the inventory of an object that this program wrote. It returns nil if there is no object; id is not
// compared if it is "".
func readOwn(dir, id string) (*inventory, error) {
	text, err := os.ReadFile(filepath.Join(dir, inventoryName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, preserve.Badf("the object in %s has no inventory", dir)
	}
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, sidecarName))
	if err != nil || string(sum) != string(sidecar(text)) {
		return nil, preserve.Badf("the inventory of the object in %s is damaged", dir)
	}
	v := &inventory{}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, preserve.Badf("the inventory of the object in %s: %w", dir, err)
	}
	if id != "" && v.ID != id || v.Type != inventoryType || v.DigestAlgorithm != "sha512" || v.contentDir() != contentDirectory {
		return nil, preserve.Badf("the object in %s is not one that this program writes", dir)
	}
	return v, nil
}

// Close puts the last objects into their places and ends writing.
func (r *Root) Close() error {
	err := r.flush()
	if err == nil {
		err = r.clean()
	}
	return errors.Join(err, r.lock.Close())
}

// Abandon ends writing without the objects that are not in their places yet.
func (r *Root) Abandon() error {
	r.pending, r.current = nil, nil
	return errors.Join(r.clean(), r.lock.Close())
}

func (r *Root) clean() error {
	if err := os.RemoveAll(r.staging); err != nil {
		return err
	}
	return syncAll(r.dir)
}
