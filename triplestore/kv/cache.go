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

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/ristretto/v2/z"
)

// cache is Badger with what the log says. Entries have the number of their write set as version, so a state of the database
// is a number. A cache that was found damaged answers nothing any more, and is closed when its last reader has gone.
type cache struct {
	badger *badger.DB
	dir    string   // "" in memory
	remove bool     // its directory goes when it is closed
	lock   *dirLock // of its directory; nil for the database's own

	mu     sync.Mutex // guards users, retired
	users  int
	closed chan struct{} // closed when Badger is
	gone   bool          // no new users
	cerr   error

	bad atomic.Pointer[error]
}

func newCache(b *badger.DB, dir string) *cache {
	return &cache{badger: b, dir: dir, closed: make(chan struct{})}
}

// enter keeps the cache open until leave.
func (c *cache) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return false
	}
	c.users++
	return true
}

func (c *cache) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.gone && c.users == 0 {
		go c.close()
	}
}

// retire closes the cache as soon as nobody uses it, in the background: Badger first writes what it has in memory.
func (c *cache) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	if c.gone = true; c.users == 0 {
		go c.close() // waited for through c.closed
	}
}

func (c *cache) close() {
	defer close(c.closed)
	if c.dir != "" {
		_ = os.MkdirAll(c.dir, 0o755) // without it, Badger would try to write for ever
	}
	if c.cerr = c.badger.Close(); c.remove {
		c.cerr = errors.Join(c.cerr, os.RemoveAll(c.dir))
	}
	if c.lock != nil {
		c.lock.release()
	}
}

// damaged returns why nothing may be read from the cache, or nil.
func (c *cache) damaged() error {
	if err := c.bad.Load(); err != nil {
		return *err
	}
	return nil
}

// openBadger turns the panics with which Badger meets damage into errors.
func openBadger(o badger.Options) (b *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: %.300v", ErrDamaged, r)
		}
	}()
	return badger.OpenManaged(o)
}

func badgerOptions(dir string, opts Options) badger.Options {
	if opts.InMemory || opts.CacheInMemory {
		dir = ""
	}
	o := badger.DefaultOptions(dir).
		WithInMemory(dir == "").
		WithBypassLockGuard(ownLock).
		WithLogger(badgerLog{opts.Log}).
		WithMetricsEnabled(false).
		WithSyncWrites(false).      // the log is what makes a commit durable
		WithDetectConflicts(false). // writers take turns
		WithCompression(options.None).
		WithBlockCacheSize(0). // without compression a block is a piece of a mapped file
		WithIndexCacheSize(0).
		// Each block is verified whenever it is read from its file, also by compactions. Whole tables are verified
		// before Badger is opened.
		WithChecksumVerificationMode(options.OnBlockRead).
		WithVerifyValueChecksum(true).
		WithMemTableSize(opts.MemTable).
		WithNumMemtables(3).
		WithBaseTableSize(8 << 20).
		WithBaseLevelSize(64 << 20).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(12).
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithValueThreshold(MaxValue + 1). // nothing but a log header ever reaches the value log
		WithValueLogFileSize(4 << 20)
	return o
}

// applied is the key that every write set writes, so that Badger's newest version is the number of the last one it holds.
var applied = fullKey(spaceApplied, nil)

// ours reports whether a key is one of the database's, not of the machinery below.
func ours(key []byte) bool {
	return len(key) > 0 && Space(key[0]) != spaceApplied && Space(key[0]) != spaceScratch
}

// apply writes a layer as the write set with a number.
func (c *cache) apply(l *layer, number uint64) error {
	txn := c.badger.NewTransactionAt(number, true)
	defer txn.Discard()
	for k, w := range l.all() {
		var err error
		if w.deleted {
			err = txn.Delete([]byte(k))
		} else {
			err = txn.Set([]byte(k), w.val)
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

// drop deletes the entries of a space, as the write set with a number.
func (c *cache) drop(s Space, number uint64) error {
	if err := c.badger.DropPrefix([]byte{byte(s)}); err != nil {
		return err
	}
	return c.apply(&layer{}, number)
}

// replayer applies records of the log, several at a time: Badger keeps the order in which it is given them.
type replayer struct {
	c      *cache
	slots  chan struct{}
	wg     sync.WaitGroup
	failed atomic.Pointer[error]
}

const replayedAtOnce = 64

func (c *cache) replayer() *replayer {
	return &replayer{c: c, slots: make(chan struct{}, replayedAtOnce)}
}

func (r *replayer) apply(number uint64, record []byte) error {
	w, err := decodeWriteSet(record, nil)
	if err != nil {
		return err
	}
	if w.drop != 0 {
		r.wg.Wait()
		return r.c.drop(w.drop, number)
	}
	txn := r.c.badger.NewTransactionAt(number, true)
	err = w.each(func(key, val []byte, deleted bool) error {
		if deleted {
			return txn.Delete(append([]byte(nil), key...))
		}
		return txn.Set(append([]byte(nil), key...), append([]byte(nil), val...))
	})
	if err == nil {
		err = txn.Set(applied, nil)
	}
	if err != nil {
		txn.Discard()
	}
	if errors.Is(err, badger.ErrTxnTooBig) { // written with a larger Options.MemTable
		r.wg.Wait()
		return r.c.applyInParts(w, number)
	}
	if err != nil {
		return err
	}
	r.slots <- struct{}{}
	r.wg.Add(1)
	err = txn.CommitAt(number, func(err error) {
		if err != nil {
			r.failed.CompareAndSwap(nil, &err)
		}
		<-r.slots
		r.wg.Done()
	})
	return errors.Join(err, r.err())
}

// applyInParts writes a write set that is too big for one transaction of Badger's, while nobody reads.
func (c *cache) applyInParts(w writeSet, number uint64) error {
	b := c.badger.NewWriteBatchAt(number)
	defer b.Cancel()
	err := w.each(func(key, val []byte, deleted bool) error {
		if deleted {
			return b.Delete(append([]byte(nil), key...))
		}
		return b.Set(append([]byte(nil), key...), append([]byte(nil), val...))
	})
	if err == nil {
		err = b.Set(applied, nil)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

func (r *replayer) err() error {
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// wait returns when everything is applied.
func (r *replayer) wait() error {
	r.wg.Wait()
	return r.err()
}

// fill replaces everything in Badger by what each gives, in ascending order of keys.
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

// fillBuffer is how many bytes are handed over at a time.
const fillBuffer = 4 << 20

// tables returns the numbers of the tables that are in use.
func (c *cache) tables() (ids []uint64) {
	for _, t := range c.badger.Tables() {
		ids = append(ids, t.ID)
	}
	return ids
}

// flushed returns the number of the newest write set that is in a table.
func (c *cache) flushed() (number uint64) {
	if c.dir == "" { // and is made anew at every opening
		return math.MaxUint64
	}
	for _, t := range c.badger.Tables() {
		number = max(number, t.MaxVersion)
	}
	return number
}

// verify reads every table that is in use now, and returns those that are damaged.
func (c *cache) verify(ctx context.Context, opts verifyOptions) ([]badTable, error) {
	if c.dir == "" {
		return nil, nil
	}
	bad, err := verifyTables(ctx, c.dir, c.tables(), opts.throttle, opts.progress)
	if err != nil {
		return nil, err
	}
	inUse := map[string]bool{}
	for _, id := range c.tables() {
		inUse[tableName(id)] = true
	}
	var left []badTable
	for _, b := range bad { // a table that a compaction removes meanwhile is empty, then missing, and not needed
		if info, err := os.Stat(filepath.Join(c.dir, b.name)); err == nil && info.Size() > 0 || inUse[b.name] {
			left = append(left, b)
		}
	}
	return left, nil
}
