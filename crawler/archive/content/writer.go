package content

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// tailPack is the current pack, or an earlier one that an appender wrote to.
type tailPack struct {
	num    uint64
	f      disk.File
	end    int64 // bytes that are appended
	synced int64 // bytes that are on disk
	lowest int64 // the lowest end since the fsync under way began
	failed error // if not nil, bytes after synced must never be acknowledged
}

// appender is a user of the writer. It remembers the end of what it appended to each pack.
type appender struct {
	wrote   map[*tailPack]int64
	scratch []byte
}

// writer appends records to the one pack that is not closed. A write or fsync that fails leaves a pack in an unknown
// state: every Put with unsynced bytes in it fails, and the database accepts no more writes.
type writer struct {
	s       *Store
	syncing sync.Mutex // held by an fsync or close of a pack; taken before mu

	open unfinished // follows p; its lock is taken last

	mu   sync.Mutex // guards the fields below, and those of tailPacks
	p    *tailPack  // the current pack, nil if there is none
	last *appender  // wrote the end of the current pack,
	from int64      // starting here
}

// setCurrent makes a pack the current one, or, with nil, none. The caller holds mu.
func (w *writer) setCurrent(p *tailPack) {
	w.p, w.last = p, nil
	if p == nil {
		w.open.end()
	} else {
		w.open.begin(p.num)
	}
}

// enter registers a Put in progress, so that garbage collection keeps segments that no record references yet.
func (w *writer) enter() (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p == nil {
		if err := w.createPack(); err != nil {
			return nil, err
		}
	}
	return w.open.enter(), nil
}

// lowestWritten returns the number of the lowest pack in which something may still be committed. Lower packs are final.
func (w *writer) lowestWritten() uint64 { return w.open.lowest() }

// append writes a record and returns its place. If the disk is full, the error is ErrDiskFull and nothing of the record
// remains; any other error stops all writes.
func (w *writer) append(by *appender, h head, body []byte) (place, error) {
	by.scratch = appendSegment(by.scratch[:0], h, body)
	n := int64(len(by.scratch))
	w.mu.Lock()
	for w.p != nil && w.p.end+n > w.s.opts.MaxPack {
		p := w.p
		w.mu.Unlock()
		if err := w.closePack(p); err != nil {
			return place{}, err
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	if w.p == nil {
		if err := w.createPack(); err != nil {
			return place{}, err
		}
	}
	p := w.p
	if w.last != by {
		w.last, w.from = by, p.end
	}
	if err := w.write(p, by.scratch); err != nil {
		return place{}, err
	}
	at := place{p.num, p.end}
	p.end += n
	if by.wrote == nil {
		by.wrote = make(map[*tailPack]int64, 1)
	}
	by.wrote[p] = p.end
	return at, nil
}

// write writes bytes at the end of a pack.
func (w *writer) write(p *tailPack, b []byte) error {
	_, err := p.f.WriteAt(b, p.end)
	if err == nil {
		return nil
	}
	if disk.IsFull(err) {
		cut := p.f.Truncate(p.end)
		if cut == nil {
			return diskError("write pack", err)
		}
		err = errors.Join(err, cut)
	}
	return w.fail(p, "write pack", err)
}

// truncateLast truncates the records that by appended after anyone else's last append. No record of the database,
// committed or pending, may reference them.
func (w *writer) truncateLast(by *appender) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.p
	if p == nil || w.last != by {
		return
	}
	if err := p.f.Truncate(w.from); err != nil {
		w.fail(p, "truncate pack", err)
		return
	}
	p.end, w.last = w.from, nil
	p.lowest, p.synced = min(p.lowest, p.end), min(p.synced, p.end)
	if by.wrote[p] > p.end {
		by.wrote[p] = p.end
	}
}

// createPack makes a new pack the current one. The caller holds mu.
func (w *writer) createPack() error {
	if err := w.s.writable(); err != nil {
		return err
	}
	num, err := w.s.nums.allocate()
	if err != nil {
		return err
	}
	w.open.begin(num) // before anybody else can find the pack
	defer func() {
		if w.p == nil {
			w.open.end()
		}
	}()
	name := openName(num)
	path := filepath.Join(w.s.dir, name)
	f, err := w.s.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return w.failOne("create pack", err)
	}
	if _, err = f.WriteAt(headOf(num), 0); err == nil {
		err = w.s.syncDir()
	}
	if err != nil {
		err = errors.Join(err, f.Close(), w.s.fs.Remove(path)) // if this fails, the next Open removes it
		return w.failOne("create pack", err)
	}
	w.setCurrent(&tailPack{num: num, f: f, end: packHead})
	w.s.packs.add(num, name)
	return nil
}

// failOne wraps an error that left no bytes of a Put in an unknown state. A full disk and a lack of file descriptors
// concern one Put only; anything else stops all writes.
func (w *writer) failOne(doing string, err error) error {
	out := diskError(doing, err)
	if !disk.IsFull(err) && !isShortage(err) {
		w.s.db.StopWrites(out)
	}
	return out
}

// isShortage reports whether the process ran out of a resource that becomes available again.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// fail stops using a pack whose file is in an unknown state, and stops all writes. The next Open finds out what the
// file holds. The caller holds mu.
func (w *writer) fail(p *tailPack, doing string, err error) error {
	if p.failed != nil {
		return p.failed
	}
	p.failed = fmt.Errorf("content: %s %s: %w", doing, openName(p.num), err)
	if w.p == p {
		w.setCurrent(nil)
	}
	p.f.Close()
	w.s.db.StopWrites(p.failed)
	return p.failed
}

// sync returns nil once everything that by appended is on disk.
func (w *writer) sync(by *appender) error {
	for p, end := range by.wrote {
		if err := w.syncPack(p, end); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) syncPack(p *tailPack, end int64) error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	if p.failed != nil || p.synced >= end {
		defer w.mu.Unlock()
		return p.failed
	}
	upTo := p.end
	p.lowest = upTo
	w.mu.Unlock()
	err := w.fsync(p.f)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		return w.fail(p, "sync pack", err) // the state of the file is unknown after a failed fsync
	}
	p.synced = max(p.synced, min(upTo, p.lowest))
	return p.failed
}

func (w *writer) fsync(f disk.File) error {
	if w.s.opts.NoSync {
		return nil
	}
	return f.Sync()
}

// closePack closes a pack and names it by its hash, unless another goroutine has done so.
func (w *writer) closePack(p *tailPack) error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p != p {
		return p.failed
	}
	if err := w.fsync(p.f); err != nil {
		return w.fail(p, "close pack", err)
	}
	p.synced = p.end
	sums, err := sumPack(p.f, p.end)
	if err != nil { // it is on disk; the next Open closes it
		w.s.log.Error("pack not closed, since it cannot be read", "pack", openName(p.num), "error", err)
		w.setCurrent(nil)
		return p.f.Close()
	}
	name := closedName(p.num, sums.whole)
	if err := w.s.packs.rename(p.num, openName(p.num), name); err != nil {
		return w.failOne("close pack "+openName(p.num), err)
	}
	w.s.renamedFile(openName(p.num), name)
	w.setCurrent(nil)
	if err = errors.Join(p.f.Close(), w.s.syncDir()); err != nil {
		return w.failOne("close pack "+name, err)
	}
	w.s.parity.enqueue(parityJob{num: p.num, name: name, sums: sums})
	return nil
}

func (w *writer) close() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p == nil {
		return nil
	}
	p := w.p
	err := w.fsync(p.f)
	if err != nil {
		return w.fail(p, "sync pack", err)
	}
	p.synced = p.end
	w.setCurrent(nil)
	return p.f.Close()
}

// current returns the number of the current pack, 0 if there is none.
func (w *writer) current() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p == nil {
		return 0
	}
	return w.p.num
}

// closeCurrent closes the current pack, if there is one with records.
func (w *writer) closeCurrent() error {
	w.mu.Lock()
	p, empty := w.p, w.p == nil || w.p.end <= packHead
	w.mu.Unlock()
	if empty {
		return nil
	}
	return w.closePack(p)
}

// diskError wraps an error, with ErrDiskFull if the disk or quota is full.
func diskError(doing string, err error) error {
	if disk.IsFull(err) {
		return fmt.Errorf("content: %s: %w (%w)", doing, ErrDiskFull, err)
	}
	return fmt.Errorf("content: %s: %w", doing, err)
}

func (s *Store) syncDir() error {
	if s.opts.NoSync {
		return nil
	}
	return s.fs.SyncDir(s.dir)
}

// writable returns why the store cannot be written now, or nil.
func (s *Store) writable() error {
	switch {
	case s.isClosed():
		return ErrClosed
	case s.db.ReadOnly():
		return fmt.Errorf("content: %w", kv.ErrReadOnly)
	}
	return s.db.WritesStopped()
}
