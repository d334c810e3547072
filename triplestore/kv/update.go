package kv

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// group is a commit being prepared: the writes of several callers' functions.
type group struct {
	base   *Snapshot
	writes layer
	commit []func()
	abort  []func(error)
	alone  bool // no other function may join
	done   chan struct{}
	err    error  // valid after done is closed, as number is
	number uint64 // of the write set, or of a later one
}

// Update runs f and commits its writes durably together. If f fails or panics, or the commit fails, none are committed.
//
// Writers take turns: f runs in the caller's goroutine while no other function does, sees everything earlier functions
// wrote, and should therefore be quick. Functions waiting while another runs join its commit, so that many callers
// share one fsync. Update returns when the commit with f's writes is on disk and Options.Acknowledge, if any, has
// returned; if that fails, the error is ErrUnacknowledged and the writes stay. If the shared commit fails, Update fails
// for every function in it. If ctx ends, Update stops waiting for the turn; once f has run, it waits for the outcome. f
// must not call Update of the same database.
func (db *DB) Update(ctx context.Context, f func(*Txn) error) error {
	if !db.turns.take(ctx) {
		return fmt.Errorf("kv: waiting to write: %w", context.Cause(ctx))
	}
	g, err := db.runTurn(ctx, f)
	if err != nil || g == nil {
		return err
	}
	<-g.done
	if g.err != nil {
		return g.err
	}
	return db.acknowledge(ctx, g.number)
}

// runTurn runs f in the open group, or in a new one. It returns the group only if f wrote something.
func (db *DB) runTurn(ctx context.Context, f func(*Txn) error) (joined *group, err error) {
	defer db.endTurn() // also if f panics or its goroutine exits
	if db.closed.Load() {
		return nil, ErrClosed
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("kv: waiting to write: %w", context.Cause(ctx))
	}
	if err := db.writable(); err != nil {
		return nil, err
	}
	g := db.turns.open
	if g == nil {
		g = &group{base: db.Snapshot(), done: make(chan struct{})}
		db.turns.open = g
	}
	t := &Txn{db: db, base: g.base, over: &layers{own: &layer{expect: db.turns.expect}, group: &g.writes}}
	failed := errors.New("kv: the transaction's function panicked")
	defer func() {
		if failed != nil {
			db.callBack(&err, func() {
				for _, undo := range t.abort {
					undo(failed)
				}
			})
		}
	}()
	if err := f(t); err != nil {
		failed = err
		return nil, err
	}
	own := t.over.own
	if len(g.writes.writes) > 0 && !db.fits(&g.writes, own) {
		// Commit the group without f's writes, and put these into a group of their own. f need not run again: no other
		// writer ran in between, so what f read is still current.
		db.commit(g)
		if g.err != nil {
			failed = fmt.Errorf("kv: the commit before this one failed: %w", g.err)
			return nil, failed
		}
		g = &group{base: db.Snapshot(), done: make(chan struct{})}
		db.turns.open = g
	}
	g.writes.merge(own)
	g.alone = g.alone || t.last
	g.commit = append(g.commit, t.commit...)
	g.abort = append(g.abort, t.abort...)
	failed = nil
	if len(own.writes) == 0 && len(t.commit) == 0 {
		return nil, nil
	}
	return g, nil
}

func (db *DB) fits(a, b *layer) bool {
	return a.bytes+b.bytes <= db.maxTxnBytes() && int64(len(a.writes)+len(b.writes)) <= db.maxTxnEntries()
}

// endTurn passes the turn on. The last writer in the queue commits the group. Before that the group stays open for the
// next writer, unless it is large enough to be committed by itself.
func (db *DB) endTurn() {
	g := db.turns.open
	if g != nil && !g.alone && g.writes.bytes <= db.maxTxnBytes()/4 && db.turns.pass(false) {
		return
	}
	defer db.turns.pass(true) // also if a callback panics
	if g != nil {
		db.commit(g)
	}
}

// alone runs f while no writer runs and no group is open.
func (db *DB) alone(f func() error) error {
	db.turns.take(context.Background())
	defer db.turns.pass(true)
	if db.closed.Load() {
		return ErrClosed
	}
	if g := db.turns.open; g != nil {
		db.commit(g)
	}
	return f()
}

// commit writes the group to disk and reports the outcome to all its writers. The caller has the turn.
func (db *DB) commit(g *group) {
	db.turns.open = nil
	if db.turns.expect = 0; len(g.writes.writes) >= bulk {
		db.turns.expect = len(g.writes.writes)
	}
	defer close(g.done)
	g.base.Close()
	db.callBack(&g.err, func() {
		g.err = db.writeLayer(&g.writes, true)
		g.number = db.visible.Load()
		if g.err == nil {
			for _, f := range g.commit {
				f()
			}
			return
		}
		for i := len(g.abort) - 1; i >= 0; i-- {
			g.abort[i](g.err)
		}
	})
}

// callBack runs callbacks. If one panics, its changes in memory are incomplete and must not be built upon: writes stop,
// *err is set for the other writers, and the panic continues.
func (db *DB) callBack(err *error, f func()) {
	done := false
	defer func() {
		if done {
			return
		}
		r := recover()
		db.StopWrites(fmt.Errorf("a transaction callback panicked, memory and disk may differ: %v", r))
		*err = db.WritesStopped()
		if r != nil { // nil means that the goroutine is exiting
			panic(r)
		}
	}()
	f()
	done = true
}

// turns passes the right to write from one caller to the next, in order of arrival.
type turns struct {
	mu    sync.Mutex // guards taken, queue
	taken bool
	queue []chan struct{}
	open  *group // owned by whoever has the turn

	expect int // writes of the last commit if it was bulk, which the next one may be too; owned by whoever has the turn
}

// bulk is the number of writes from which a commit is that of bulk work, such as registering a list of URLs.
const bulk = 4096

// take waits for the turn. It returns false if ctx ended first.
func (q *turns) take(ctx context.Context) bool {
	q.mu.Lock()
	if !q.taken {
		q.taken = true
		q.mu.Unlock()
		return true
	}
	mine := make(chan struct{})
	q.queue = append(q.queue, mine)
	q.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-ctx.Done():
	}
	q.mu.Lock()
	for i, c := range q.queue {
		if c == mine {
			q.queue = append(q.queue[:i:i], q.queue[i+1:]...)
			q.mu.Unlock()
			return false
		}
	}
	q.mu.Unlock()
	// The turn was passed to us at the same moment. It cannot be declined, so take it; the caller checks ctx.
	<-mine
	return true
}

// pass passes the turn to the next in the queue and reports whether there was one. If not, and release is set, the turn
// becomes free.
func (q *turns) pass(release bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		q.taken = q.taken && !release
		return false
	}
	next := q.queue[0]
	q.queue = q.queue[1:]
	close(next)
	return true
}
