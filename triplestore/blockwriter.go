package triplestore

import (
	"context"
	"errors"
	"slices"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// blockWriter writes terms and quads into blocks on top of a snapshot's state. Its user holds merging.
type blockWriter struct {
	s       *Store
	sn      *Snapshot
	builder *dict.Builder
	built   *dict.Built
	merged  *index.Merged
	list    uint64 // number of the list of obsolete keys
}

func (w *blockWriter) begin() (err error) {
	if w.builder == nil {
		w.builder, err = w.sn.state.dict.Builder(w.s.db, w.sn.kv, func() uint64 { return w.s.nextID.Add(1) })
	}
	return err
}

// addTerms writes the recent terms with numbers below next, then more.
func (w *blockWriter) addTerms(ctx context.Context, next uint64, more []term.Key) error {
	if err := w.begin(); err != nil {
		return err
	}
	d := w.sn.state.dict
	if _, err := w.builder.Append(ctx, d.Recent.Range(d.Flushed(), next)); err != nil {
		return err
	}
	if _, err := w.builder.Append(ctx, more); err != nil {
		return err
	}
	var err error
	w.built, err = w.builder.Finish(ctx)
	return err
}

// merge sets merged to what a method of the Merger returns.
func (w *blockWriter) merge(f func(*index.Merger, *index.Base) (*index.Merged, error)) (err error) {
	m := &index.Merger{DB: w.s.db, Reader: w.sn.kv, Cache: w.s.cache, NextID: &w.s.nextID}
	w.merged, err = f(m, w.sn.state.base)
	return err
}

// apply merges the changes of a run, which must include those of the snapshot's overlay, into blocks.
func (w *blockWriter) apply(ctx context.Context, run *index.Run) error {
	return w.merge(func(m *index.Merger, b *index.Base) (*index.Merged, error) { return m.Apply(ctx, b, run) })
}

// invert removes those of the rows that exist, and adds the others.
func (w *blockWriter) invert(ctx context.Context, rows func(index.Layout) (index.Rows, error)) error {
	return w.merge(func(m *index.Merger, b *index.Base) (*index.Merged, error) { return m.Invert(ctx, b, rows) })
}

// prepare writes the list of keys that the new root makes obsolete, and drops these blocks from the cache.
func (w *blockWriter) prepare() error {
	keys := map[kv.Space][][]byte{}
	if w.merged != nil {
		w.s.cache.Forget(w.merged.Obsolete)
		keys[kv.SpaceTripleIndex] = w.merged.Obsolete
	}
	if w.built != nil {
		keys[kv.SpaceDict] = w.built.Obsolete
	}
	w.list = w.s.nextID.Add(1)
	return writeObsolete(w.s.db, w.list, keys)
}

// root returns a root for the new blocks that replaces old.
func (w *blockWriter) root(old *root, merged uint64, logBytes int64) *root {
	r := *old
	r.nextID = w.s.nextID.Load()
	w.s.unswept = append(w.s.unswept, w.list)
	r.lists = slices.Clone(w.s.unswept)
	r.merged, r.logBytes = merged, logBytes
	if w.merged != nil {
		r.index = w.merged.Root
	}
	if w.built != nil {
		r.dict = w.built.Root
	}
	return &r
}

// abandon deletes everything written. If that fails, the next Open does it.
func (w *blockWriter) abandon() error {
	w.s.unswept = slices.DeleteFunc(w.s.unswept, func(l uint64) bool { return l == w.list })
	var errs []error
	if w.merged != nil {
		errs = append(errs, unlessUnacknowledged(w.s.db.DeleteKeys(kv.SpaceTripleIndex, w.merged.Fresh)))
	}
	if w.builder != nil {
		errs = append(errs, unlessUnacknowledged(w.builder.Abandon()))
	} else if w.built != nil {
		errs = append(errs, unlessUnacknowledged(w.s.db.DeleteKeys(kv.SpaceDict, w.built.Fresh)))
	}
	return errors.Join(errs...)
}

// installAll installs a state made of the written blocks, with an empty overlay, and writes the head of its log record.
// If the commit fails, the caller deletes the blocks.
func (w *blockWriter) installAll(kt *kv.Txn, unixMilli int64, parts *partWriter) (*state, error) {
	tip := w.sn.state
	next := *tip
	next.position = parts.position
	next.base, next.overlay = w.merged.Base, index.Overlay{}
	next.graphs = new(graphList)
	next.dict = w.built.View.WithRecent(dict.NewRecent(w.built.View.Flushed()))
	next.terms = w.built.View.Flushed()
	next.logBytes += parts.size
	next.root = w.root(tip.root, next.position, next.logBytes)
	if parts.dropped {
		next.root.trimmed = next.position
		next.root.removed += parts.removed
	} else if err := kt.Set(kv.SpaceTripleLog, recordKey(next.position, 0), head{unixMilli, parts.parts}.encode()); err != nil {
		return nil, err
	}
	kt.OnCommit(func() { w.s.lost.Add(int64(parts.removed)) })
	return &next, w.s.install(kt, &next)
}
