package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcterms"
)

// Reading says when an archive is opened without writing anything to its directory.
type Reading int

const (
	NeverReadOnly  Reading = iota // opening fails where the directory cannot be written
	IfUnwritable                  // the disk is full, or the directory is read-only
	IfHeld                        // that, or another process holds the archive
	AlwaysReadOnly                // on request
)

// openDirectory reads what the data directory says of itself, makes one where it may, and raises the format of an older
// one before anything is written in the new format.
func (n *Node) openDirectory(opts Options) (err error) {
	dir, fsys := n.Config.Data, disk.OS{}
	if n.described, err = describe(fsys, dir, time.Now()); err != nil {
		return err
	}
	d := &n.described
	for _, damage := range d.damages {
		n.Log.Warn("the description of the archive is damaged", "damage", damage.String())
	}
	switch {
	case !d.exists && opts.Create && opts.Reads != AlwaysReadOnly:
		*d, err = begin(fsys, dir, n.Mint.Base, time.Now())
		return err
	case !d.exists:
		return fmt.Errorf("there is no archive in %s yet: 'odarchive add', 'harvest', 'load' or 'serve' makes one", dir)
	}
	return nil
}

// openDatabase opens the database, for reading only where that is asked for or allowed.
func (n *Node) openDatabase(reads Reading) (err error) {
	options := kv.Options{Log: n.Log, MustExist: holdsPacks(n.Config.Data)}
	if reads != AlwaysReadOnly {
		if err = n.raiseFormat(); err == nil {
			n.DB, err = kv.Open(n.Config.Data, options)
		}
		if errors.Is(err, kv.ErrMissing) {
			return fmt.Errorf("%w: %s holds packs, but neither a log nor tables; restore a backup, or see what the packs hold with 'odarchive check --packs-only'", kv.ErrMissing, n.Config.Data)
		}
		if n.Beside = whyReadOnly(err, reads); n.Beside == "" {
			return held(n.Config.Data, err)
		}
		if reads == IfUnwritable {
			n.Log.Warn(n.Beside)
		}
	} else {
		n.Beside = "the archive is open for reading only, as --read-only says"
	}
	options.ReadOnly = true
	if n.DB, err = kv.Open(n.Config.Data, options); err == nil {
		n.Beside += "; it shows what was committed by " + time.Now().UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return err
}

// held says what to do where another process has the archive; other errors stay as they are.
func held(dir string, err error) error {
	if !errors.Is(err, kv.ErrLocked) {
		return err
	}
	_, who, _ := strings.Cut(err.Error(), kv.ErrLocked.Error()+": ")
	return &heldError{fmt.Sprintf("%s is in use by %s: stop that process first; check, stats, query, get, zip, dump, diff, add, update, backup, requeue and drop work beside it", dir, who), err}
}

// heldError is kv.ErrLocked in a sentence for people.
type heldError struct {
	sentence string
	err      error
}

func (e *heldError) Error() string { return e.sentence }

func (e *heldError) Unwrap() error { return e.err }

// holdsPacks reports whether bytes of files are stored in a data directory.
func holdsPacks(dir string) bool {
	const begun = 16 // bytes of a pack that holds nothing
	names, _ := filepath.Glob(filepath.Join(dir, "packs", "*"))
	for _, name := range names {
		info, err := os.Stat(name)
		if suffix := filepath.Ext(name); err == nil && info.Size() > begun && (suffix == ".pack" || suffix == ".open") {
			return true
		}
	}
	return false
}

// raiseFormat keeps older programs from a directory before the database is taken over.
func (n *Node) raiseFormat() error {
	d := &n.described
	if d.Format == formatVersion {
		return nil
	}
	if err := kv.Held(n.Config.Data); err != nil {
		return err
	}
	d.Format = formatVersion
	return d.write(disk.OS{}, n.Config.Data)
}

// whyReadOnly is the sentence for an error of opening after which the archive is opened for reading; "" for other errors.
func whyReadOnly(err error, reads Reading) string {
	const state = "reading its last committed state"
	switch {
	case err == nil:
		return ""
	case reads == IfHeld && errors.Is(err, kv.ErrLocked):
		_, holder, _ := strings.Cut(err.Error(), kv.ErrLocked.Error()+": ")
		return strings.TrimSpace("the archive is in use by "+holder) + ": " + state
	case reads < IfUnwritable:
		return ""
	case errors.Is(err, kv.ErrDiskFull), disk.IsFull(err):
		return "the disk of the archive is full: " + state
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "the archive cannot be written to: " + state
	}
	return ""
}

// storeDirectory writes the description again where it has to be. A base that nobody wrote down is found in the archive.
func (n *Node) storeDirectory(ctx context.Context, opts Options) error {
	d := &n.described
	base := ""
	if d.Base == "" {
		var err error
		if base, err = n.baseOfVersions(ctx); err != nil {
			return err
		}
		if base == "" && opts.Create {
			base = n.Mint.Base
		}
	}
	damaged := len(d.damages) > 0
	if err := d.store(disk.OS{}, n.Config.Data, base, time.Now()); err != nil {
		return err
	}
	if damaged {
		n.Log.Warn("the description of the archive is written again", "base", d.Base, "created", d.Created)
	}
	if opts.Create && d.Base != n.Mint.Base {
		n.Log.Warn("the archive began with IRIs below another base, and old and new ones will not meet: give --base "+d.Base+" to keep them together", "base", n.Mint.Base)
	}
	return nil
}

// baseOfVersions is the base that the IRI of some version begins with; "" if there is no version.
func (n *Node) baseOfVersions(ctx context.Context) (base string, err error) {
	err = n.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		p, ok, err := sn.Lookup(term.IRI(dcterms.HasVersion))
		if err != nil || !ok {
			return err
		}
		err = sn.Dump(ctx, term.Pattern{P: p}, func(q term.Quad) error {
			if before, ok := ns.BaseOf(q.O.Value()); ok {
				base = before
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("base of the archive's IRIs: %w", err)
	}
	return base, nil
}

var errFound = errors.New("found")

// openSpool opens the spool of the archive. An archive that is only read has one outside its directory.
func (n *Node) openSpool() (*spool.Spool, error) {
	if !n.DB.ReadOnly() {
		return spool.New(filepath.Join(n.Config.Data, "spool"), spool.Options{})
	}
	dir, err := os.MkdirTemp("", "odarchive-spool-")
	if err != nil {
		return nil, fmt.Errorf("a directory for files on their way: %w", err)
	}
	n.onClose(func() error { return os.RemoveAll(dir) })
	return spool.New(dir, spool.Options{})
}
