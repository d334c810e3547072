package triplestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// maxFold is the maximum number of changes that FoldLog reads into memory.
const maxFold = 2 << 20

// FoldLog replaces the commits at the beginning of the change log by one with the same effect, at the position and time
// of the last of them, and returns how many that makes fewer. Quads that were added and removed again leave the log. A
// reader of changes that has come to a position in between gets ErrTrimmed from then on; one that begins with the log
// or is at its end misses nothing. Commits wait meanwhile. Of a log with more than two million changes, only the
// beginning is folded.
func (s *Store) FoldLog(ctx context.Context) (commits int, err error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	if err := s.gate.Acquire(ctx, gateUnits); err != nil {
		return 0, err
	}
	defer s.gate.Release(gateUnits)
	if err = s.merge(ctx); err == nil {
		commits, err = s.foldLog(ctx, maxFold)
	}
	if err != nil {
		return 0, fmt.Errorf("triplestore: fold the change log: %w", err)
	}
	return commits, nil
}

// foldLog does the work of FoldLog for at most limit changes, while no commit runs and all commits are in blocks.
func (s *Store) foldLog(ctx context.Context, limit int) (commits int, err error) {
	s.merging.Lock()
	defer s.merging.Unlock()
	sn := s.Snapshot()
	defer sn.Release()
	if sn.state.overlay.Len() > 0 {
		return 0, errors.New("concurrent commits") // cannot happen: the gate keeps commits out
	}
	last, err := sn.foldEnd(ctx, limit)
	if err != nil || last == 0 {
		return 0, err
	}
	f, err := sn.readFold(ctx, last)
	if err != nil || f.commits < 2 {
		return 0, err
	}
	parts := &partWriter{batch: s.db.Batch(), position: last, limit: -1} // without a head, readers pass them over
	if err := f.write(parts); err != nil {
		return 0, errors.Join(err, parts.discard())
	}
	list := s.nextID.Add(1)
	if err := writeObsolete(s.db, list, map[kv.Space][][]byte{kv.SpaceTripleLog: f.keys}); err != nil {
		return 0, errors.Join(err, parts.discard())
	}
	s.unswept = append(s.unswept, list)
	var next state
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		tip := s.getTip()
		next = *tip
		r := *tip.root
		r.nextID = s.nextID.Load()
		r.lists = slices.Clone(s.unswept)
		r.removed += f.removed - parts.removed
		r.logBytes += parts.size - f.bytes
		next.logBytes += parts.size - f.bytes
		next.root = &r
		if err := kt.Set(kv.SpaceTripleLog, recordKey(last, 0), head{f.unixMilli, parts.parts}.encode()); err != nil {
			return err
		}
		return s.install(kt, &next)
	})
	if err != nil {
		s.unswept = slices.DeleteFunc(s.unswept, func(l uint64) bool { return l == list })
		return 0, errors.Join(err, parts.discard())
	}
	return f.commits - 1, s.tidy(ctx, &next)
}

// foldEnd returns the position of the last commit that can take the place of all before it: together they have at most
// limit changes, and it has no parts, whose keys would be needed. 0 means that there is none.
func (sn *Snapshot) foldEnd(ctx context.Context, limit int) (last uint64, err error) {
	changes := 0
	err = sn.eachRecord(ctx, sn.state.root.merged, func(r logRecord) bool {
		if r.commit != nil {
			changes += len(r.commit.changes)
		}
		if changes <= limit && r.part == 0 && r.commit != nil {
			last = r.position
		}
		return changes <= limit
	})
	return last, err
}

// fold is the beginning of the change log as one change.
type fold struct {
	net       map[term.IDQuad]int8
	commits   int
	removed   uint64   // removals among their changes
	unixMilli int64    // time of the last commit
	keys      [][]byte // of the records that are no longer needed
	bytes     int64    // of the records
}

// readFold reads the change log up to a position.
func (sn *Snapshot) readFold(ctx context.Context, last uint64) (f fold, err error) {
	f.net = map[term.IDQuad]int8{}
	err = sn.eachRecord(ctx, last, func(r logRecord) bool {
		f.bytes += int64(r.size)
		if r.part == 0 {
			f.commits++
		}
		if r.position < last {
			f.keys = append(f.keys, recordKey(r.position, r.part))
		}
		if r.commit == nil {
			return true
		}
		f.removed += r.commit.removed()
		f.unixMilli = r.commit.unixMilli
		for _, ch := range r.commit.changes {
			if f.net[ch.Quad] += ch.Sign; f.net[ch.Quad] == 0 {
				delete(f.net, ch.Quad)
			}
		}
		return true
	})
	return f, err
}

// write writes the changes as parts of a record.
func (f fold) write(parts *partWriter) error {
	changes := make([]index.Change, 0, len(f.net))
	for q, sign := range f.net {
		changes = append(changes, index.Change{Quad: q, Sign: sign})
	}
	run := index.NewRun(changes)
	for _, sign := range [2]int8{-1, 1} {
		var rows []term.IDQuad
		run.Changes(func(ch index.Change) {
			if ch.Sign == sign {
				rows = append(rows, ch.Quad)
			}
		})
		if err := parts.add(rows, sign); err != nil {
			return err
		}
	}
	return parts.finish()
}

// logRecord is a record of the change log, or a part of one. commit is nil for a head, and for a part that is left over
// from a commit that failed.
type logRecord struct {
	position uint64
	part     uint32
	size     int
	commit   *commit
}

// eachRecord calls f with the records of the change log up to a position, until f returns false.
func (sn *Snapshot) eachRecord(ctx context.Context, upTo uint64, f func(logRecord) (more bool)) error {
	var big uint64 // the commit whose parts follow
	var parts uint32
	return sn.kv.Scan(kv.SpaceTripleLog, nil, recordKey(sn.state.root.trimmed+1, 0), func(key, val []byte) (bool, error) {
		position, part, ok := parseRecordKey(key)
		if !ok || position > upTo {
			return false, nil
		}
		r := logRecord{position: position, part: part, size: len(val)}
		if part == 0 || position == big && part <= parts {
			c, h, err := decodeRecord(val)
			if err != nil {
				return false, fmt.Errorf("%w: log record %d, part %d: %w", ErrDamaged, position, part, err)
			}
			if r.commit = c; h != nil {
				big, parts = position, h.parts
			}
		}
		return f(r), ctx.Err()
	})
}
