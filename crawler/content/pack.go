package content

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A pack begins with packMagic and its number.
const (
	packMagic = "ODPACK1\n"
	packHead  = 16
)

// A pack that is written is NUMBER.open; once closed it is NUMBER-HASH.pack, with the beginning of its SHA-256.
const (
	openSuffix   = ".open"
	closedSuffix = ".pack"
	hashDigits   = 32
)

// place is where a segment lies.
type place struct {
	pack   uint64
	offset int64
}

// writer appends segments to the one pack that is not closed.
type writer struct {
	s *Store

	mu  sync.Mutex // guards the fields below
	num uint64     // 0: no pack is open
	f   packFile
	end int64
	in  map[*byte]uint64 // the pack that was written when a Put under way began

	last any   // who has written the end of the pack,
	from int64 // from here on

	synced place // everything before it is on disk
	lowest int64 // the lowest end since the fsync under way began

	syncing sync.Mutex // one fsync at a time, the others wait and often need none; taken before mu
}

// enter announces a Put: what it appends is not yet named by any record, but must not be taken for waste.
func (w *writer) enter() (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		if err := w.begin(); err != nil {
			return nil, err
		}
	}
	me := new(byte)
	w.in[me] = w.num
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.in, me)
	}, nil
}

// settled is the number up to which, and without which, nobody writes to packs any more.
func (w *writer) settled() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := uint64(math.MaxUint64)
	if w.f != nil {
		before = w.num
	}
	for _, num := range w.in {
		before = min(before, num)
	}
	return before
}

// append writes a segment and gives its place. Nothing of it stays behind on an error. by is who may want to take it back.
func (w *writer) append(by any, h head, body []byte, scratch *[]byte) (place, error) {
	*scratch = appendSegment((*scratch)[:0], h, body)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f != nil && w.end+int64(len(*scratch)) > w.s.opts.MaxPack {
		if err := w.closePack(); err != nil {
			return place{}, err
		}
	}
	if w.f == nil {
		if err := w.begin(); err != nil {
			return place{}, err
		}
	}
	at := place{w.num, w.end}
	if w.last != by {
		w.last, w.from = by, w.end
	}
	if _, err := w.f.Write(*scratch); err != nil {
		if w.f.Truncate(w.end) != nil {
			w.abandon()
		}
		return place{}, diskError("write pack", err)
	}
	w.end += int64(len(*scratch))
	return at, nil
}

// takeBack cuts off what by has appended since anybody else did. No record may name it, nor may one be on its way.
func (w *writer) takeBack(by any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil || w.last != by {
		return
	}
	if w.f.Truncate(w.from) != nil {
		w.abandon()
		return
	}
	w.end, w.last = w.from, nil
	w.lowest = min(w.lowest, w.end)
	if w.synced.pack == w.num {
		w.synced.offset = min(w.synced.offset, w.end)
	}
}

func (w *writer) begin() error {
	num, err := w.s.nums.take()
	if err != nil {
		return err
	}
	name := openName(num)
	path := filepath.Join(w.s.dir, name)
	f, err := w.s.opts.openPack(path)
	if err != nil {
		return diskError("create pack", err)
	}
	if _, err = f.Write(binary.BigEndian.AppendUint64([]byte(packMagic), num)); err == nil {
		err = w.s.syncDir()
	}
	if err != nil {
		f.Close()
		os.Remove(path) // what is left of it is removed by the next Open
		return diskError("create pack", err)
	}
	w.num, w.f, w.end, w.last = num, f, packHead, nil
	w.s.packs.add(num, name)
	return nil
}

// abandon leaves a pack alone whose file is in an unknown state; the next Open cuts it off and closes it.
func (w *writer) abandon() {
	w.s.log.Warn("pack given up after a failed write", "pack", openName(w.num))
	w.f.Close()
	w.num, w.f = 0, nil
}

// closePack makes the pack immutable and names it by its content.
func (w *writer) closePack() error {
	old := openName(w.num)
	if err := w.fsync(w.f); err != nil {
		w.abandon()
		return diskError("close pack", err)
	}
	sum, err := hashFile(filepath.Join(w.s.dir, old))
	if err != nil {
		return fmt.Errorf("content: close pack %s: %w", old, err)
	}
	name := strings.TrimSuffix(old, openSuffix) + "-" + sum + closedSuffix
	if err := os.Rename(filepath.Join(w.s.dir, old), filepath.Join(w.s.dir, name)); err != nil {
		return fmt.Errorf("content: close pack %s: %w", old, err)
	}
	w.s.packs.add(w.num, name)
	err = w.f.Close()
	w.num, w.f = 0, nil
	return errors.Join(err, w.s.syncDir())
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:hashDigits], nil
}

// sync returns when everything appended before the call is on disk.
func (w *writer) sync() error {
	w.mu.Lock()
	want := place{w.num, w.end}
	w.mu.Unlock()
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	f, now, done := w.f, place{w.num, w.end}, w.synced
	w.lowest = w.end
	w.mu.Unlock()
	if want.pack == 0 || done.pack > want.pack || (done.pack == want.pack && done.offset >= want.offset) {
		return nil
	}
	if now.pack != want.pack { // closing it has synced it
		return nil
	}
	err := w.fsync(f)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.num != now.pack { // closed meanwhile, and synced by that
		return nil
	}
	if err != nil {
		w.abandon() // what a failed fsync leaves behind is unknown
		return diskError("sync pack", err)
	}
	w.synced = place{now.pack, min(now.offset, w.lowest)}
	return nil
}

func (w *writer) fsync(f packFile) error {
	if w.s.opts.NoSync {
		return nil
	}
	return f.Sync()
}

func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return nil
	}
	err := w.fsync(w.f)
	err = errors.Join(err, w.f.Close())
	w.num, w.f = 0, nil
	return err
}

// current is the number of the pack that is written, 0 for none.
func (w *writer) current() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.num
}

// roll closes the pack that is written, if any.
func (w *writer) roll() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil || w.end <= packHead {
		return nil
	}
	return w.closePack()
}

// diskError makes ErrDiskFull of what a full disk or quota gives.
func diskError(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("content: %s: %w (%w)", doing, ErrDiskFull, err)
	}
	return fmt.Errorf("content: %s: %w", doing, err)
}

func (s *Store) syncDir() error {
	if s.opts.NoSync {
		return nil
	}
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
