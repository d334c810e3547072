// Package triplestore is a store of RDF quads inside the process: fast, compact, exact, and never wrong after a crash.
//
// A Store lives in a kv.DB. A Snapshot is one unchanging state of it: scans in several sort orders, counts, terms.
// A Txn, inside Update, inserts and deletes quads; what it did is durable and visible, all of it or nothing, when
// Update returns, together with everything its KV transaction wrote. Readers never block writers nor wait for them.
//
//   - Open, Close, View, Snapshot, Update: the daily business.
//   - Load, Clear, DropGraph: in bulk. Sweep, Compact: space given back.
//   - Dump, Changes: everything, or what commits since a position added and removed.
//   - Stats, Check: exact figures; every block read and compared.
//
// How a quad travels: a commit appends one record to the log and a run to the overlay in memory. When enough has come
// together, a merge in the background rewrites the blocks that are concerned and replaces the root, one record that
// says what the blocks are. A commit too large for the overlay, a Load and a DropGraph write blocks straight away.
// Opening reads the root, the fences of the blocks, and the log behind them.
//
// It does not know SPARQL (package sparql runs over a Snapshot) nor RDF syntaxes (package rdfio).
// The format on disk is described in FORMAT.md.
package triplestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Options of a store. The zero value is ready for use.
type Options struct {
	CacheBytes     int64  // decoded blocks kept in memory; 0 = 128 MiB
	DictCacheBytes int64  // terms kept in memory; 0 = 64 MiB
	MergeAt        int    // changed quads that start a merge; 0 = 128 k, more in large stores
	KeepChanges    int64  // bytes of the change log that are kept; 0 = 12 for each quad, 1 MiB to 1 GiB, negative = all of it
	LoadMemory     int64  // bytes a Load may use, about; 0 = 512 MiB
	TempDir        string // where a Load keeps its sorted runs; "" = the database's directory
	Log            *slog.Logger
}

const (
	defaultCache      = 128 << 20
	defaultDictCache  = 64 << 20
	defaultMergeAt    = 128 << 10
	defaultLoadMemory = 512 << 20

	mergeTermBytes = 32 << 20 // bytes of terms in memory that start a merge
	stallFactor    = 4        // how many times over the merge's mark a commit waits for it
)

func (o Options) withDefaults(db *kv.DB) Options {
	def := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.CacheBytes, defaultCache)
	def(&o.DictCacheBytes, defaultDictCache)
	def(&o.LoadMemory, defaultLoadMemory)
	if o.TempDir == "" {
		o.TempDir = db.Dir()
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Errors a caller may want to decide on.
var (
	ErrClosed  = errors.New("the store is closed")
	ErrNewer   = errors.New("the store was written by a newer version of the program")
	ErrDamaged = errors.New("damaged store")
	ErrBadQuad = errors.New("not an RDF quad")
)

// Store is an open store. All methods may be called concurrently.
type Store struct {
	db        *kv.DB
	opts      Options
	cache     *index.Cache
	dictCache *dict.Cache
	nextID    atomic.Uint64

	current atomic.Pointer[state] // what readers see
	tipMu   sync.Mutex            // guards tip
	tip     *state                // what the next writer builds on: current, or commits on their way to disk behind it

	gate *semaphore.Weighted // commits hold one unit, bulk work all of them; taken before the kv turn

	// A merge holds merging (taken before the kv turn by background and bulk work; a large commit, which has the turn,
	// first has the background merge give up).
	merging     sync.Mutex
	unswept     []uint64   // lists of obsolete keys; guarded by merging
	cancelMu    sync.Mutex // guards cancelMerge, impatient
	cancelMerge context.CancelCauseFunc
	impatient   int // large commits waiting for a merge to give up

	wake    chan struct{}         // asks for a background merge, or for tidying
	tidying atomic.Pointer[state] // whose root has made something obsolete
	lost    atomic.Int64          // quads removed since the database was last compacted
	stall   sync.Mutex            // guards merged
	merged  chan struct{}         // closed, and made anew, at the end of every background merge
	stop    context.CancelFunc
	wg      sync.WaitGroup
	closed  atomic.Bool
}

const gateUnits = 1 << 20

// state is one committed state, or one that is about to be.
type state struct {
	base     *index.Base
	overlay  index.Overlay // of the commits in (root.merged, position]
	dict     *dict.View
	root     *root
	position uint64 // of the last commit
	terms    uint64 // the number the next new term gets
	logBytes int64  // about the size of the log up to position
	graphs   *graphList
}

// Open opens the store in a database and makes it if there is none.
func Open(db *kv.DB, o Options) (*Store, error) {
	s := &Store{db: db, opts: o.withDefaults(db), gate: semaphore.NewWeighted(gateUnits), wake: make(chan struct{}, 1), merged: make(chan struct{})}
	s.cache = index.NewCache(s.opts.CacheBytes)
	s.dictCache = dict.NewCache(s.opts.DictCacheBytes)
	st, err := s.recover()
	if err != nil {
		return nil, fmt.Errorf("triplestore: open: %w", err)
	}
	s.tip = st
	s.current.Store(st)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.wg.Go(func() { s.background(ctx) })
	if db.ReadOnly() {
		return s, nil
	}
	s.mergeIfLarge(st)
	if st.dict.Swept() {
		s.tidyLater(st)
	}
	return s, nil
}

// recover reads the root and the log and finishes what a process that was killed had begun.
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
	} else if !s.db.ReadOnly() {
		if err := s.db.Update(context.Background(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTripleMeta, rootKey, r.encode()) }); err != nil {
			return nil, err
		}
	}
	s.nextID.Store(r.nextID)
	st := &state{base: &index.Base{}, dict: dict.New(s.dictCache), root: r, position: r.merged, logBytes: r.logBytes, graphs: new(graphList)}
	if len(r.index) > 0 {
		if st.base, err = index.OpenBase(snap, r.index); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if len(r.dict) > 0 {
		if st.dict, err = dict.OpenView(snap, s.dictCache, r.dict); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	orphans, err := replay(snap, r.merged, func(position uint64, c *commit, size int) error {
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
	if err != nil {
		return nil, err
	}
	st.terms = st.dict.Next()
	if s.db.ReadOnly() {
		return st, nil
	}
	for _, clean := range []func() error{
		func() error { return sweep(s.db, r.lists, nil) },
		func() error { return sweepUnborn(s.db, r.nextID) },
		func() error { return deleteKeys(s.db, kv.SpaceTripleLog, orphans) },
		s.removeTemp,
	} {
		if err := clean(); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func deleteKeys(db *kv.DB, space kv.Space, keys [][]byte) error {
	b := db.Batch()
	for _, k := range keys {
		if err := b.Delete(space, k); err != nil {
			return err
		}
	}
	return b.Flush()
}

const tempPrefix = "load-"

// removeTemp deletes what an interrupted Load left in the database's directory.
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

// Close ends background work and waits for it. The database stays open. It may be called twice.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.stop()
	s.wg.Wait()
	return nil
}

// View runs f over the current state.
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

// Update runs f in a write transaction. Its quads, and everything f writes through Txn.KV, become durable and
// visible together before Update returns nil, or not at all. Writers take turns (see kv.DB.Update): f should be
// quick and must not call Update. While a Load or another bulk operation runs, Update waits for its end.
//
// A transaction of up to some ten thousand quads costs one small write. A larger one is written into blocks at once,
// while other writers wait.
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

// accept makes st the state that the next writer sees, and the one readers see as soon as it is on disk. It is the last thing
// that a transaction's function does, so if the transaction fails after it, its whole group has failed.
func (s *Store) accept(kt *kv.Txn, st *state) {
	s.setTip(st)
	kt.OnCommit(func() {
		s.current.Store(st)
		s.mergeIfLarge(st)
	})
	kt.OnAbort(func(error) { s.dropTip() })
}

// dropTip forgets the states that were to be committed: their commit has failed, for all of them. What is committed is what
// the next writer builds on.
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

func (s *Store) now() int64 { return time.Now().UnixMilli() }

// bad says which quad was refused.
func bad(q term.Quad, why string) error {
	return fmt.Errorf("%w: %s: %q %q %q %q", ErrBadQuad, why, string(q.S), string(q.P), string(q.O), string(q.G))
}
