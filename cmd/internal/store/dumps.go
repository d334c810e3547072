// Keeps the files with all triples that people download. It makes them, replaces them by newer ones, and
// removes them when something is withdrawn.
//
// A dump contains what the archive contained when it was made, so an old dump would bring back what was withdrawn
// since. Hold therefore removes all dumps, stops the one that is being made, and lets none begin until the withdrawn
// data is gone.
//
// An index names the dumps, and only files that it names are served. A new file gets a temporary name first; it is
// synced and renamed before the index names it. Clean removes files that an interrupted process has left. Scrub
// compares the files with the digests in the index, and discards those that are damaged: they can be made again.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/disk"
)

const (
	indexFile  = "dumps.json"
	maxIndex   = 1 << 20    // bytes
	prefix     = "triples-" // of the names of dumps
	tempSuffix = ".new"     // of files that are not complete
)

// ErrDumpHeld is the error of Make while what was withdrawn is being removed.
var ErrDumpHeld = errors.New("dumps: withdrawn bytes are being removed")

// DumpOptions of New. FS and Room must not be nil.
type DumpOptions struct {
	Path string // directory; made by the first dump
	FS   disk.FS
	Log  *slog.Logger // nil discards
	// Room returns an error if files of so many bytes would leave too little space on the disk.
	Room func(bytes int64) error
}

// DumpDir is a directory of dumps. Its methods may be called concurrently. Only one process may make or remove dumps.
type DumpDir struct {
	o      DumpOptions
	fixity disk.Fixity   // of the dumps
	due    chan struct{} // of size one: Discard has made dumps due

	mu      sync.Mutex // of what follows, and of the files
	held    int        // calls of Hold that were not released
	running *run       // nil if no dump is being made
}

// run is one call of Make.
type run struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it writes no more
}

// NewDumps returns the dumps in a directory. It neither reads nor writes.
func NewDumps(o DumpOptions) *DumpDir {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &DumpDir{o: o, due: make(chan struct{}, 1)}
}

// index is the content of the index.
type index struct {
	Last  time.Time      `json:"last"` // when the last dumps were made, also if they were removed since
	Dumps []catalog.Dump `json:"dumps"`
}

// readIndex returns the index, an empty one if there is none or if it cannot be decoded: dumps can be made again.
func (d *DumpDir) readIndex() (i index, err error) {
	raw, err := disk.ReadFile(d.o.FS, filepath.Join(d.o.Path, indexFile), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil
	}
	if err != nil {
		return i, fmt.Errorf("dumps: %w", err)
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		d.o.Log.Warn("the index of dumps is damaged; they will be made again", "directory", d.o.Path, "error", err)
		return index{}, nil
	}
	i.Dumps = slices.DeleteFunc(i.Dumps, func(one catalog.Dump) bool { return !validName(one.Name) })
	return i, nil
}

// validName reports whether a name in the index is one that Make gives. The index may have been damaged.
func validName(name string) bool {
	return strings.HasPrefix(name, prefix) && filepath.Base(name) == name && !strings.ContainsAny(name, `/\`) &&
		!strings.HasSuffix(name, tempSuffix)
}

func (d *DumpDir) writeIndex(i index) error {
	raw, err := json.MarshalIndent(i, "", "  ")
	if err == nil {
		err = disk.WriteFile(d.o.FS, filepath.Join(d.o.Path, indexFile), append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	return nil
}

// List returns the dumps that can be opened, newest first, and when the last ones were made; the zero time for never.
func (d *DumpDir) List() (list []catalog.Dump, last time.Time, err error) {
	i, err := d.readIndex()
	if err != nil {
		return nil, last, err
	}
	for _, one := range i.Dumps {
		if info, err := d.o.FS.Stat(filepath.Join(d.o.Path, one.Name)); err == nil && info.Mode().IsRegular() && info.Size() == one.Size {
			list = append(list, one)
			continue
		}
		d.fixity.Wake() // Scrub names what is missing or cut, and discards it
	}
	return list, i.Last, nil
}

// Open opens a dump by its name. The caller closes the file. The error is catalog.ErrNoDump if there is none of that
// name.
func (d *DumpDir) Open(name string) (f disk.File, dump catalog.Dump, err error) {
	list, _, err := d.List()
	if err != nil {
		return nil, dump, err
	}
	at := slices.IndexFunc(list, func(one catalog.Dump) bool { return one.Name == name })
	if at < 0 {
		return nil, dump, catalog.ErrNoDump
	}
	f, err = d.o.FS.OpenFile(filepath.Join(d.o.Path, name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil, dump, catalog.ErrNoDump
	}
	if err != nil {
		return nil, dump, fmt.Errorf("dumps: %w", err)
	}
	return f, list[at], nil
}

// Clean removes what an interrupted process has left: incomplete files, and those that the index does not name.
func (d *DumpDir) Clean() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.readIndex()
	if err != nil {
		return err
	}
	return d.removeExcept(i.Dumps)
}

// removeExcept removes the files of dumps that are not on a list, complete or not, and returns when that is durable.
func (d *DumpDir) removeExcept(list []catalog.Dump) error {
	entries, err := d.o.FS.ReadDir(d.o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	removed := false
	for _, e := range entries {
		own := strings.HasPrefix(e.Name(), prefix) || e.Name() == indexFile+tempSuffix
		if !own || slices.ContainsFunc(list, func(one catalog.Dump) bool { return one.Name == e.Name() }) {
			continue
		}
		if err := d.o.FS.Remove(filepath.Join(d.o.Path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("dumps: %w", err)
		}
		removed = true
	}
	if !removed {
		return nil
	}
	if err := d.o.FS.SyncDir(d.o.Path); err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	return nil
}

// Hold removes all dumps, and ends one that is being made. Make fails until release is called, also after an error of
// Hold.
func (d *DumpDir) Hold() (release func(), err error) {
	d.mu.Lock()
	d.held++
	r := d.running
	d.mu.Unlock()
	if r != nil {
		r.cancel(ErrDumpHeld)
		<-r.done
	}
	release = sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held--
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	// Without its index, a directory has no dumps: whatever is read of the index, all files go.
	if err := d.removeExcept(nil); err != nil {
		return release, err
	}
	i, err := d.readIndex()
	if err == nil && len(i.Dumps) > 0 {
		err = d.writeIndex(index{Last: i.Last})
	}
	return release, err
}

// Forget removes all dumps, and ends one that is being made.
func (d *DumpDir) Forget() error {
	release, err := d.Hold()
	release()
	return err
}
