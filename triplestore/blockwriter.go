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

// addRows merges rows into the snapshot's blocks. The rows must include those of its overlay.
func (w *blockWriter) addRows(ctx context.Context, mode index.Mode, rows func(index.Layout) (index.Rows, error), added func([]term.IDQuad) error) error {
	m := &index.Merger{DB: w.s.db, Reader: w.sn.kv, Cache: w.s.cache, NextID: &w.s.nextID, Added: added}
	var err error
	w.merged, err = m.Merge(ctx, w.sn.state.base, mode, rows)
	return err
}

// prepare writes the list of keys that the new root makes obsolete.
func (w *blockWriter) prepare() error {
	keys := map[kv.Space][][]byte{}
	if w.merged != nil {
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
		errs = append(errs, w.s.db.DeleteKeys(kv.SpaceTripleIndex, w.merged.Fresh))
	}
	if w.builder != nil {
		errs = append(errs, w.builder.Abandon())
	} else if w.built != nil {
		errs = append(errs, w.s.db.DeleteKeys(kv.SpaceDict, w.built.Fresh))
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
