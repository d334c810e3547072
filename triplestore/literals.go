package triplestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
	"odarchive/vocab/csvw"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/skos"
)

// DefaultTextPredicates returns the predicates whose objects are searched by word unless Options name others.
func DefaultTextPredicates() []string {
	return []string{dcterms.Title, dcterms.Description, dcat.Keyword, csvw.Name, rdfs.Label, skos.PrefLabel}
}

// literals keeps the index of the words of literals. Commits do not wait for it: it reads the change log when it is
// asked, and whenever the store merges. SearchText waits until it covers the snapshot that asks, so every query sees
// what was committed before it.
type literals struct {
	s          *Store
	predicates []term.Key
	index      *text.Index

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

func newLiterals(s *Store) *literals {
	l := &literals{s: s, demand: make(chan struct{}, 1), tried: make(chan struct{}), index: text.NewIndex(s.db, !s.db.ReadOnly())}
	l.predicates = l.chosen()
	return l
}

// chosen returns the predicates of the options, else those of the stored index, else the default ones.
func (l *literals) chosen() []term.Key {
	iris := l.s.opts.TextPredicates
	if len(iris) == 0 {
		if mark, ok, err := text.Mark(l.s.db); err == nil && ok {
			if _, predicates, ok := parseMark(mark); ok {
				return predicates
			}
		}
		iris = DefaultTextPredicates()
	}
	var out []term.Key
	for _, p := range iris {
		out = append(out, term.IRI(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// run catches up whenever somebody wants it, until ctx ends.
func (l *literals) run(ctx context.Context) {
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
			l.s.opts.Log.Error("cannot index the words of literals", "error", err)
		}
	}
}

func (l *literals) ended(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	close(l.tried)
	l.tried = make(chan struct{})
}

func (l *literals) wake() {
	select {
	case l.demand <- struct{}{}:
	default:
	}
}

// wait returns when the index covers a position, or all that is committed if that is less. With stored set, it also
// waits until that is stored.
func (l *literals) wait(ctx context.Context, position uint64, stored bool) error {
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
			return fmt.Errorf("triplestore: index of words: %w", failed)
		}
		l.wake()
		select {
		case <-tried:
		case <-ctx.Done():
			return fmt.Errorf("triplestore: waiting for the index of words: %w", context.Cause(ctx))
		}
	}
}

// catchUp indexes what was committed since the last time.
func (l *literals) catchUp(ctx context.Context, sn *Snapshot) error {
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
func (l *literals) store(ctx context.Context, sn *Snapshot) error {
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
func (l *literals) mark(position uint64) []byte {
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
func (l *literals) load() error {
	mark, ok, err := l.index.Load()
	if errors.Is(err, text.ErrNewer) {
		return err
	}
	if err != nil {
		l.s.opts.Log.Warn("the index of words cannot be read and is built again", "error", err)
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
func (l *literals) ids(sn *Snapshot) ([]term.ID, error) {
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
func (l *literals) addCommits(ctx context.Context, sn *Snapshot, after uint64) error {
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
			if ch.Sign > 0 && slices.Contains(predicates, ch.Quad.P) {
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

// rebuild indexes all objects of the predicates.
func (l *literals) rebuild(ctx context.Context, sn *Snapshot) error {
	l.index.Reset()
	predicates, err := l.ids(sn)
	if err != nil {
		return err
	}
	b := l.batch(sn)
	for _, p := range predicates {
		if err := sn.objects(ctx, p, func(id term.ID) error { return b.add(ctx, id) }); err != nil {
			return err
		}
	}
	if err := b.end(ctx); err != nil {
		return err
	}
	if b.total > 0 {
		l.s.opts.Log.Info("indexed the words of all literals", "literals", b.total, "took", time.Since(b.began).Round(time.Millisecond))
	}
	return nil
}

// objects calls f with each object of a predicate in any graph, in id order.
func (sn *Snapshot) objects(ctx context.Context, p term.ID, f func(term.ID) error) error {
	c := sn.Scan(term.Pattern{P: p}, term.POS)
	defer c.Close()
	last := term.ID(0)
	for {
		rows, err := c.Next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, q := range rows {
			if q.O == last {
				continue
			}
			last = q.O
			if err := f(q.O); err != nil {
				return err
			}
		}
	}
}

// literalBatch gathers objects to be indexed.
type literalBatch struct {
	l     *literals
	sn    *Snapshot
	ids   []term.ID
	total int
	began time.Time
	told  time.Time
}

func (l *literals) batch(sn *Snapshot) *literalBatch {
	now := time.Now()
	return &literalBatch{l: l, sn: sn, began: now, told: now}
}

const (
	literalsAtOnce = 4096
	tellEvery      = 10 * time.Second
)

func (b *literalBatch) add(ctx context.Context, id term.ID) error {
	if id.Tag() != term.TagLiteral && id.Tag() != term.TagString {
		return nil
	}
	if b.ids = append(b.ids, id); len(b.ids) < literalsAtOnce {
		return nil
	}
	return b.write(ctx)
}

// write indexes the gathered objects. While there is no index yet, it is stored in pieces without a position.
func (b *literalBatch) write(ctx context.Context) error {
	slices.Sort(b.ids)
	b.ids = slices.DeleteFunc(slices.Compact(b.ids), b.l.index.Has)
	keys := make([]term.Key, len(b.ids))
	if err := b.sn.Keys(b.ids, keys); err != nil {
		return err
	}
	var list []text.Doc
	for i, k := range keys {
		if t, tag, ok := text.Parts(k); ok {
			list = append(list, text.Doc{ID: b.ids[i], Text: t, Tag: tag})
		}
	}
	b.ids = b.ids[:0]
	b.total += len(list)
	full := b.l.index.Add(list)
	if time.Since(b.told) > tellEvery {
		b.told = time.Now()
		b.l.s.opts.Log.Info("indexing the words of literals", "literals", b.total)
	}
	if !full {
		return nil
	}
	return b.l.index.Flush(ctx, b.l.mark(0))
}

func (b *literalBatch) end(ctx context.Context) error {
	if len(b.ids) == 0 {
		return nil
	}
	return b.write(ctx)
}

// find searches an index that covers a position, and again if it was emptied meanwhile.
func (l *literals) find(ctx context.Context, position uint64, q *text.Query) ([]text.Hit, error) {
	for {
		l.mu.Lock()
		before := l.rebuilds
		l.mu.Unlock()
		if err := l.wait(ctx, position, false); err != nil {
			return nil, err
		}
		hits, err := l.index.Find(ctx, q)
		l.mu.Lock()
		same := l.rebuilds == before
		l.mu.Unlock()
		if same {
			return hits, err
		}
	}
}

// SearchText returns the literals that a query finds, with everything that was committed up to the snapshot.
func (sn *Snapshot) SearchText(ctx context.Context, q *text.Query) ([]text.Hit, error) {
	l := sn.store.literals
	hits, err := l.find(ctx, sn.Position(), q)
	if err != nil || q.Lang() == "" {
		return hits, err
	}
	// Keys of literals that are newer than the snapshot are unknown to it. They are no objects of its quads either.
	next := sn.state.terms
	hits = slices.DeleteFunc(hits, func(h text.Hit) bool { return !h.ID.Inline() && h.ID.Payload() >= next })
	slices.SortFunc(hits, func(a, b text.Hit) int { return cmp.Compare(a.ID, b.ID) })
	ids, keys := make([]term.ID, len(hits)), make([]term.Key, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	if err := sn.Keys(ids, keys); err != nil {
		return nil, err
	}
	out := hits[:0]
	for i, h := range hits {
		if _, tag, ok := text.Parts(keys[i]); ok && q.InLanguage(tag) {
			out = append(out, h)
		}
	}
	return out, nil
}

// CountText estimates how many literals a query finds, as far as they are indexed.
func (sn *Snapshot) CountText(q *text.Query) float64 {
	n, err := sn.store.literals.index.Count(context.Background(), q)
	if err != nil {
		return 0
	}
	return n
}

// TextPredicates returns the predicates whose objects SearchText finds.
func (sn *Snapshot) TextPredicates() []term.Key { return sn.store.literals.predicates }

// forget makes the index be built again, without literals that no quad has any more.
func (l *literals) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.covers, l.stored, l.whole = 0, 0, false
}

// verify checks the stored index, if there is one: its checksums, and that it has the objects of the predicates.
func (l *literals) verify(ctx context.Context, sn *Snapshot) error {
	if _, ok, err := text.Mark(l.s.db); err != nil || !ok {
		return err
	}
	if err := l.wait(ctx, sn.Position(), false); err != nil {
		return err
	}
	if err := l.index.Verify(ctx); err != nil {
		return err
	}
	predicates, err := l.ids(sn)
	if err != nil {
		return err
	}
	for _, p := range predicates {
		if err := sn.objects(ctx, p, func(id term.ID) error {
			if id.Tag() != term.TagLiteral && id.Tag() != term.TagString || l.index.Has(id) {
				return nil
			}
			k := [1]term.Key{}
			if err := sn.Keys([]term.ID{id}, k[:]); err != nil {
				return err
			}
			if _, _, ok := text.Parts(k[0]); ok {
				return fmt.Errorf("%w: the index of words lacks literal %#x", ErrDamaged, uint64(id))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// IndexLiterals brings the index of words up to date and stores it. Searches do so too when they need it; after a large
// change it is better done at once.
func (s *Store) IndexLiterals(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return s.literals.wait(ctx, s.current.Load().position, true)
}
