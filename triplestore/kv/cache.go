package kv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/ristretto/v2/z"
)

// cache is Badger, filled from the log. Its entries have the number of their write set as version, so a number
// identifies a state of the database. A cache found damaged refuses all reads and is closed when its last reader
// leaves.
type cache struct {
	badger *badger.DB
	dir    string   // "" in memory
	remove bool     // delete dir when closed
	lock   *dirLock // lock of dir; nil for the database's own directory
	spare  *buffers // nil if they cannot be trimmed

	mu      sync.Mutex // guards users and retired
	users   int
	closed  chan struct{} // closed after Badger
	retired bool          // accepts no new users
	cerr    error         // result of closing; valid after closed

	bad atomic.Pointer[error] // why the cache is damaged
}

func newCache(b *badger.DB, dir string) *cache {
	return &cache{badger: b, dir: dir, spare: trimBuffers(b), closed: make(chan struct{})}
}

// enter keeps the cache open until leave is called. It returns false if the cache is retired.
func (c *cache) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return false
	}
	c.users++
	return true
}

func (c *cache) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.retired && c.users == 0 {
		go c.close()
	}
}

// retire closes the cache in the background as soon as nobody uses it. Closing flushes Badger's memory.
func (c *cache) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return
	}
	if c.retired = true; c.users == 0 {
		go c.close() // see shut
	}
}

// shut retires the cache and waits until it is closed.
func (c *cache) shut() {
	c.retire()
	<-c.closed
}

func (c *cache) close() {
	defer close(c.closed)
	if c.dir != "" {
		_ = os.MkdirAll(c.dir, 0o700) // if it is missing, Badger retries writing forever
	}
	c.spare.close()
	if c.cerr = c.badger.Close(); c.remove {
		c.cerr = errors.Join(c.cerr, os.RemoveAll(c.dir))
	}
	if c.lock != nil {
		c.lock.release()
	}
}

// flushes reports whether closing writes Badger's memory to files.
func (c *cache) flushes() bool {
	o := c.badger.Opts()
	return !o.InMemory && !o.ReadOnly
}

// damaged returns the reason why the cache must not be read, or nil.
func (c *cache) damaged() error {
	if err := c.bad.Load(); err != nil {
		return *err
	}
	return nil
}

// openBadger opens Badger and turns its panics over damaged files into errors.
func openBadger(o badger.Options) (b *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: %.300v", ErrDamaged, r)
		}
	}()
	return badger.OpenManaged(o)
}

// applied is the key that every write set writes last. Its newest version is the number of the last write set that
// Badger holds completely.
var applied = fullKey(spaceApplied, nil)

// isContent reports whether a key belongs to the database's content, not to its own bookkeeping.
func isContent(key []byte) bool {
	return len(key) > 0 && Space(key[0]) != spaceApplied && Space(key[0]) != spaceScratch
}

// apply writes a layer as the write set with the given number. What is too large for one Badger transaction is written
// in parts. Readers see none of them before the number is visible, and the last one has the key applied.
func (c *cache) apply(l *layer, number uint64) error {
	txn := c.badger.NewTransactionAt(number, true)
	defer func() { txn.Discard() }()
	most, mostBytes := c.badger.MaxBatchCount()*9/10, c.badger.MaxBatchSize()*9/10 // minus a margin for what Badger adds
	var count, bytes int64
	keys, entries := make([]byte, 0, l.keys), make([]badger.Entry, len(l.writes)) // at once, since there may be thousands
	for i := range l.writes {
		w := &l.writes[i]
		size := int64(len(w.key)+len(w.val)) + entryOverhead
		if count > 0 && (count+1 > most || bytes+size > mostBytes) {
			if err := txn.CommitAt(number, nil); err != nil {
				return err
			}
			txn = c.badger.NewTransactionAt(number, true)
			count, bytes = 0, 0
		}
		count, bytes = count+1, bytes+size
		begin := len(keys)
		keys = append(keys, w.key...)
		key := keys[begin:len(keys):len(keys)] // Badger copies it
		var err error
		if w.deleted {
			err = txn.Delete(key)
		} else {
			e := &entries[i]
			e.Key, e.Value = key, w.val
			err = txn.SetEntry(e)
		}
		if err != nil {
			return err
		}
	}
	if err := txn.Set(applied, nil); err != nil {
		return err
	}
	return txn.CommitAt(number, nil)
}

// holds returns the number of the newest write set that the cache has completely, or 0. A newer one may be there in
// part.
func (c *cache) holds() (uint64, error) {
	txn := c.badger.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	item, err := txn.Get(applied)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return item.Version(), nil
}

// drop deletes the entries of a space as the write set with the given number.
func (c *cache) drop(s Space, number uint64) error {
	if err := c.badger.DropPrefix([]byte{byte(s)}); err != nil {
		return err
	}
	return c.apply(&layer{}, number)
}

// deleteSpace deletes the entries of a space like any others, so that readers of older states keep them.
func (c *cache) deleteSpace(s Space, number uint64) error {
	txn := c.badger.NewTransactionAt(number-1, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{byte(s)}})
	defer it.Close()
	b := c.badger.NewWriteBatchAt(number)
	defer b.Cancel()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := b.Delete(it.Item().KeyCopy(nil)); err != nil {
			return err
		}
	}
	if err := b.Set(applied, nil); err != nil {
		return err
	}
	return errors.Join(b.Flush(), c.damaged())
}

// fill replaces everything in Badger by the entries that each adds, in ascending order of keys.
func (c *cache) fill(each func(add func(key, val []byte, version uint64) error) error) error {
	w := c.badger.NewStreamWriter()
	if err := w.Prepare(); err != nil {
		return err
	}
	buf := z.NewBuffer(fillBuffer, "kv.fill")
	defer buf.Release()
	write := func() error {
		defer buf.Reset()
		return w.Write(buf)
	}
	err := each(func(key, val []byte, version uint64) error {
		badger.KVToBuffer(&pb.KV{Key: key, Value: val, Version: version}, buf)
		if buf.LenNoPadding() < fillBuffer {
			return nil
		}
		return write()
	})
	if err == nil {
		err = write()
	}
	if err != nil {
		w.Cancel()
		return err
	}
	return w.Flush()
}

// fillBuffer is the number of bytes passed to Badger at a time.
const fillBuffer = 4 << 20

// tables returns the numbers of the tables in use.
func (c *cache) tables() (ids []uint64) {
	for _, t := range c.badger.Tables() {
		ids = append(ids, t.ID)
	}
	return ids
}

// sizes returns the sizes of Badger's tables: zero in memory, and without what is still in memory.
func (c *cache) sizes() (s Sizes) {
	if c.dir == "" {
		return s
	}
	for _, t := range c.badger.Tables() {
		s.Tables += int64(t.OnDiskSize)
		s.Content += int64(t.UncompressedSize)
	}
	return s
}

// flushed returns the number of the newest write set of which everything is in tables: the one before the newest that
// is in a table, of which a part may be in memory.
func (c *cache) flushed() (number uint64) {
	if c.dir == "" { // rebuilt at every opening
		return math.MaxUint64
	}
	for _, t := range c.badger.Tables() {
		number = max(number, t.MaxVersion)
	}
	return max(number, 1) - 1
}

// verify reads every table in use and returns the damaged ones. If there are none, the next opening need not read them
// again.
func (c *cache) verify(ctx context.Context, opts verifyOptions) ([]badTable, error) {
	if c.dir == "" {
		return nil, nil
	}
	began, tables := time.Now(), c.tables()
	stamped := stampTables(c.dir, tables)
	bad, err := verifyTables(ctx, c.dir, tables, opts.throttle, opts.progress)
	if err != nil {
		return nil, err
	}
	inUse := map[string]bool{}
	for _, id := range c.tables() {
		inUse[tableName(id)] = true
	}
	var left []badTable
	for _, b := range bad { // a table deleted by a compaction meanwhile is first empty, then missing
		if info, err := os.Stat(filepath.Join(c.dir, b.name)); err == nil && info.Size() > 0 || inUse[b.name] {
			left = append(left, b)
		}
	}
	switch {
	case c.lock != nil: // the directory of a reader, which is temporary
	case len(left) > 0:
		forgetVerified(c.dir)
	default:
		verifiedList{Boot: bootID()}.with(tables, stamped, began).write(c.dir)
	}
	return left, nil
}
