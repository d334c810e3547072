package content

import (
	"fmt"
	"io"

	"odarchive/triplestore/kv"
)

// Pack is a pack as a backup copies it.
type Pack struct {
	Name   string
	Size   int64 // bytes that are committed
	Closed bool  // the pack never changes again, and its name contains its hash
	num    uint64
}

// KeepPacks prevents packs from being dropped until release is called, so that packs can be copied after the database
// that names them. Puts are not affected; Compact, GC and Verify wait.
func (s *Store) KeepPacks() (release func()) {
	s.sweep.Lock()
	return s.sweep.Unlock
}

// Packs returns the packs that hold something committed, in the order of their creation.
func (s *Store) Packs() ([]Pack, error) { return s.packsFrom(0) }

func (s *Store) packsFrom(from uint64) (list []Pack, err error) {
	err = s.db.View(func(tx *kv.Txn) error {
		for _, num := range s.packs.numbersFrom(from) {
			rec, found, err := readPack(tx, num)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			name := s.packs.nameOf(num)
			_, hash, _ := parsePackName(name)
			list = append(list, Pack{Name: name, Size: rec.end, Closed: hash != "", num: num})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Closed { // copied whole, with what a failed Put may have left at the end: the hash covers all of it
			h, err := s.packs.acquire(list[i].num)
			if err != nil {
				return nil, fmt.Errorf("content: pack %s: %w", list[i].Name, err)
			}
			info, err := h.f.Stat()
			s.packs.release(h)
			if err != nil {
				return nil, fmt.Errorf("content: pack %s: %w", list[i].Name, err)
			}
			list[i].Size = info.Size()
		}
	}
	return list, nil
}

// CopyPack writes a pack's bytes to w. The caller must have called KeepPacks. Damaged bytes of a closed pack are
// recovered from its parity, if possible.
func (s *Store) CopyPack(w io.Writer, p Pack) error {
	r, free, err := s.acquireSound(p.num)
	if err != nil {
		return fmt.Errorf("content: pack %s: %w", p.Name, err)
	}
	defer free()
	if g, ok := r.(*guarded); ok {
		p.Size = g.parity.pack.size // the size when it was closed: the file may be shorter or longer now
	}
	n, err := io.Copy(w, io.NewSectionReader(r, 0, p.Size))
	if err == nil && n < p.Size {
		err = &DamageError{Pack: p.Name, Offset: n, Why: "the pack ends before its last commit"}
	}
	return err
}
