package triplestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// follower keeps an index of objects of quads. Commits do not wait for it: it reads the change log when it is asked,
// and whenever the store merges. A search waits until it covers its snapshot, so every query sees what was committed
// before it. The index only grows until it is built again; what no quad has any more is found nevertheless.
type follower struct {
	s          *Store
	what       string     // "the index of …", for errors and the log
	predicates []term.Key // whose objects are indexed; nil: those of all
	index      followed

	demand   chan struct{} // wakes run
	mu       sync.Mutex    // guards the fields below
	loaded   bool
	covers   uint64        // position up to which commits are indexed
	whole    bool          // nothing before covers is missing; false while the index is built again
	rebuilds int           // how often the index has been emptied
	stored   uint64        // position of the last Flush
	urgent   bool          // somebody waits until all is stored
	failed   error         // of the last attempt
	tried    chan struct{} // closed and replaced after every attempt
}

// followed is an index that a follower keeps. One goroutine changes it.
type followed interface {
	// Load reads the stored index and returns the mark of the last Flush. ok is false if there is none. After an error
	// that is not segments.ErrNewer, the index can be built again.
	Load() (mark []byte, ok bool, err error)
	// Flush stores the index with a mark.
	Flush(ctx context.Context, mark []byte) error
	// Reset empties the index; what is stored stays until the next Flush.
	Reset()
	// Growing returns how many objects are in memory only.
	Growing() int
	// takes reports whether an object may have to be indexed. It is cheap.
	takes(id term.ID) bool
	// Has reports whether it is known to have an object.
	Has(id term.ID) bool
	// add indexes those of the objects that belong into the index. ids are sorted and different, and Has is false for
	// them; keys are their terms. full reports that it is time for Flush.
	add(ids []term.ID, keys []term.Key) (added int, full bool)
	// Verify reads what is stored.
	Verify(ctx context.Context) error
	// check returns an error if one of the objects belongs into the index and is not found in it. Has is false for
	// them.
	check(ids []term.ID, keys []term.Key) error
	// storedMark returns the mark of the stored index without loading it.
	storedMark() (mark []byte, ok bool, err error)
}

func (l *follower) init(s *Store, what string, index followed) {
	l.s, l.what, l.index = s, what, index
	l.demand, l.tried = make(chan struct{}, 1), make(chan struct{})
}

// run catches up whenever somebody wants it, until ctx ends.
func (l *follower) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			l.ended(ErrClosed)
			return
		case <-l.demand:
		}
		sn := l.s.Snapshot()
		err := l.catchUp(ctx, sn)
		l.ended(err) // before storing, which waits for writers, and one of them may be searching
		if err == nil {
			err = l.store(ctx, sn)
			l.ended(err)
		}
		sn.Release()
		if err != nil && ctx.Err() == nil {
			l.s.opts.Log.Error("cannot bring "+l.what+" up to date", "error", err)
		}
	}
}

func (l *follower) ended(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	close(l.tried)
	l.tried = make(chan struct{})
}

func (l *follower) wake() {
	select {
	case l.demand <- struct{}{}:
	default:
	}
}

// wait returns when the index covers a position, or all that is committed if that is less. With stored set, it also
// waits until that is stored.
func (l *follower) wait(ctx context.Context, position uint64, stored bool) error {
	position = min(position, l.s.current.Load().position)
	for attempts := 0; ; attempts++ {
		l.mu.Lock()
		done, tried, failed := l.loaded && l.covers >= position && l.whole, l.tried, l.failed
		if stored && !l.s.db.ReadOnly() {
			l.urgent = true
			done = done && l.stored >= position
		}
		l.mu.Unlock()
		switch {
		case done:
			return nil
		case l.s.closed.Load():
			return ErrClosed
		case failed != nil && attempts > 0:
			return fmt.Errorf("triplestore: %s: %w", l.what, failed)
		}
		l.wake()
		select {
		case <-tried:
		case <-ctx.Done():
			return fmt.Errorf("triplestore: waiting for %s: %w", l.what, context.Cause(ctx))
		}
	}
}

// catchUp indexes what was committed since the last time.
func (l *follower) catchUp(ctx context.Context, sn *Snapshot) error {
	if !l.loaded {
		if err := l.load(); err != nil {
			return err
		}
	}
	l.mu.Lock()
	covers, whole := l.covers, l.whole
	if covers == 0 || covers < sn.state.root.trimmed || !whole {
		whole = false
		l.whole = false
		l.rebuilds++
	}
	l.mu.Unlock()
	var err error
	switch {
	case !whole:
		err = l.rebuild(ctx, sn)
	case covers < sn.Position():
		err = l.addCommits(ctx, sn, covers)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.covers, l.whole = max(l.covers, sn.Position()), true
	return nil
}

const growingDocs = 20_000 // literals that are worth a segment of their own

// store writes what is in memory only if there is much of it, or if the log may lose it: commits that are in blocks are
// trimmed from the log. The rest is read from the log again after a restart.
func (l *follower) store(ctx context.Context, sn *Snapshot) error {
	l.mu.Lock()
	covers, stored, urgent := l.covers, l.stored, l.urgent
	l.urgent = false
	l.mu.Unlock()
	if l.s.db.ReadOnly() || stored == covers || !urgent && stored > 0 && stored >= sn.state.root.merged && l.index.Growing() < growingDocs {
		return nil
	}
	if err := l.index.Flush(ctx, l.mark(covers)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = covers
	return nil
}

// mark is what is stored with the index: a version, the position and the predicates.
func (l *follower) mark(position uint64) []byte {
	b := binary.AppendUvarint([]byte{markVersion}, position)
	b = binary.AppendUvarint(b, uint64(len(l.predicates)))
	for _, k := range l.predicates {
		b = fields.AppendText(b, string(k))
	}
	return b
}

const markVersion = 1

func parseMark(b []byte) (position uint64, predicates []term.Key, ok bool) {
	r := fields.Reader{B: b}
	if r.Byte() != markVersion {
		return 0, nil, false
	}
	position = r.Uvarint()
	for range r.Count(1) {
		predicates = append(predicates, term.Key(r.Text()))
	}
	return position, predicates, r.End() == nil
}

// load reads the stored index. One that is damaged or of other predicates is built again.
func (l *follower) load() error {
	mark, ok, err := l.index.Load()
	if errors.Is(err, segments.ErrNewer) {
		return err
	}
	if err != nil {
		l.s.opts.Log.Warn(l.what+" cannot be read and is built again", "error", err)
		ok = false
	}
	position, predicates, valid := parseMark(mark)
	if !ok || !valid || !slices.Equal(predicates, l.predicates) || position > l.s.current.Load().position {
		position = 0
	}
	if position == 0 {
		l.index.Reset()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.covers, l.stored, l.whole = true, position, position, position > 0
	return nil
}

// ids returns the predicates that the snapshot has.
func (l *follower) ids(sn *Snapshot) ([]term.ID, error) {
	var out []term.ID
	for _, k := range l.predicates {
		id, ok, err := sn.Lookup(k)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// addCommits indexes the new objects of the commits after a position, as the log has them.
func (l *follower) addCommits(ctx context.Context, sn *Snapshot, after uint64) error {
	predicates, err := l.ids(sn)
	if err != nil {
		return err
	}
	b := l.batch(sn)
	err = sn.kv.Scan(kv.SpaceTripleLog, nil, recordKey(after+1, 0), func(key, val []byte) (bool, error) {
		position, part, ok := parseRecordKey(key)
		if !ok || position > sn.state.position {
			return false, nil
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		c, _, err := decodeRecord(val)
		if err != nil {
			return false, fmt.Errorf("%w: log record %d, part %d: %w", ErrDamaged, position, part, err)
		}
		if c == nil {
			return true, nil
		}
		for _, ch := range c.changes {
			if ch.Sign > 0 && (l.predicates == nil || slices.Contains(predicates, ch.Quad.P)) {
				if err := b.add(ctx, ch.Quad.O); err != nil {
					return false, err
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return b.end(ctx)
}

// rebuild indexes all objects.
func (l *follower) rebuild(ctx context.Context, sn *Snapshot) error {
	l.index.Reset()
	b := l.batch(sn)
	if err := l.objects(ctx, sn, func(id term.ID) error { return b.add(ctx, id) }); err != nil {
		return err
	}
	if err := b.end(ctx); err != nil {
		return err
	}
	if b.total > 0 {
		l.s.opts.Log.Info("built "+l.what, "literals", b.total, "took", time.Since(b.began).Round(time.Millisecond))
	}
	return nil
}

const (
	objectsAtOnce = 4096
	tellEvery     = 10 * time.Second
)

// search calls f when the index covers a position, and again if it was emptied meanwhile.
func (l *follower) search(ctx context.Context, position uint64, f func() error) error {
	for {
		l.mu.Lock()
		before := l.rebuilds
		l.mu.Unlock()
		if err := l.wait(ctx, position, false); err != nil {
			return err
		}
		err := f()
		l.mu.Lock()
		same := l.rebuilds == before
		l.mu.Unlock()
		if same {
			return err
		}
	}
}

// forget makes the index be built again, without what no quad has any more.
func (l *follower) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.covers, l.stored, l.whole = 0, 0, false
}

// verify checks the stored index, if there is one: its checksums, and that it has all objects that belong into it.
func (l *follower) verify(ctx context.Context, sn *Snapshot) error {
	if _, ok, err := l.index.storedMark(); err != nil || !ok {
		return err
	}
	if err := l.wait(ctx, sn.Position(), false); err != nil {
		return err
	}
	if err := l.index.Verify(ctx); err != nil {
		return err
	}
	var ids []term.ID
	keys := make([]term.Key, objectsAtOnce)
	check := func() error {
		slices.Sort(ids)
		ids = slices.DeleteFunc(slices.Compact(ids), l.index.Has)
		if err := sn.Keys(ids, keys[:len(ids)]); err != nil {
			return err
		}
		err := l.index.check(ids, keys[:len(ids)])
		ids = ids[:0]
		return err
	}
	err := l.objects(ctx, sn, func(id term.ID) error {
		if !l.index.takes(id) {
			return nil
		}
		if ids = append(ids, id); len(ids) < objectsAtOnce {
			return nil
		}
		return check()
	})
	if err != nil {
		return err
	}
	return check()
}
