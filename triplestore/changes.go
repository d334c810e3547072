package triplestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Commit is one entry of the change log. Added quads were absent before it, removed ones present. A very large commit
// comes in several pieces with the same position; More is set in all but the last.
type Commit struct {
	Position       uint64
	At             time.Time
	Removed, Added []term.Quad
	More           bool
}

// ErrTrimmed means that the change log no longer reaches back to the position asked for.
var ErrTrimmed = errors.New("the change log does not reach back that far")

// Changes calls f with every commit after a position, oldest first, up to the newest at the time of the call, and
// returns the newest position. since 0 starts at the beginning of the log. Changes reads one snapshot and does
// not block writers.
func (s *Store) Changes(ctx context.Context, since uint64, f func(Commit) error) (last uint64, err error) {
	last = since
	err = s.View(ctx, func(sn *Snapshot) error {
		if since < sn.state.root.trimmed {
			return fmt.Errorf("%w: it begins after position %d, not %d", ErrTrimmed, sn.state.root.trimmed, since)
		}
		var big *Commit // the commit whose parts follow
		var parts uint32
		err := sn.kv.Scan(kv.SpaceTripleLog, nil, recordKey(since+1, 0), func(key, val []byte) (bool, error) {
			position, part, ok := parseRecordKey(key)
			if !ok || position > sn.state.position {
				return false, nil
			}
			if last == since && since > sn.state.root.trimmed && position > since+1 && big == nil {
				return false, fmt.Errorf("%w: the commits after position %d are folded into that at %d", ErrTrimmed, since, position)
			}
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			if part > 0 && (big == nil || big.Position != position || part > parts) {
				return true, nil // left over from a commit that failed
			}
			c, h, err := decodeRecord(val)
			if err != nil {
				return false, fmt.Errorf("%w: log record %d, part %d: %w", ErrDamaged, position, part, err)
			}
			if h != nil {
				big, parts = &Commit{Position: position, At: time.UnixMilli(h.unixMilli)}, h.parts
				last = position
				return true, nil
			}
			out := Commit{Position: position, At: time.UnixMilli(c.unixMilli)}
			if part > 0 {
				out = *big
				out.More = part < parts
			}
			if err := sn.fill(&out, c); err != nil {
				return false, err
			}
			last = position
			err = f(out)
			return err == nil, err
		})
		return err
	})
	return last, err
}

// fill sets the quads of out from a record's changes.
func (sn *Snapshot) fill(out *Commit, c *commit) error {
	for _, ch := range c.changes {
		q, err := sn.quad(ch.Quad)
		if err != nil {
			return err
		}
		if ch.Sign < 0 {
			out.Removed = append(out.Removed, q)
		} else {
			out.Added = append(out.Added, q)
		}
	}
	return nil
}
