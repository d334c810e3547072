package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// StoreSource is a Source: a store that this process has opened.
type StoreSource struct {
	Store *triplestore.Store
	Log   string // identifies the log (kv.DB.Lineage)
}

// Position implements Source.
func (s StoreSource) Position(context.Context) (Position, error) {
	return Position{s.Log, s.Store.Position()}, nil
}

// Quads implements Source.
func (s StoreSource) Quads(ctx context.Context) (n int64, err error) {
	err = s.Store.View(ctx, func(sn *triplestore.Snapshot) error {
		all, err := sn.Quads()
		n = int64(all)
		return err
	})
	return n, err
}

// Dump implements Source.
func (s StoreSource) Dump(ctx context.Context, begin func(Position) error, f func(term.Quad) error) error {
	return s.Store.View(ctx, func(sn *triplestore.Snapshot) error {
		if err := begin(Position{s.Log, sn.Position()}); err != nil {
			return err
		}
		return sn.Dump(ctx, term.Pattern{}, f)
	})
}

// Graphs implements Source.
func (s StoreSource) Graphs(ctx context.Context, f func(term.Key) error) error {
	return s.Store.View(ctx, func(sn *triplestore.Snapshot) error {
		var err error
		if e := sn.Graphs(func(id term.ID) bool {
			var name [1]term.Key
			if err = sn.Keys([]term.ID{id}, name[:]); err == nil {
				err = f(name[0])
			}
			return err == nil
		}); e != nil {
			return e
		}
		return err
	})
}

// Graph implements Source.
func (s StoreSource) Graph(ctx context.Context, g term.Key, f func(term.Quad) error) error {
	return s.Store.View(ctx, func(sn *triplestore.Snapshot) error {
		id, ok, err := sn.Graph(g)
		if err != nil || !ok {
			return err
		}
		return sn.Dump(ctx, term.Pattern{G: id}, func(q term.Quad) error {
			q.G = ""
			return f(q)
		})
	})
}

// pollEvery is the pause between two looks at the position of a store of this process.
const pollEvery = 100 * time.Millisecond

// Changes implements Source.
func (s StoreSource) Changes(ctx context.Context, after Position, wait time.Duration, f func(triplestore.Commit) error) (Position, error) {
	if after.Log != s.Log {
		return after, ErrGone
	}
	if now := s.Store.Position(); after.N > now { // a damaged archive may be opened without its last commits: do not begin anew
		return after, fmt.Errorf("the archive is at position %d, before the copy's %d", now, after.N)
	}
	for end := time.Now().Add(wait); s.Store.Position() == after.N && time.Now().Before(end); {
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return after, context.Cause(ctx)
		}
	}
	last, err := s.Store.Changes(ctx, after.N, f)
	if errors.Is(err, triplestore.ErrTrimmed) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	return Position{s.Log, last}, err
}
