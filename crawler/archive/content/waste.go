package content

import (
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
)

// mayDrop refuses to drop packs while the database is damaged: it may have lost records of what is in them.
func (s *Store) mayDrop() error {
	for _, d := range s.db.Damages() {
		if d.Mended.IsZero() {
			return fmt.Errorf("content: no pack is dropped while the database is damaged: %s", d)
		}
	}
	return nil
}

// isWasteful reports whether a pack is worth rewriting. One without segments that are needed may hold file records that
// are: it is read to find out.
func (s *Store) isWasteful(num uint64, p packRecord) (bool, error) {
	if p.live+p.told == 0 || float64(p.waste()) > s.opts.Waste*float64(p.end) {
		return true, nil
	}
	if p.live > 0 {
		return false, nil
	}
	r, free, err := s.acquireSound(num)
	if err != nil {
		return false, err
	}
	defer free()
	needed := false
	w := &walker{r: r, end: p.end}
	err = w.walk(func(rec found) (err error) {
		if rec.wrong == "" && rec.mark != segmentMark && !needed {
			needed, err = s.needsTold(rec)
		}
		return err
	})
	return !needed, err
}

// needsTold reports whether a file or cut record says something that is so.
func (s *Store) needsTold(rec found) (needed bool, err error) {
	body := rec.bytes[segmentHead:]
	err = s.db.View(func(tx *kv.Txn) error {
		if rec.mark == fileMark {
			t, err := decodeTold(body)
			if err != nil {
				return nil
			}
			_, needed, err = readFile(tx, t.sha)
			return err
		}
		c, err := decodeCut(body)
		if err != nil {
			return nil
		}
		x, err := readExtent(tx, rec.extent)
		if errors.Is(err, ErrDamaged) { // gone
			return nil
		}
		needed = err == nil && rec.index < len(x.segments) && x.segments[rec.index].cut != 0 && x.segments[rec.index].parts == c.parts
		return err
	})
	return needed, err
}

// meetTold takes a file or cut record along that is still so.
func (m *mover) meetTold(ctx context.Context, rec found) error {
	needed, err := m.s.needsTold(rec)
	if err != nil || !needed {
		return err
	}
	at, err := m.s.tail.append(&m.appender, rec.head, rec.bytes[segmentHead:])
	if err != nil {
		return err
	}
	m.told.tell(at, int64(len(rec.bytes)))
	if m.bytes += int64(len(rec.bytes)); m.bytes >= bytesAtOnce {
		return m.commit(ctx)
	}
	return nil
}
