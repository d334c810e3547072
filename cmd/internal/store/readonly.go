package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/memory"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Reading says when an archive is opened without writing anything to its directory.
type Reading int

const (
	NeverReadOnly  Reading = iota // opening fails if the directory cannot be written
	IfUnwritable                  // if the disk is full, or the directory is read-only
	IfHeld                        // also if another process holds the archive
	AlwaysReadOnly                // in any case
)

// openDirectory reads the directory's description, and creates an archive in an empty directory if opts allow it.
func (s *Store) openDirectory(opts Options) (err error) {
	dir, fsys := s.Config.Data, disk.OS{}
	if s.described, err = describe(fsys, dir, time.Now()); err != nil {
		return err
	}
	d := &s.described
	for _, damage := range d.damages {
		s.Log.Warn("description of the archive is damaged", "damage", damage.String())
	}
	switch {
	case !d.exists && opts.Create && opts.Reads != AlwaysReadOnly:
		*d, err = createDirectory(fsys, dir, s.Mint.Base, time.Now())
		return err // the archive has no former bases
	case !d.exists:
		return fmt.Errorf("no archive in %s yet: 'odarchive add', 'harvest', 'load' or 'serve' creates one", dir)
	}
	return nil
}

// openDatabase opens the database, for reading only if that is requested, or is allowed and writing is impossible.
func (s *Store) openDatabase(ctx context.Context, opts Options) (err error) {
	reads, named := opts.Reads, s.Config.Backup.On()
	options := kv.Options{Log: s.Log, MustExist: holdsPacks(s.Config.Data), Dense: opts.Dense, Bulk: opts.Bulk,
		BlockCache: memory.ForCache(32<<20, 16)}
	if kv.IsReplica(s.Config.Data) && reads != AlwaysReadOnly {
		if reads == NeverReadOnly {
			return &replicaError{replicaWriter(s.Config.Data)}
		}
		s.ReadOnlyReason = "the archive is a replica, which only 'odarchive serve --follow' changes"
	} else if reads == AlwaysReadOnly {
		s.ReadOnlyReason = "the archive is open for reading only, because of --read-only"
		if n, err := readNote(s.Config.Data); err == nil && !n.Replaced.IsZero() {
			s.Log.Warn("what is shown may be out of date: " + replacedBy(n.To, n.By).Error())
		}
	} else if reads == IfHeld && !opts.Notes && s.readsBesideBackup() {
		// ReadOnlyReason is set
	} else if why, err := s.admit(ctx, reads == IfUnwritable); err != nil {
		return err
	} else if why != nil {
		if reads == NeverReadOnly || reads == IfUnwritable && named { // a server that is to be the writer
			return why
		}
		if s.ReadOnlyReason = why.Error(); reads == IfUnwritable {
			s.Log.Warn("the archive is served for reading only", "why", why)
		}
	} else {
		s.prepareBackup(&options)
		s.DB, err = kv.Open(s.Config.Data, options)
		if err == nil {
			err = closedAfter(s.leave(ctx), s.DB)
		}
		if err == nil && s.Config.Backup.To == config.NoBackup { // not before it is known that no other process writes
			_, err = Detach(s.Config.Data)
			err = closedAfter(err, s.DB)
		}
		if errors.Is(err, kv.ErrMissing) {
			return fmt.Errorf(
				"%w: %s holds packs, but neither a log nor tables; restore a backup, or list what the packs hold with 'odarchive check "+
					"--packs-only'", kv.ErrMissing, s.Config.Data)
		}
		if s.ReadOnlyReason = whyReadOnly(err, reads); s.ReadOnlyReason == "" {
			return held(s.Config.Data, err)
		}
		if reads == IfUnwritable {
			s.Log.Warn(s.ReadOnlyReason)
		}
	}
	options.ReadOnly = true
	if s.DB, err = kv.Open(s.Config.Data, options); err == nil {
		s.ReadOnlyReason += "; it shows what was committed by " + time.Now().UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return err
}

// closedAfter closes a database if there is an error, and returns that.
func closedAfter(err error, db *kv.DB) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, db.Close())
}

// readsBesideBackup reports whether the directory has, or had, a continuous backup, and sets why a command that only
// reads does not write there: it would have to ask the backup whether it may, and needs not.
func (s *Store) readsBesideBackup() bool {
	n, err := readNote(s.Config.Data)
	switch {
	case err != nil:
		s.ReadOnlyReason = err.Error()
	case n.To == "":
		return false
	case !n.Replaced.IsZero():
		s.ReadOnlyReason = replacedBy(n.To, n.By).Error()
	default:
		s.ReadOnlyReason, s.ReadsOnly = "this command only reads", true
	}
	return true
}

// held makes kv.ErrLocked a sentence that says what to do. It returns other errors unchanged.
func held(dir string, err error) error {
	if !errors.Is(err, kv.ErrLocked) {
		return err
	}
	_, who, _ := strings.Cut(err.Error(), kv.ErrLocked.Error()+": ")
	return &heldError{
		fmt.Sprintf(
			"%s is in use by %s: stop that process first; commands that only read, such as query, get and dump, work beside it, and if "+
				"it is a server, add, load, harvest and almost all others, too ('odarchive serve -h' names those that do not)", dir, who),
		err}
}

// heldError is kv.ErrLocked with a message for people.
type heldError struct {
	sentence string
	err      error
}

func (e *heldError) Error() string { return e.sentence }

func (e *heldError) Unwrap() error { return e.err }

// holdsPacks reports whether a data directory stores bytes of files.
func holdsPacks(dir string) bool {
	const emptyPack = 16 // bytes
	names, _ := filepath.Glob(filepath.Join(dir, "packs", "*"))
	for _, name := range names {
		info, err := os.Stat(name)
		if suffix := filepath.Ext(name); err == nil && info.Size() > emptyPack && (suffix == ".pack" || suffix == ".open") {
			return true
		}
	}
	return false
}

// whyReadOnly returns why the archive is opened for reading after an error, as a sentence; it is empty if the error is
// final.
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

// storeDirectory rewrites the description if it is damaged or incomplete, or if the archive mints IRIs below another
// base from now on. Missing bases are taken from the versions.
func (s *Store) storeDirectory(ctx context.Context, opts Options) error {
	d := &s.described
	var found []string
	if d.Base == "" {
		var err error
		if found, err = s.basesOfVersions(ctx); err != nil {
			return err
		}
	}
	if opts.Create {
		found = append(found, s.Mint.Base)
	}
	for _, base := range found {
		d.addBase(base)
	}
	damaged := len(d.damages) > 0
	if err := d.store(disk.OS{}, s.Config.Data, time.Now()); err != nil {
		return err
	}
	if damaged {
		s.Log.Warn("description of the archive rewritten", "base", d.Base, "created", d.Created)
	}
	if opts.Create && d.Base != s.Mint.Base {
		s.Log.Warn("the archive began with IRIs below another base: they stay known, but new ones differ from them; give --base "+d.Base+
			", or move all of them once with 'odarchive admin rebase --base "+s.Mint.Base+"'", "base", s.Mint.Base)
	}
	return nil
}

// setFormerBases lets s.Mint parse the IRIs that the archive minted below other bases.
func (s *Store) setFormerBases() {
	s.Mint.Former = slices.DeleteFunc(s.described.bases(), func(base string) bool { return base == s.Mint.Base })
}

// basesOfVersions returns the bases of the IRIs of versions, in the order of their appearance.
func (s *Store) basesOfVersions(ctx context.Context) (bases []string, err error) {
	err = s.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		p, ok, err := sn.Lookup(term.IRI(vocab.DCTHasVersion))
		if err != nil || !ok {
			return err
		}
		return sn.Dump(ctx, term.Pattern{P: p, G: term.DefaultGraph}, func(q term.Quad) error {
			if base, ok := ns.BaseOf(q.O.Value()); ok && !slices.Contains(bases, base) {
				bases = append(bases, base)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("bases of the archive's IRIs: %w", err)
	}
	return bases, nil
}
