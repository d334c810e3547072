package content

import (
	"context"
	"errors"
	"path/filepath"

	"odarchive/triplestore/kv"
)

// A repair discards nothing: the sound parts of a damaged pack may be all that is left of a file that was given up. So
// a pack in which nothing needs the damaged bytes is sealed: it is closed under the hash of what it holds now, and gets
// parity of that. Compact drops the damaged bytes with other waste, once there is enough.

// seal seals a pack, unless something needs what is damaged in it.
func (s *Store) seal(num uint64, name string, spans []span) error {
	if err := s.mayDrop(); err != nil { // the database may have lost records that need the bytes
		return err
	}
	needed, err := s.needs(num, spans)
	if err != nil {
		return err
	}
	if needed {
		return errors.New("the damaged bytes are needed")
	}
	if s.tail.current() == num {
		if err := s.tail.closeCurrent(); err != nil {
			return err
		}
		if closed := s.packs.nameOf(num); isClosed(closed) {
			s.sealed(closed)
			return nil
		}
	}
	if !isClosed(name) && num >= s.tail.lowestWritten() {
		return errors.New("it is being written to")
	}
	return s.sealCopy(num, name)
}

func (s *Store) sealed(name string) { s.mended(name, "nothing: no file needs the damaged bytes") }

// sealCopy seals a pack that is no longer written to: a copy, with what parity recovers, replaces it and then gets its
// new name. Wherever that is interrupted, one file of the pack exists, and the next Mend continues.
func (s *Store) sealCopy(num uint64, name string) error {
	h, err := s.packs.acquire(num)
	if err != nil {
		return err
	}
	defer s.packs.release(h)
	info, err := h.f.Stat()
	if err != nil {
		return err
	}
	r, free := s.soundReader(num, h)
	defer free()
	size := info.Size()
	if g, ok := r.(*guarded); ok {
		size = g.parity.pack.size
	}
	path := filepath.Join(s.dir, name)
	sum, err := s.writeCopy(path+tempSuffix, r, size)
	if err != nil {
		return err
	}
	if err := s.fs.Rename(path+tempSuffix, path); err != nil {
		return errors.Join(err, s.fs.Remove(path+tempSuffix))
	}
	s.packs.reopen(num)
	right := closedName(num, sum)
	if err := s.packs.rename(num, name, right); err != nil {
		return err
	}
	if isClosed(name) && name != right {
		s.parity.remove(name)
	}
	s.parity.enqueue(parityJob{num: num, name: right, again: true})
	s.renamedFile(name, right)
	s.sealed(right)
	return s.syncDir()
}

// needs reports whether damaged bytes make a needed segment unreadable.
func (s *Store) needs(num uint64, spans []span) (needed bool, err error) {
	r, free, err := s.acquireSound(num)
	if err != nil {
		return false, err
	}
	defer free()
	buf := make([]byte, segmentHead+maxStored)
	err = s.eachSegmentIn(num, func(g *segment, _ uint64, _ int) {
		if g.cut == 0 && !needed && hits(spans, g.offset, g.offset+g.stored()) {
			_, wrong, err := readLeaves(r, []leaf{{segment: *g}}, buf[:g.stored()])
			needed = wrong != "" || err != nil
		}
	})
	return needed, err
}

// forgetMissing deletes the record of a pack whose file is missing, if nothing needs it.
func (s *Store) forgetMissing(ctx context.Context, num uint64, name string) error {
	if err := s.mayDrop(); err != nil {
		s.log.Warn("missing pack not forgotten", "pack", name, "error", err)
		return nil
	}
	needed := false
	if err := s.eachSegmentIn(num, func(g *segment, _ uint64, _ int) { needed = needed || g.cut == 0 }); err != nil || needed {
		return err
	}
	if err := s.db.Update(ctx, func(tx *kv.Txn) error { return tx.Delete(refsSpace, numKey(keyPack, num)) }); err != nil {
		return err
	}
	s.packs.remove(num)
	s.parity.remove(name)
	s.mended(name, "nothing: no file needs it")
	return nil
}
