package content

import (
	"context"
	"errors"
	"path/filepath"

	"odarchive/triplestore/kv"
)

// A repair throws nothing away: what is sound in a damaged pack may be all that is left of a file that was given up. So a
// pack in which only bytes are damaged that nothing needs is sealed: it is closed under the hash of what it holds now, and
// gets parity of that. Compact drops the damaged bytes with the waste they are part of, when there is enough of it.

// seal seals a pack, unless something needs what is damaged in it.
func (s *Store) seal(num uint64, name string, spans []span) error {
	if err := s.mayDrop(); err != nil { // it may have lost the records that need the bytes
		return err
	}
	needed, err := s.needs(num, spans)
	if err != nil {
		return err
	}
	if needed {
		return errors.New("what is damaged is needed")
	}
	if s.tail.current() == num {
		if err := s.tail.roll(); err != nil {
			return err
		}
		if closed := s.packs.nameOf(num); isClosed(closed) {
			s.sealed(closed)
			return nil
		}
	}
	if !isClosed(name) && num >= s.tail.settled() {
		return errors.New("files are being put into it")
	}
	return s.sealCopy(num, name)
}

func (s *Store) sealed(name string) { s.mended(name, "nothing: no file needs the damaged bytes") }

// sealCopy seals a pack that is not written any more: a copy of it, with what parity gives back, takes its place and then
// its new name. Wherever that is interrupted, there is one file of the pack, and the next Mend goes on.
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
		s.parity.forget(name)
	}
	s.parity.want(parityJob{num: num, name: right, again: true})
	s.renamedFile(name, right)
	s.sealed(right)
	return s.syncDir()
}

// needs reports whether a segment that is needed cannot be read because of damaged bytes.
func (s *Store) needs(num uint64, spans []span) (needed bool, err error) {
	r, free, err := s.acquireSound(num)
	if err != nil {
		return false, err
	}
	defer free()
	buf := make([]byte, segmentHead+maxStored)
	err = s.placed(num, func(g *segment, _ uint64, _ int) {
		if g.cut == 0 && !needed && hits(spans, g.offset, g.offset+g.stored()) {
			_, wrong, err := readLeaves(r, []leaf{{segment: *g}}, buf[:g.stored()])
			needed = wrong != "" || err != nil
		}
	})
	return needed, err
}

// forgetMissing drops the record of a pack that is not there, once nothing needs it.
func (s *Store) forgetMissing(ctx context.Context, num uint64, name string) error {
	if err := s.mayDrop(); err != nil {
		s.log.Warn("missing pack not forgotten", "pack", name, "error", err)
		return nil
	}
	needed := false
	if err := s.placed(num, func(g *segment, _ uint64, _ int) { needed = needed || g.cut == 0 }); err != nil || needed {
		return err
	}
	if err := s.db.Update(ctx, func(tx *kv.Txn) error { return tx.Delete(refsSpace, numKey(keyPack, num)) }); err != nil {
		return err
	}
	s.packs.remove(num)
	s.parity.forget(name)
	s.mended(name, "nothing: no file needs it")
	return nil
}
