// Package store opens the data directory of an archive: database, triples, file bytes, and the archive over them.
//
// One process opens a directory for writing at a time; others may read it meanwhile (Reading). Open brings a directory
// to the formats of this program, and keeps what it could not bring back on a list (losses). The package neither
// fetches nor serves anything.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/memory"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/inspect/examine"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Options of Open. The zero value opens an existing archive for writing.
type Options struct {
	Create bool             // make the archive if there is none
	Clock  func() time.Time // the archive's time; nil means the system's
	Reads  Reading          // whether, and when, the archive is opened without writing
	Dense  bool             // compress what is written to the database more, for several times the processor time
	Bulk   bool             // millions of entries will be written, and few read (kv.Options.Bulk)
	State  *State           // a state of a replica; nil to open the database of the directory
	// Notes says that a command which only reads notes where it writes copies, if it may write.
	Notes bool
	// Examine examines files for several stores; nil for one of the store's own.
	Examine *examine.Pool
}

// State is what Open opens instead of the database of the directory.
type State struct {
	DB     *kv.DB  // pinned; the Store closes it, also if Open fails
	From   *Store  // of an earlier state, which lends what it has read; nil for the first one
	Packs  disk.FS // of the packs, from content.Follow; nil if all of them are in the folder
	Reason string  // why nothing can be written, as a sentence
}

// Store is an opened archive. Its parts may be used by several goroutines. The caller closes it, and not the parts.
type Store struct {
	Config         config.Config
	Log            *slog.Logger
	Mint           ns.Mint
	Clock          func() time.Time
	DB             *kv.DB
	Triples        *triplestore.Store
	Content        *content.Store
	Bucket         bucket.Bucket // holds the closed packs; nil for none
	Archive        *archive.Archive
	Examine        *examine.Pool
	Dumps          *DumpDir
	ReadOnlyReason string // a sentence; empty if the archive can be written
	ReadsOnly      bool   // ReadOnlyReason is nothing to be told: the command needs to write nothing

	signer    *transparency.Signer
	signed    chan struct{}
	dumped    atomic.Pointer[config.Dumps] // settings in effect
	redump    chan struct{}                // of size one: ReloadDumps was called
	described described
	backedUp  backedUp
	closers   []func() error // in the order of opening
}

// Open opens the archive in cfg.Data.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, opts Options) (*Store, error) {
	s := &Store{Config: cfg, Log: log, Clock: opts.Clock, signed: make(chan struct{}, 1), redump: make(chan struct{}, 1)}
	s.dumped.Store(&cfg.Dumps)
	if s.Clock == nil {
		s.Clock = time.Now
	}
	var err error
	if s.Mint, err = ns.New(cfg.Base); err != nil {
		return nil, err
	}
	if err := s.openDirectory(opts); err != nil {
		return nil, err
	}
	if err = errors.Join(s.openParts(ctx, opts), ctx.Err()); err == nil {
		err = s.prepare(ctx, opts)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("archive %s: %w", cfg.Data, err), s.Close())
	}
	return s, nil
}

// Close closes the parts in the opposite order of opening. It may be called twice.
func (s *Store) Close() error {
	var err error
	for len(s.closers) > 0 {
		last := len(s.closers) - 1
		err = errors.Join(err, s.closers[last]())
		s.closers = s.closers[:last]
	}
	return err
}

func (s *Store) onClose(f func() error) { s.closers = append(s.closers, f) }

func (s *Store) openParts(ctx context.Context, opts Options) (err error) {
	var from *triplestore.Store
	if st := opts.State; st != nil {
		s.DB, s.ReadOnlyReason = st.DB, st.Reason
		if st.From != nil {
			from = st.From.Triples
		}
	} else if err := s.openDatabase(ctx, opts); err != nil {
		return err
	}
	s.onClose(s.DB.Close)
	if s.Triples, err = triplestore.Open(s.DB,
		triplestore.Options{Log: s.Log, From: from, KeepChanges: int64(s.Config.KeepChanges), TextPredicates: s.Config.TextPredicates,
			CacheBytes: memory.ForCache(128<<20, 8), DictCacheBytes: memory.ForCache(64<<20, 16)}); err != nil {
		return err
	}
	s.onClose(s.Triples.Close)
	if err := s.openContent(opts.State); err != nil {
		return err
	}
	s.onClose(s.Content.Close)
	if err := s.openExaminer(opts); err != nil {
		return err
	}
	s.Dumps = NewDumps(DumpOptions{Path: filepath.Join(s.Config.Data, "dumps"), FS: disk.OS{}, Log: s.Log, Room: s.DB.RoomBeside})
	return nil
}

func (s *Store) openArchive() {
	s.setFormerBases()
	s.Archive = archive.New(s.Mint, s.DB, s.Triples, s.Content)
	s.Archive.ExamineWith(s.Examine)
	s.signer = &transparency.Signer{DB: s.DB, File: s.Config.LogKey(), Clock: s.Clock}
}

// prepare completes what was interrupted, and opens the archive. One that is open for reading only stays as it is.
func (s *Store) prepare(ctx context.Context, opts Options) error {
	if s.DB.ReadOnly() {
		s.openArchive()
		return nil
	}
	if err := s.storeDirectory(ctx, opts); err != nil {
		return err
	}
	if s.described.Rebasing != "" {
		s.Log.Info("completing a rebase that was interrupted", "base", s.described.Rebasing)
		if _, err := s.rebase(ctx); err != nil {
			return err
		}
	}
	if err := s.Dumps.Clean(); err != nil {
		return err
	}
	s.openArchive()
	s.logLosses(ctx)
	s.onClose(func() error { s.logLosses(context.WithoutCancel(ctx)); return nil })
	if err := s.Archive.OpenJoins(ctx); err != nil {
		return err
	}
	indexed, err := s.Archive.BuildSearch(ctx)
	if err != nil {
		return err
	}
	if indexed > 0 {
		s.Log.Info("search index made", "resources", indexed)
	}
	return nil
}

// OriginalBase returns the base below which the archive first minted IRIs; empty if that is not known.
func (s *Store) OriginalBase() string { return s.described.Base }

// DescriptionDamages returns the damages of odarchive.json and its copy that Open found. Those with Mended set are
// written again.
func (s *Store) DescriptionDamages() []disk.Damage { return s.described.damages }

// BackupSource returns what a backup of the archive is made of.
func (s *Store) BackupSource() backup.Source {
	return backup.Source{DB: s.DB, Content: s.Content, Dir: s.Config.Data, Files: []string{directoryFile, directoryCopy}, Log: s.Log}
}

// Setting returns the text that SetSetting stored under a key; nil if there is none.
func (s *Store) Setting(key string) (text []byte, err error) {
	err = s.DB.View(func(txn *kv.Txn) (err error) {
		text, _, err = txn.Get(kv.SpaceMeta, []byte(key))
		return err
	})
	return text, err
}

// SetSetting stores a text under a key, such as "crawl/price".
func (s *Store) SetSetting(ctx context.Context, key, text string) error {
	return s.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte(key), []byte(text)) })
}

// forgetVisits drops single visits that are older than the setting allows.
func (s *Store) forgetVisits(ctx context.Context) (int, error) {
	return s.Archive.ForgetVisits(ctx, s.Clock().Add(-s.Config.KeepVisits))
}

// Tidy drops old visits, compacts packs, and records what could not be brought back. A failure is logged: the next call
// tries again.
func (s *Store) Tidy(ctx context.Context) {
	s.logLosses(ctx)
	if visits, err := s.forgetVisits(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("old visits not dropped", "error", err)
	} else if visits > 0 {
		s.Log.Info("old visits dropped", "visits", visits)
	}
	done, err := s.Content.Compact(ctx)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("packs not compacted", "error", err)
	}
	if done.Packs > 0 {
		s.Log.Info("packs compacted", "packs", done.Packs, "freed", done.Freed)
	}
}
