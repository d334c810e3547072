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
	Closed bool  // it never changes again, and its name says its content
	num    uint64
}

// KeepPacks keeps packs from being dropped until release is called, so that the packs of a copy of the database can be
// copied after it. Puts go on; Compact, GC and Verify wait.
func (s *Store) KeepPacks() (release func()) {
	s.sweep.Lock()
	return s.sweep.Unlock
}

// Packs that hold something committed, in the order they were begun.
func (s *Store) Packs() (list []Pack, err error) {
	err = s.db.View(func(tx *kv.Txn) error {
		for _, num := range s.packs.numbers() {
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
		if list[i].Closed { // whole, with whatever a Put that failed left behind the last commit: the name is of all of it
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

// CopyPack writes a pack's bytes, while KeepPacks is in force. Those of a damaged closed pack come from its parity, if it
// can give them.
func (s *Store) CopyPack(w io.Writer, p Pack) error {
	r, free, err := s.acquireSound(p.num)
	if err != nil {
		return fmt.Errorf("content: pack %s: %w", p.Name, err)
	}
	defer free()
	if g, ok := r.(*guarded); ok {
		p.Size = g.parity.pack.size // as it was closed: what is there now may be cut short, or have a tail
	}
	n, err := io.Copy(w, io.NewSectionReader(r, 0, p.Size))
	if err == nil && n < p.Size {
		err = &DamageError{Pack: p.Name, Offset: n, Why: "the pack ends before its last commit"}
	}
	return err
}
