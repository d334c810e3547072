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
)

// openWriter registers the packs and repairs what a crash may have left: it continues the newest open pack and closes
// older ones. A read-only store leaves every file as it is.
func openWriter(s *Store) (*writer, error) {
	w := &writer{s: s, open: unfinished{in: make(map[*byte]uint64)}}
	open, err := s.register()
	if all := s.packs.numbers(); len(all) > 0 {
		w.open.newest = all[len(all)-1]
	}
	if err != nil || s.db.ReadOnly() {
		return w, err
	}
	for _, name := range open {
		if w.p != nil {
			w.closeOlder()
		}
		num, _, _ := parsePackName(name)
		if err := w.reopen(num, name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// register registers the files of the folder. It returns the names of the open packs, ordered by number.
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
		case strings.HasSuffix(name, tempSuffix) && !s.db.ReadOnly(): // an unfinished parity file or pack copy
			err = errors.Join(err, s.fs.Remove(filepath.Join(s.dir, name)))
		case isClosed(name) || strings.HasSuffix(name, openSuffix):
			s.noteFile(name, -1, "its name is not that of a pack")
		}
	}
	s.parity.setExisting(parities)
	slices.Sort(open)
	return open, err
}

// closeOlder closes an older open pack, if it can.
func (w *writer) closeOlder() {
	p := w.p
	if err := w.closePack(p); err != nil {
		w.s.log.Warn("pack left open", "pack", openName(p.num), "error", err)
		if w.p != nil {
			w.p.f.Close()
			w.setCurrent(nil)
		}
	}
}

// reopen continues an open pack after its last sound record. It never truncates bytes that the database counts, nor
// records that match their checksums: the database may have lost a commit that the pack still has.
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
	if committed <= packHead && size < packHead { // not even its head was written
		w.s.packs.remove(num)
		return errors.Join(f.Close(), w.s.fs.Remove(path))
	}
	sound, format, torn := w.s.soundEnd(f, num, name, size)
	if len(torn) > 0 {
		torn = w.noteDamage(num, name, committed, torn)
	}
	end := max(sound, committed, packHead)
	if size > end {
		if err := f.Truncate(end); err != nil {
			w.s.log.Warn("pack left open: its torn end cannot be truncated", "pack", name, "error", err)
			return f.Close()
		}
		w.s.log.Info("pack truncated after its last sound record", "pack", name, "bytes", size-end)
	}
	if sound > max(committed, packHead) {
		w.s.log.Debug("pack has sound records after its last commit, which are kept", "pack", name, "bytes", sound-max(committed, packHead))
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
	default: // a crash before its first commit lost its head
		if _, err := f.WriteAt(headOf(num), 0); err != nil {
			w.s.log.Warn("pack left open: its head cannot be rewritten", "pack", name, "error", err)
			return f.Close()
		}
		format = 2
	}
	if err := w.rewriteEnd(f, committed, min(size, end)); err != nil {
		w.s.log.Warn("pack left open: its end cannot be rewritten", "pack", name, "error", err)
		return f.Close()
	}
	w.setCurrent(&tailPack{num: num, f: f, end: end})
	if len(torn) > 0 {
		w.s.log.Info("pack closed: its end is torn by a power failure", "pack", name)
	}
	if format == 1 || size < committed || size < packHead || len(torn) > 0 {
		w.closeOlder() // a pack of format 1 must not get records of format 2, and lost bytes must not be replaced by others
	}
	return nil
}

// noteDamage records damage in the committed bytes of a pack, and returns the rest of the damages: no fsync covered
// those bytes, so a power failure may have torn them.
func (w *writer) noteDamage(num uint64, name string, committed int64, damages []found) (torn []found) {
	err := w.s.eachSegmentIn(num, func(g *segment, _ uint64, _ int) { committed = max(committed, g.offset+g.stored()) })
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

// largestPage is the size of the largest page that a kernel writes.
const largestPage = 64 << 10

// rewriteEnd makes the end of an open pack durable. If an fsync of an earlier process failed, the kernel may show bytes
// that are not on the disk, and another fsync would not write them. So rewriteEnd writes the bytes after those that the
// database counts, which were fsynced, over themselves.
func (w *writer) rewriteEnd(f disk.File, committed, end int64) error {
	if committed > end { // the pack lost bytes that the database counts
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

// committed returns how many bytes of a pack the database counts, 0 if unknown.
func (w *writer) committed(num uint64, name string) int64 {
	rec, _, err := w.s.packRecord(num)
	if err != nil {
		w.s.log.Error("record of a pack cannot be read", "pack", name, "error", err)
	}
	return rec.end
}

// soundEnd returns the end of the last record of a pack that matches its checksum, the pack's format (0 if its head is
// damaged), and the damages before that end.
func (s *Store) soundEnd(f disk.File, num uint64, name string, size int64) (end int64, format int, damages []found) {
	r := &tolerant{r: f}
	var since []found // damages after the last sound record
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
	if err != nil || w.tired || r.unreadable > 0 { // the rest is unknown, so it stays
		s.log.Warn("open pack not searched to its end", "pack", name, "error", err)
		end = size
	}
	head := make([]byte, packHead)
	if _, err := readFull(r, head, 0); err == nil {
		format = headFormat(head, num)
	}
	return end, format, damages
}
