package triplestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Commit is one entry of the change log. Added quads were absent before, removed ones present. A very large commit
// comes in several pieces of the same position, More being set in all but the last.
type Commit struct {
	Position       uint64
	At             time.Time
	Removed, Added []term.Quad
	More           bool
}

// ErrTrimmed says that the change log no longer reaches back to the position asked for.
var ErrTrimmed = errors.New("the change log does not reach back that far")

// Changes calls f with every commit after a position (0: from the beginning), oldest first, up to the newest at the
// time of the call, and returns the newest position. It reads one state and blocks nobody.
func (s *Store) Changes(ctx context.Context, since uint64, f func(Commit) error) (last uint64, err error) {
	last = since
	err = s.View(ctx, func(sn *Snapshot) error {
		return s.db.View(func(tx *kv.Txn) error {
			return tx.Scan(kv.SpaceTripleLog, nil, binary.BigEndian.AppendUint64(nil, since+1), func(key, val []byte) (bool, error) {
				pos := binary.BigEndian.Uint64(key)
				if pos > sn.state.position {
					return false, nil
				}
				if ctx.Err() != nil {
					return false, context.Cause(ctx)
				}
				c, err := decodeCommit(val)
				if err != nil {
					return false, fmt.Errorf("%w: log record %d: %w", ErrDamaged, pos, err)
				}
				out := Commit{Position: pos, At: time.UnixMilli(c.unixMilli)}
				for _, ch := range c.changes {
					q, err := sn.quad(ch.Quad)
					if err != nil {
						return false, err
					}
					if ch.Sign < 0 {
						out.Removed = append(out.Removed, q)
					} else {
						out.Added = append(out.Added, q)
					}
				}
				last = pos
				err = f(out)
				return err == nil, err
			})
		})
	})
	return last, err
}

func (sn *Snapshot) quad(q term.IDQuad) (term.Quad, error) {
	ids, keys := [4]term.ID{q.S, q.P, q.O, q.G}, [4]term.Key{}
	n := 4
	if q.G == term.DefaultGraph {
		n = 3
	}
	err := sn.Keys(ids[:n], keys[:n])
	return term.Quad{S: keys[0], P: keys[1], O: keys[2], G: keys[3]}, err
}
