package content

import (
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
)

// mayDrop returns an error while the database is damaged, since it may have lost records of what packs hold.
func (s *Store) mayDrop() error {
	for _, d := range s.db.Damages() {
		if d.Mended.IsZero() {
			return fmt.Errorf("content: no pack is dropped while the database is damaged: %s", d)
		}
	}
	return nil
}

// isWasteful reports whether a pack is worth rewriting. It reads a pack without needed segments to find out whether it
// holds needed file records.
func (s *Store) isWasteful(num uint64, p packRecord) (bool, error) {
	if p.live+p.records == 0 || float64(p.waste()) > s.opts.Waste*float64(p.end) {
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
			needed, err = s.needsRecord(rec)
		}
		return err
	})
	return !needed, err
}

// needsRecord reports whether a file or cut record still describes the store.
func (s *Store) needsRecord(rec found) (needed bool, err error) {
	body := rec.bytes[segmentHead:]
	err = s.db.View(func(tx *kv.Txn) error {
		if rec.mark == fileMark {
			t, err := decodePackedFile(body)
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
		if errors.Is(err, ErrDamaged) { // the extent does not exist
			return nil
		}
		needed = err == nil && rec.index < len(x.segments) && x.segments[rec.index].cut != 0 && x.segments[rec.index].parts == c.parts
		return err
	})
	return needed, err
}

// moveRecord copies a file or cut record that is still needed.
func (m *mover) moveRecord(ctx context.Context, rec found) error {
	needed, err := m.s.needsRecord(rec)
	if err != nil || !needed {
		return err
	}
	at, err := m.append(rec)
	if err != nil {
		return err
	}
	m.records.addRecord(at, int64(len(rec.bytes)))
	if m.bytes += int64(len(rec.bytes)); m.bytes >= bytesPerTxn {
		return m.commit(ctx)
	}
	return nil
}
