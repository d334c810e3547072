package kv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	badger "github.com/dgraph-io/badger/v4"
)

// Snapshot is one unchanging state of the database, for long reads. Its methods may be called concurrently. It keeps
// the space of entries deleted since from being reclaimed, so close it.
type Snapshot struct {
	db     *DB
	cache  *cache // nil if the database is closed
	txn    *badger.Txn
	number uint64    // of the newest write set that it sees
	keeper *Snapshot // keeps the state; nil if this one does
	over   *layers
	refs   atomic.Int64 // the holder and each call in progress
	once   sync.Once
}

// Snapshot returns the committed state. It must not be used after the database is closed.
func (db *DB) Snapshot() *Snapshot {
	if db.pinned != nil {
		if s, ok := db.pinned.again(db); ok {
			return s
		}
		return &Snapshot{db: db} // every call returns ErrClosed
	}
	s := &Snapshot{db: db, over: db.over}
	c, _ := db.enter()
	if c == nil {
		return s // every call returns ErrClosed
	}
	s.cache = c
	s.number = db.readers.begin(&db.visible)
	s.txn = c.badger.NewTransactionAt(s.number, false)
	s.refs.Store(1)
	return s
}

// enter returns the cache and keeps it open until leave is called. c is nil if the database is closed.
func (db *DB) enter() (c *cache, leave func()) {
	if p := db.pinned; p != nil {
		if db.closed.Load() || p.acquire() != nil {
			return nil, nil
		}
		return p.cache, p.release
	}
	for !db.closed.Load() {
		c := db.cache.Load()
		if c.enter() {
			return c, c.leave
		}
	}
	return nil, nil
}

// Close releases the snapshot when the calls in progress have returned. It may be called twice.
func (s *Snapshot) Close() {
	s.once.Do(func() {
		if s.cache != nil {
			s.release()
		}
	})
}

// acquire keeps the snapshot open until release is called.
func (s *Snapshot) acquire() error {
	for {
		n := s.refs.Load()
		if n <= 0 {
			return ErrClosed
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

func (s *Snapshot) release() {
	if s.refs.Add(-1) == 0 {
		s.txn.Discard()
		if s.keeper != nil {
			s.keeper.release()
			return
		}
		s.db.readers.end(s.number)
		s.cache.leave()
	}
}

// Get is like Txn.Get.
func (s *Snapshot) Get(space Space, key []byte) (val []byte, ok bool, err error) {
	ok, err = s.Read(space, key, func(v []byte) error { val = bytes.Clone(v); return nil })
	return val, ok, err
}

// Read is like Txn.Read.
func (s *Snapshot) Read(space Space, key []byte, f func(val []byte) error) (bool, error) {
	if err := s.acquire(); err != nil {
		return false, err
	}
	defer s.release()
	return s.read(fullKey(space, key), f)
}

// Scan is like Txn.Scan.
func (s *Snapshot) Scan(space Space, prefix, from []byte, f func(key, val []byte) (bool, error)) error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	return s.scan(s.over, space, prefix, from, f)
}

// View calls f with a read-only transaction on the current state.
func (db *DB) View(f func(*Txn) error) error {
	s := db.Snapshot()
	defer s.Close()
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	return f(&Txn{db: db, base: s})
}

func fullKey(space Space, key []byte) []byte {
	k := make([]byte, 1+len(key))
	k[0] = byte(space)
	copy(k[1:], key)
	return k
}

// read reads a full key, which includes its space. The caller has acquired the snapshot.
func (s *Snapshot) read(full []byte, f func([]byte) error) (ok bool, err error) {
	space, key := Space(full[0]), full[1:]
	if s.over != nil {
		if w, ok := s.over.get(full); ok {
			if w.deleted {
				return false, nil
			}
			return true, f(w.val)
		}
	}
	inCallback := false
	defer s.db.recoverRead("read", space, &inCallback, &err)
	if err := s.cache.damaged(); err != nil {
		return false, err
	}
	item, err := s.txn.Get(full)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, s.cache.damaged()
	}
	if err != nil {
		return false, s.readError(space, key, err)
	}
	var inner error
	err = item.Value(func(v []byte) error {
		inCallback = true
		inner = f(v)
		inCallback = false
		return nil
	})
	if err != nil {
		return true, s.readError(space, key, err)
	}
	return true, inner
}

func (s *Snapshot) readError(space Space, key []byte, err error) error {
	if strings.Contains(err.Error(), "checksum") { // Badger has no error value for this
		return s.db.suspect(fmt.Errorf("kv: read %s %x: %w: %w", space, key, ErrDamaged, err))
	}
	return fmt.Errorf("kv: read %s %x: %w", space, key, err)
}

// scan merges the entries on disk with the pending writes of over, which may be nil, in key order. The caller has
// acquired the snapshot.
func (s *Snapshot) scan(over *layers, space Space, prefix, from []byte, f func(key, val []byte) (bool, error)) (err error) {
	if err := s.cache.damaged(); err != nil {
		return err
	}
	inCallback := false
	defer s.db.recoverRead("scan", space, &inCallback, &err)
	full := fullKey(space, prefix)
	start := full
	if bytes.Compare(from, prefix) > 0 {
		start = fullKey(space, from)
	}
	it := s.txn.NewIterator(badger.IteratorOptions{Prefix: full})
	defer it.Close()
	emit := func(key, val []byte) (bool, error) {
		inCallback = true
		more, err := f(key[1:], val)
		inCallback = false
		return more, err
	}
	pend := over.from(string(start), string(full))
	for it.Seek(start); ; {
		var key []byte
		if it.Valid() {
			key = it.Item().Key()
		}
		next, has := pend.peek()
		if key == nil && !has {
			return s.cache.damaged() // a Badger iterator ends at a bad block as if it were the last
		}
		if has && (key == nil || next.key <= string(key)) {
			pend.next()
			if key != nil && next.key == string(key) {
				it.Next()
			}
			if next.deleted {
				continue
			}
			if more, err := emit([]byte(next.key), next.val); err != nil || !more {
				return err
			}
			continue
		}
		var more bool
		var inner error
		if err := it.Item().Value(func(v []byte) error { more, inner = emit(key, v); return nil }); err != nil {
			return s.readError(space, key[1:], err)
		}
		if inner != nil || !more {
			return inner
		}
		it.Next()
	}
}
