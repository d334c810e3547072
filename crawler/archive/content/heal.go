package content

import (
	"context"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/kv"
)

// Heal writes the damaged segments of a stored file again from the file's bytes in r, and returns their number. It
// heals all files that share them. The error is ErrDigest if r has other bytes.
func (s *Store) Heal(ctx context.Context, sha [32]byte, r io.Reader) (healed int, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	src, err := s.openSource(ctx, r)
	if err != nil {
		return 0, err
	}
	defer src.drop()
	if _, err := src.digest(ctx, &Digests{SHA256: sha}); err != nil {
		return 0, err
	}
	unlock, err := s.files.lock(ctx, sha)
	if err != nil {
		return 0, err
	}
	defer unlock()
	ref, found, err := s.Stat(sha)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, fmt.Errorf("content: heal: %w: %s", ErrNotFound, Digest(sha))
	}
	leave, err := s.tail.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	l, err := s.layoutOf(sha, ref.Layout)
	if err != nil {
		return 0, err
	}
	free, err := s.family.lock(ctx, l.file.family)
	if err != nil {
		return 0, err
	}
	defer free()
	if l, err = s.layoutOf(sha, Current); err != nil {
		return 0, err
	}
	return s.heal(ctx, l, newView(src.r, src.size, src.data))
}

// heal heals the damaged leaves of a layout. The caller holds the family's lock.
func (s *Store) heal(ctx context.Context, l *layout, raw *view) (healed int, err error) {
	w := &segmentWriter{s: s, codec: s.codecs.get()}
	defer s.codecs.put(w.codec)
	var buf []byte
	for i := range l.leaves {
		if ctx.Err() != nil {
			return healed, context.Cause(ctx)
		}
		if _, err := s.bodies(l, i, i+1, &buf); err == nil {
			continue
		} else if !errors.Is(err, ErrDamaged) {
			return healed, err
		}
		if err := s.healSegment(ctx, w, &l.leaves[i], raw, l.file.family); err != nil {
			return healed, fmt.Errorf("content: heal: %w", err)
		}
		healed++
	}
	return healed, nil
}

// healSegment appends the segment again and points its record there. Its deflated length may change with the deflate
// library; then healSegment starts a new epoch, so that the sizes of the family's files are computed again.
func (s *Store) healSegment(ctx context.Context, w *segmentWriter, g *leaf, raw *view, family uint64) error {
	data, err := raw.slice(g.rawAt, g.end(), nil)
	if err != nil {
		return err
	}
	x := &extent{num: g.extent, segments: make([]segment, g.index)} // write numbers the segment by its position
	if err := w.write(x, data); err != nil {
		return err
	}
	if err := s.tail.sync(&w.appender); err != nil {
		return err
	}
	fresh := x.segments[g.index]
	return s.db.Update(ctx, func(tx *kv.Txn) error {
		x, err := readExtent(tx, g.extent)
		if err != nil {
			return err
		}
		old := &x.segments[g.index]
		if old.cut != 0 || old.crc != fresh.crc || old.raw != fresh.raw {
			return fmt.Errorf("segment %d of extent %d is not the one to be healed", g.index, g.extent)
		}
		packs := make(packDeltas)
		if old.pack != 0 {
			packs.remove(old)
		}
		packs.add(&fresh)
		grown := fresh.deflated != old.deflated
		*old = fresh
		if err := setExtents(tx, []*extent{x}); err != nil {
			return err
		}
		if grown {
			if _, err := s.newEpoch(tx, family); err != nil {
				return err
			}
		}
		return packs.commit(tx)
	})
}
