package content

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// openWriter registers the packs and finishes what a crash may have left: the newest open pack is written on, older ones
// are closed. A read-only store leaves every file as it is.
func openWriter(s *Store) (*writer, error) {
	w := &writer{s: s, in: make(map[*byte]uint64)}
	open, err := s.register()
	if err != nil || s.db.ReadOnly() {
		return w, err
	}
	for _, name := range open {
		if w.p != nil {
			w.seal()
		}
		num, _, _ := parsePackName(name)
		if err := w.reopen(num, name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// register makes the files of the folder known. It returns the names of the open packs, in the order of their numbers.
func (s *Store) register() (open []string, err error) {
	entries, err := s.fs.ReadDir(s.dir)
	if s.db.ReadOnly() && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	parities := make(map[string]bool)
	for _, e := range entries {
		name := e.Name()
		num, _, ok := parsePackName(name)
		switch {
		case ok:
			s.packs.add(num, name)
			if !isClosed(name) {
				open = append(open, name)
			}
		case strings.HasSuffix(name, paritySuffix):
			parities[name] = true
		case strings.HasSuffix(name, tempSuffix) && !s.db.ReadOnly(): // a parity, or a pack being mended, that was not finished
			err = errors.Join(err, s.fs.Remove(filepath.Join(s.dir, name)))
		case isClosed(name) || strings.HasSuffix(name, openSuffix):
			s.noteFile(name, -1, "its name is not that of a pack")
		}
	}
	s.parity.found(parities)
	slices.Sort(open)
	return open, err
}

// seal closes an older open pack. One that cannot be closed stays open.
func (w *writer) seal() {
	p := w.p
	if err := w.closePack(p); err != nil {
		w.s.log.Warn("pack left open", "pack", openName(p.num), "error", err)
		if w.p != nil {
			w.p.f.Close()
			w.p = nil
		}
	}
}

// reopen goes on with an open pack behind its last sound record. What its record in the database counts, and what is
// sound by its own checksum, is never cut off: the database may have lost a commit that the pack still knows.
func (w *writer) reopen(num uint64, name string) error {
	path := filepath.Join(w.s.dir, name)
	committed := w.committed(num, name)
	f, err := w.s.fs.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	size := info.Size()
	if committed <= packHead && size < packHead { // not even begun
		w.s.packs.remove(num)
		return errors.Join(f.Close(), w.s.fs.Remove(path))
	}
	sound, format, torn := w.s.soundEnd(f, num, name, size)
	if len(torn) > 0 {
		torn = w.noteCommitted(num, name, committed, torn)
	}
	end := max(sound, committed, packHead)
	if size > end {
		if err := f.Truncate(end); err != nil {
			w.s.log.Warn("pack left open: its torn end cannot be cut off", "pack", name, "error", err)
			return f.Close()
		}
		w.s.log.Info("pack cut off behind its last sound record", "pack", name, "bytes", size-end)
	}
	if sound > max(committed, packHead) {
		w.s.log.Debug("pack has sound records behind its last commit, which are kept", "pack", name, "bytes", sound-max(committed, packHead))
	}
	if size < end {
		w.s.log.Error("pack is shorter than what was committed: content is lost", "pack", name, "bytes", end-size)
		w.s.noteFile(name, size, fmt.Sprintf("the pack is %d bytes shorter than what was committed", end-size))
		end = size
	}
	switch {
	case format != 0 || size < packHead:
	case committed > packHead:
		w.s.noteFile(name, 0, "its head is damaged")
	default: // a crash came before its first commit, and its head was not on disk
		if _, err := f.WriteAt(headOf(num), 0); err != nil {
			w.s.log.Warn("pack left open: its head cannot be written again", "pack", name, "error", err)
			return f.Close()
		}
		format = 2
	}
	if err := w.writeAgain(f, committed, min(size, end)); err != nil {
		w.s.log.Warn("pack left open: its end cannot be written again", "pack", name, "error", err)
		return f.Close()
	}
	w.p, w.last = &tailPack{num: num, f: f, end: end}, nil
	if len(torn) > 0 {
		w.s.log.Info("pack closed: it ends in pieces of what was being written when the machine stopped", "pack", name)
	}
	if format == 1 || size < committed || size < packHead || len(torn) > 0 {
		w.seal() // records of format 2 do not go into it, nor anything where other bytes were committed
	}
	return nil
}

// noteCommitted notes the damage in the bytes of a pack that were committed. It returns the rest: no fsync covered those
// bytes, so a power cut may have kept some and not others.
func (w *writer) noteCommitted(num uint64, name string, committed int64, damages []found) (torn []found) {
	err := w.s.placed(num, func(g *segment, _ uint64, _ int) { committed = max(committed, g.offset+g.stored()) })
	if err != nil {
		w.s.log.Error("records of a pack cannot be read", "pack", name, "error", err)
		committed = anySize
	}
	for _, d := range damages {
		if d.offset < committed {
			w.s.noteFile(name, d.offset, d.wrong)
		} else {
			torn = append(torn, d)
		}
	}
	return torn
}

// largestPage is what a kernel writes at once, at most.
const largestPage = 64 << 10

// writeAgain makes the end of an open pack durable, as it is read. An fsync of an earlier process may have failed: then the
// kernel shows bytes that are not on the disk, takes them for written, and the next fsync would not write them. What the
// database counts was fsynced before, so only what is behind it is written, over the same bytes.
func (w *writer) writeAgain(f disk.File, committed, end int64) error {
	if committed > end { // the database does not know this pack's end
		committed = 0
	}
	if committed == end || w.s.opts.NoSync {
		return nil
	}
	buf := make([]byte, walkBlock)
	for at := committed / largestPage * largestPage; at < end; {
		b := buf[:min(walkBlock, end-at)]
		if _, err := readFull(f, b, at); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return f.Sync()
}

// committed returns how many bytes of a pack the database counts, 0 if it does not know.
func (w *writer) committed(num uint64, name string) int64 {
	var rec packRecord
	err := w.s.db.View(func(tx *kv.Txn) (err error) {
		rec, _, err = readPack(tx, num)
		return err
	})
	if err != nil {
		w.s.log.Error("record of a pack cannot be read", "pack", name, "error", err)
	}
	return rec.end
}

// soundEnd returns the end of the last record of a pack that matches its checksum, the pack's format (0: its head is
// damaged), and the damages before that end.
func (s *Store) soundEnd(f disk.File, num uint64, name string, size int64) (end int64, format int, damages []found) {
	r := &tolerant{r: f}
	var since []found // the last sound record
	w := &walker{r: r, end: size}
	err := w.walk(func(rec found) error {
		if rec.wrong == "" {
			end = rec.offset + int64(len(rec.bytes))
			damages, since = append(damages, since...), nil
			return nil
		}
		since = append(since, rec)
		return nil
	})
	if err != nil || w.tired || r.unreadable > 0 { // nothing is known of the rest: it stays
		s.log.Warn("open pack not searched to its end", "pack", name, "error", err)
		end = size
	}
	head := make([]byte, packHead)
	if _, err := readFull(r, head, 0); err == nil {
		format = headFormat(head, num)
	}
	return end, format, damages
}
