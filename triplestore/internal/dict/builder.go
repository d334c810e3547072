package dict

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Builder writes terms into blocks after those of a view. Nothing it writes is visible before its caller commits the
// root of the new view: it writes new keys, or numbers that are not in use. There must be only one Builder of a
// dictionary at a time.
type Builder struct {
	db      *kv.DB
	v       *View // the view built so far
	batch   *kv.Batch
	tail    []term.Key // terms of the last block, which is incomplete
	pending []entry    // terms that are in no run yet
	nextID  func() uint64

	lookups int  // calls of LookupAll
	known   *hot // terms that earlier calls found

	obsolete, fresh [][]byte
}

// Builder returns a Builder that starts at the view's first number that is not in blocks. nextID returns ids for runs.
func (v *View) Builder(db *kv.DB, r Reader, nextID func() uint64) (*Builder, error) {
	w := *v
	b := &Builder{db: db, v: &w, batch: db.Batch(), nextID: nextID, known: newHot(loadHot)}
	b.v.runs = slices.Clone(v.runs)
	first := v.flushed / BlockTerms * BlockTerms
	for n := first; n < v.flushed; n++ {
		if n == 0 {
			b.tail = append(b.tail, "") // number 0 has no term
			continue
		}
		k, err := v.stored(r, n)
		if err != nil {
			return nil, err
		}
		b.tail = append(b.tail, k)
	}
	if v.flushed == 1 {
		b.tail = []term.Key{""}
	}
	return b, nil
}

// View returns the dictionary with everything appended so far. Terms become findable in it with EndRun. Its Recent is
// that of the original view.
func (b *Builder) View() *View {
	v := *b.v
	return &v
}

// Append assigns the next numbers to keys, which must be new terms.
func (b *Builder) Append(ctx context.Context, keys []term.Key) (first uint64, err error) {
	first = b.v.flushed
	for i, k := range keys {
		if i%8192 == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		n := b.v.flushed
		b.v.flushed++
		b.pending = append(b.pending, entry{hashOf(k), n})
		if len(k) > longTerm {
			if err := b.set(longKey(n), segments.AppendSeal([]byte(k), n)); err != nil {
				return 0, err
			}
		}
		b.tail = append(b.tail, k)
		if len(b.tail) == BlockTerms {
			if err := b.writeTail(); err != nil {
				return 0, err
			}
			b.tail = b.tail[:0]
		}
	}
	return first, nil
}

func (b *Builder) set(key, val []byte) error {
	b.fresh = append(b.fresh, key)
	return b.batch.Set(kv.SpaceDict, key, val)
}

func (b *Builder) writeTail() error {
	n := (b.v.flushed - 1) / BlockTerms
	// Not in fresh: an earlier version of the block may be in use.
	return b.batch.Set(kv.SpaceDict, termsKey(n), encodeBlock(n, b.tail))
}

// EndRun makes the appended terms findable, also for readers of snapshots taken from now on.
func (b *Builder) EndRun(ctx context.Context) error {
	if len(b.tail) > 0 {
		if err := b.writeTail(); err != nil {
			return err
		}
	}
	if len(b.pending) == 0 {
		return b.batch.Flush()
	}
	sortByHash(b.pending)
	if b.v.maybe != nil { // before anybody can look for them; readers of other views may find them by it, and then no entry
		for _, e := range b.pending {
			b.v.maybe.add(e.hash)
		}
	}
	if err := b.mergeRuns(ctx, b.mergeFrom(uint64(len(b.pending)))); err != nil {
		return err
	}
	b.pending = b.pending[:0]
	return b.batch.Flush()
}

// mergeFrom returns the first run to be merged with a new one of the given number of entries, so that few runs remain.
// A load of several chunks merges only when runsAtOnce of about one size have come together, because each merge writes
// all entries again; gatherRuns merges the rest.
func (b *Builder) mergeFrom(size uint64) int {
	from := len(b.v.runs)
	for {
		next, sum := from, size
		for next > 0 && b.v.runs[next-1].entries < 3*size {
			next--
			sum += b.v.runs[next].entries
		}
		if next == from || b.lookups > 1 && from-next < runsAtOnce-1 {
			return from
		}
		from, size = next, sum
	}
}

// runsAtOnce is the number of runs of about one size that a load merges.
const runsAtOnce = 8

// mergeRuns replaces the runs from keep on by one that also has the pending entries, which are sorted.
func (b *Builder) mergeRuns(ctx context.Context, keep int) error {
	sources := []*cursor{cursorOf(b.pending)}
	if keep < len(b.v.runs) {
		if err := b.batch.Flush(); err != nil { // the runs may include one written by this builder
			return err
		}
		snap := b.db.Snapshot()
		defer snap.Close()
		for _, r := range b.v.runs[keep:] {
			sources = append(sources, &cursor{rd: snap, run: r})
			b.obsolete = append(b.obsolete, r.keys()...)
		}
	}
	all, err := mergeCursors(ctx, sources...)
	if err != nil {
		return err
	}
	run, keys, err := writeRun(b.batch, b.nextID(), all.next)
	b.fresh = append(b.fresh, keys...)
	if err != nil {
		return err
	}
	b.v.runs = append(b.v.runs[:keep:keep], run)
	return nil
}

// gatherRuns merges the runs that a load of several chunks leaves, about one for each order of magnitude. Every look-up
// of a term reads a block of each run, and what a large load has written is looked up often.
func (b *Builder) gatherRuns(ctx context.Context) error {
	keep := len(b.v.runs) - 1
	if b.lookups < 2 || keep < 1 {
		return nil
	}
	for size := b.v.runs[keep].entries; keep > 0 && b.v.runs[keep-1].entries < gatherShare*size; keep-- {
		size += b.v.runs[keep-1].entries
	}
	if keep == len(b.v.runs)-1 {
		return nil
	}
	if err := b.mergeRuns(ctx, keep); err != nil {
		return err
	}
	return b.batch.Flush()
}

// gatherShare is how many times larger than all after it a run is at least to be left alone by gatherRuns.
const gatherShare = 8

// Built is the result of a Builder.
type Built struct {
	View     *View
	Root     []byte   // see OpenView
	Obsolete [][]byte // keys in kv.SpaceDict that View no longer uses
	Fresh    [][]byte // keys written, except those of blocks of terms
}

// Finish ends the last run and returns the result.
func (b *Builder) Finish(ctx context.Context) (*Built, error) {
	if err := b.EndRun(ctx); err != nil {
		return nil, err
	}
	if err := b.gatherRuns(ctx); err != nil {
		return nil, err
	}
	if b.v.entries() >= filterFrom && b.v.stale() {
		snap := b.db.Snapshot()
		defer snap.Close()
		if err := b.v.refilter(ctx, snap); err != nil && !errors.Is(err, segments.ErrDamaged) {
			// look-ups that need what is damaged will say so
			return nil, err
		}
	}
	// A run that this builder wrote and then merged into another is obsolete, not fresh.
	obsolete := make(map[string]bool, len(b.obsolete))
	for _, k := range b.obsolete {
		obsolete[string(k)] = true
	}
	fresh := slices.DeleteFunc(b.fresh, func(k []byte) bool { return obsolete[string(k)] })
	return &Built{View: b.View(), Root: b.v.encodeRoot(), Obsolete: b.obsolete, Fresh: fresh}, nil
}

// Abandon deletes everything written.
func (b *Builder) Abandon() error { return b.db.DeleteKeys(kv.SpaceDict, b.fresh) }

const rootVersion = 1

// encodeRoot encodes the first number that is not in blocks, the holes and the runs.
func (v *View) encodeRoot() []byte {
	b := binary.AppendUvarint([]byte{rootVersion}, v.flushed)
	b = binary.AppendUvarint(b, v.holes)
	swept := byte(0)
	if v.swept {
		swept = 1
	}
	b = append(b, swept)
	b = binary.AppendUvarint(b, uint64(len(v.runs)))
	for _, r := range v.runs {
		b = binary.AppendUvarint(b, r.id)
		b = binary.AppendUvarint(b, r.entries)
	}
	return segments.AppendSeal(b, 0)
}

// OpenView opens the dictionary with the given root, which Finish returned, and reads the fences of all runs.
func OpenView(rd Reader, c *Cache, root []byte) (*View, error) {
	bad := fmt.Errorf("%w: malformed root", segments.ErrDamaged)
	root, err := segments.OpenSeal(root, 0)
	if err != nil {
		return nil, errors.Join(bad, err)
	}
	if root[0] != rootVersion {
		return nil, errors.Join(bad, fmt.Errorf("version %d", root[0]))
	}
	r := fields.Reader{B: root[1:]}
	v := &View{Cache: c, flushed: r.Uvarint(), hot: newHot(hotTerms)}
	v.holes, v.swept = r.Uvarint(), r.Uvarint() == 1
	n := r.Uvarint()
	if v.flushed == 0 || n > uint64(len(root)) {
		return nil, bad
	}
	total := uint64(0)
	for range n {
		id, entries := r.Uvarint(), r.Uvarint()
		if entries == 0 || entries > v.flushed {
			return nil, bad
		}
		run, err := openRun(rd, id, entries)
		if err != nil {
			return nil, err
		}
		v.runs = append(v.runs, run)
		total += entries
	}
	if len(r.B) != 0 || total+v.holes != v.flushed-1 {
		return nil, bad
	}
	v.Recent = NewRecent(v.flushed)
	return v, nil
}
