// Package triplestore is a store of RDF quads inside the process: fast, compact, exact, and never wrong after a crash.
//
// A Store lives in a kv.DB. A Snapshot is one unchanging state of it: scans in several sort orders, counts, terms.
// A Txn, inside Update, inserts and deletes quads; what it did is durable and visible, all of it or nothing, when
// Update returns, together with everything its KV transaction wrote. Readers never block writers nor wait for them.
//
//   - Open, Close, View, Snapshot, Update: the daily business.
//   - Load, Clear, DropGraph: in bulk.
//   - Dump, Changes: everything, or what commits since a position added and removed.
//   - Stats, Check: exact figures; every block read and compared.
//
// It does not know SPARQL (package sparql runs over a Snapshot) nor RDF syntaxes (package rdfio).
// The format on disk is described in FORMAT.md.
package triplestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/triplestore/dict"
	"odarchive/triplestore/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Options of a store. The zero value is ready for use.
type Options struct {
	Log *slog.Logger
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
	db   *kv.DB
	opts Options
	dict *dict.Dictionary

	current atomic.Pointer[state] // what readers see
	mu      sync.Mutex            // guards tip; writers hold the kv turn as well
	tip     *state                // what the next writer builds on: current, and commits that are on their way to disk
	closed  atomic.Bool
}

// state is one committed state, or one that is about to be.
type state struct {
	index    index.State
	position uint64 // of the last commit
	terms    uint64 // the number the next new term gets
}

// Open opens the store in a database and makes it if there is none.
func Open(db *kv.DB, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{db: db, opts: o, dict: dict.New()}
	st := &state{terms: 1}
	var overlay index.Overlay
	err := db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTripleLog, nil, nil, func(key, val []byte) (bool, error) {
			if len(key) != 8 {
				return false, fmt.Errorf("%w: log key %x", ErrDamaged, key)
			}
			c, err := decodeCommit(val)
			if err != nil {
				return false, fmt.Errorf("%w: log record %d: %w", ErrDamaged, binary.BigEndian.Uint64(key), err)
			}
			if err := s.dict.Append(c.first, c.terms); err != nil {
				return false, fmt.Errorf("%w: log record %d: %w", ErrDamaged, binary.BigEndian.Uint64(key), err)
			}
			overlay = overlay.With(index.NewRun(c.changes))
			st.position = binary.BigEndian.Uint64(key)
			return true, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("triplestore: open: %w", err)
	}
	st.index.Overlay = overlay
	st.terms = s.dict.Next()
	s.tip = st
	s.current.Store(st)
	return s, nil
}

// Close ends background work. The database stays open. It may be called twice.
func (s *Store) Close() error {
	s.closed.Store(true)
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

// Snapshot of the current state; Release it.
func (s *Store) Snapshot() *Snapshot {
	return &Snapshot{store: s, state: s.current.Load()}
}

// Update runs f in a write transaction. Its quads, and everything f writes through Txn.KV, become durable and
// visible together before Update returns nil, or not at all. Writers take turns (see kv.DB.Update): f should be
// quick and must not call Update.
func (s *Store) Update(ctx context.Context, f func(*Txn) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return s.db.Update(ctx, func(kt *kv.Txn) error {
		s.mu.Lock()
		base := s.tip
		s.mu.Unlock()
		t := newTxn(s, base, kt)
		defer func() { t.done = true }()
		if err := f(t); err != nil {
			return err
		}
		if t.failed != nil {
			return t.failed
		}
		return t.commit()
	})
}

// accept makes st the state that the next writer sees, and the one readers see as soon as it is on disk.
func (s *Store) accept(kt *kv.Txn, base, st *state) {
	set := func(to *state) {
		s.mu.Lock()
		s.tip = to
		s.mu.Unlock()
	}
	set(st)
	kt.OnCommit(func() { s.current.Store(st) })
	kt.OnAbort(func(error) {
		s.dict.Truncate(base.terms)
		set(base)
	})
}

func (s *Store) now() int64 { return time.Now().UnixMilli() }

// bad says which quad was refused.
func bad(q term.Quad, why string) error {
	return fmt.Errorf("%w: %s: %q %q %q %q", ErrBadQuad, why, string(q.S), string(q.P), string(q.O), string(q.G))
}
