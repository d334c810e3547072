// Package triplestore stores RDF quads in the process, durably and transactionally.
//
// A Store lives in a kv.DB, the key-value database of this project, which the caller opens and closes:
//
//	db, err := kv.Open("data", kv.Options{})
//	store, err := triplestore.Open(db, triplestore.Options{})
//
// Terms are term.Keys and quads are term.Quads, from package term. An empty graph is the default graph.
//
// A Snapshot is one unchanging state of the store. It scans quads by pattern in several sort orders, estimates counts,
// and translates between terms and ids. It never blocks and is never blocked; package sparql runs queries over it.
//
// A Txn, inside Update, inserts and deletes quads. Its changes become durable and visible together when Update returns
// nil, with everything that was written to its key-value transaction; if Update fails, none do.
//
//   - View, Snapshot and Dump read; Update, Load, Clear and DropGraph write.
//   - Changes returns what each commit added and removed.
//   - Stats returns exact figures; Check reads and compares everything stored.
//   - Merge, Sweep and Compact reclaim space at once. The store also does so by itself, in the background.
//
// A commit appends one record to the log and one sorted run to the overlay, which is in memory. When the overlay is
// large, a background merge writes it into blocks and replaces the root, one record that lists the blocks. Blocks are
// in up to three tiers: new quads go to a small one, which is folded into the next larger one when it has grown. A
// commit too large for the overlay, Load, Clear and DropGraph write blocks directly. Open reads the root, the fences
// (the first and last quads) of all blocks, and the log records after the last merge.
//
// The package does not interpret SPARQL (see package sparql) or RDF syntaxes (see package rdfio). FORMAT.md describes
// the stored format.
package triplestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Options configure a Store. The zero value is ready for use.
type Options struct {
	CacheBytes     int64        // memory for decoded blocks; 0 means 128 MiB
	DictCacheBytes int64        // memory for terms; 0 means 64 MiB
	MergeAt        int          // changed quads that start a merge; 0 means 128 Ki, more in large stores
	KeepChanges    int64        // maximum bytes of change log; 0 means 2 per quad within 1 MiB and 1 GiB; negative means no limit
	LoadMemory     int64        // approximate memory for the quads and terms of a Load; 0 means 512 MiB
	TempDir        string       // directory for the temporary files of a Load; "" means the database's directory
	Log            *slog.Logger // nil discards
	From           *Store       // an earlier state of the same database: Open shares its caches and reads only what was committed since
	// IRIs of predicates whose objects are searched by word; none means as before, at first DefaultTextPredicates
	TextPredicates []string
}

const (
	defaultCache      = 128 << 20
	defaultDictCache  = 64 << 20
	defaultMergeAt    = 128 << 10
	defaultLoadMemory = 512 << 20

	mergeTermBytes = 32 << 20 // bytes of recent terms that start a merge
	stallFactor    = 4        // a commit waits for the merge when this many times its threshold has accumulated
)

func (o Options) withDefaults(db *kv.DB) Options {
	o.CacheBytes = cmp.Or(o.CacheBytes, defaultCache)
	o.DictCacheBytes = cmp.Or(o.DictCacheBytes, defaultDictCache)
	o.LoadMemory = cmp.Or(o.LoadMemory, defaultLoadMemory)
	o.TempDir = cmp.Or(o.TempDir, db.Dir(), os.TempDir())
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Errors that callers may test for.
var (
	ErrClosed  = errors.New("the store is closed")
	ErrNewer   = errors.New("the store was written by another version of the program")
	ErrDamaged = segments.ErrDamaged // wrapped by every error about a stored value that is missing or malformed
	ErrBadQuad = errors.New("not an RDF quad")
)

// Store is an open store. All methods may be called concurrently.
type Store struct {
	db        *kv.DB
	opts      Options
	cache     *index.Cache
	dictCache *dict.Cache
	nextID    atomic.Uint64

	current atomic.Pointer[state] // the state that readers see
	tipMu   sync.Mutex            // guards tip
	tip     *state                // the state that the next writer builds on: current, or newer if commits are being written

	gate *semaphore.Weighted // a commit holds one unit, bulk work holds all; acquired before the kv turn

	// Merges hold merging. Background and bulk work lock it before taking the kv turn. A large commit already has the
	// turn, so it first makes the background merge give up.
	merging     sync.Mutex
	unswept     []uint64   // lists of obsolete keys not deleted yet; guarded by merging
	cancelMu    sync.Mutex // guards cancelMerge, impatient
	cancelMerge context.CancelCauseFunc
	impatient   int // large commits waiting for a merge to give up

	literals *literals // the index of words
	places   *places   // the index of geometries

	wake     chan struct{}         // wakes the background to merge or tidy up
	tidying  atomic.Pointer[state] // state whose root has made keys obsolete
	lost     atomic.Int64          // quads removed since the database was last compacted
	mergedMu sync.Mutex            // guards merged
	merged   chan struct{}         // closed and replaced at the end of every background merge
	stop     context.CancelFunc
	wg       sync.WaitGroup
	closed   atomic.Bool
}

const gateUnits = 1 << 20

// state is a state of the store that is committed or about to be.
type state struct {
	base     *index.Base
	overlay  index.Overlay // of the commits in (root.merged, position]
	dict     *dict.View
	root     *root
	position uint64 // of the last commit
	terms    uint64 // the number the next new term gets
	logBytes int64  // approximate size of the log up to position
	graphs   *graphList
}

// Open opens the store in a database and creates it if it does not exist. The caller closes the Store before the
// database. Errors include ErrNewer and ErrDamaged.
func Open(db *kv.DB, o Options) (*Store, error) {
	s := &Store{db: db, opts: o.withDefaults(db), gate: semaphore.NewWeighted(gateUnits), wake: make(chan struct{}, 1),
		merged: make(chan struct{})}
	var st *state
	var err error
	if from := o.From; from != nil {
		s.cache, s.dictCache = from.cache, from.dictCache
		st, err = s.advance(from.current.Load())
	} else {
		s.cache = index.NewCache(s.opts.CacheBytes)
		s.dictCache = dict.NewCache(s.opts.DictCacheBytes)
	}
	if st == nil && err == nil {
		st, err = s.recover()
	}
	if err != nil {
		return nil, fmt.Errorf("triplestore: open: %w", err)
	}
	s.tip = st
	s.current.Store(st)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.literals, s.places = newLiterals(s), newPlaces(s)
	s.wg.Go(func() { s.background(ctx) })
	s.wg.Go(func() { s.literals.run(ctx) })
	s.wg.Go(func() { s.places.run(ctx) })
	if db.ReadOnly() {
		return s, nil
	}
	s.mergeIfDue(st)
	if st.dict.Swept() {
		s.tidyLater(st)
	}
	return s, nil
}

// advance returns the state that follows from an earlier one: nil if its blocks were replaced since. Like a writer, it
// appends to the recent terms of the earlier state, which does not see them; so an earlier state can be advanced once.
func (s *Store) advance(from *state) (*state, error) {
	snap := s.db.Snapshot()
	defer snap.Close()
	b, ok, err := snap.Get(kv.SpaceTripleMeta, rootKey)
	if err != nil || !ok || !bytes.Equal(b, from.root.encode()) || from.dict.Next() != from.terms {
		return nil, err
	}
	s.nextID.Store(from.root.nextID)
	st := *from
	if _, err := st.replay(snap); err != nil {
		s.opts.Log.Warn("the store is read from the beginning", "error", err)
		return nil, nil
	}
	if st.position > from.position {
		st.graphs = new(graphList)
	}
	return &st, nil
}

// replay applies the records of the log behind the state's position. It returns the keys of parts without a head.
func (st *state) replay(snap *kv.Snapshot) (orphans [][]byte, err error) {
	orphans, err = replay(snap, st.position, func(position uint64, c *commit, size int) error {
		if position != st.position+1 {
			return fmt.Errorf("%w: log record %d follows %d", ErrDamaged, position, st.position)
		}
		if err := st.dict.Recent.Append(c.first, c.terms); err != nil {
			return fmt.Errorf("%w: log record %d: %w", ErrDamaged, position, err)
		}
		st.overlay = st.overlay.With(index.NewRun(c.changes))
		st.position = position
		st.logBytes += int64(size)
		return nil
	})
	st.terms = st.dict.Next()
	return orphans, err
}

// recover reads the root and the log, and finishes what a killed process had begun.
func (s *Store) recover() (*state, error) {
	snap := s.db.Snapshot()
	defer snap.Close()
	b, ok, err := snap.Get(kv.SpaceTripleMeta, rootKey)
	if err != nil {
		return nil, err
	}
	r := &root{}
	if ok {
		if r, err = decodeRoot(b); err != nil {
			return nil, err
		}
	}
	if !ok && !s.db.ReadOnly() { // before a record is written that a program of another format cannot read
		if err := s.db.Update(context.Background(),
			func(tx *kv.Txn) error { return tx.Set(kv.SpaceTripleMeta, rootKey, r.encode()) }); err != nil {
			return nil, err
		}
	}
	s.nextID.Store(r.nextID)
	st := &state{base: &index.Base{}, dict: dict.New(s.dictCache), root: r, position: r.merged, logBytes: r.logBytes,
		graphs: new(graphList)}
	if len(r.index) > 0 {
		if st.base, err = index.OpenBase(snap, r.index); err != nil {
			return nil, err
		}
	}
	if len(r.dict) > 0 {
		if st.dict, err = dict.OpenView(snap, s.dictCache, r.dict); err != nil {
			return nil, err
		}
	}
	orphans, err := st.replay(snap)
	if err != nil {
		return nil, err
	}
	if s.db.ReadOnly() {
		return st, nil
	}
	for _, clean := range []func() error{
		func() error { return deleteListed(s.db, r.lists, nil) },
		func() error { return deleteUnfinished(s.db, r.nextID) },
		func() error { return s.db.DeleteKeys(kv.SpaceTripleLog, orphans) },
		s.removeTemp,
	} {
		if err := clean(); err != nil {
			return nil, err
		}
	}
	return st, nil
}

const tempPrefix = "load-"

// removeTemp deletes the files of interrupted Loads in the database's directory.
func (s *Store) removeTemp() error {
	if s.db.Dir() == "" {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(s.db.Dir(), tempPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// Close stops background work and waits for it. It does not close the database. Close may be called twice.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.stop()
	s.wg.Wait()
	return nil
}

// View calls f with a snapshot of the current state and releases it when f returns.
func (s *Store) View(ctx context.Context, f func(*Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return ErrClosed
	}
	sn := s.Snapshot()
	defer sn.Release()
	return f(sn)
}

// Update runs f in a write transaction. Its quads, and everything f writes through Txn.KV, become durable and visible
// together before Update returns nil; if Update returns an error, none do. Writers take turns (see kv.DB.Update), so f
// should be quick and must not call Update. Update waits while a Load or other bulk operation runs.
//
// A transaction of up to some ten thousand quads costs one small write. A larger one writes blocks directly while other
// writers wait.
func (s *Store) Update(ctx context.Context, f func(*Txn) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.waitForMerge(ctx); err != nil {
		return err
	}
	if err := s.gate.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("triplestore: waiting to write: %w", err)
	}
	defer s.gate.Release(1)
	return s.db.Update(ctx, func(kt *kv.Txn) error {
		t := s.newTxn(ctx, kt)
		defer t.end()
		if err := f(t); err != nil {
			return err
		}
		if t.failed != nil {
			return t.failed
		}
		return t.commit()
	})
}

// accept makes st the tip, and the state that readers see once kt is committed. It must be the last step of the
// transaction's function: if the transaction fails after it, its whole commit group has failed.
func (s *Store) accept(kt *kv.Txn, st *state) {
	s.setTip(st)
	kt.OnCommit(func() {
		s.current.Store(st)
		s.mergeIfDue(st)
	})
	kt.OnAbort(func(error) { s.dropTip() })
}

// dropTip resets the tip to the committed state after the commit of a group failed.
func (s *Store) dropTip() {
	st := s.current.Load()
	st.dict.Undo(st.terms)
	s.setTip(st)
}

func (s *Store) setTip(st *state) {
	s.tipMu.Lock()
	defer s.tipMu.Unlock()
	s.tip = st
}

func (s *Store) getTip() *state {
	s.tipMu.Lock()
	defer s.tipMu.Unlock()
	return s.tip
}

// badQuad returns an ErrBadQuad that names the quad.
func badQuad(q term.Quad, why string) error {
	return fmt.Errorf("%w: %s: %q %q %q %q", ErrBadQuad, why, string(q.S), string(q.P), string(q.O), string(q.G))
}
